"""The comparison table: one row per run, one column per metric."""

import pandas as pd

from pdsim.metrics.catalogue import metrics as all_metrics
from pdsim.tables.layout import (
    Cell,
    Column,
    Row,
    Table,
    headings,
    holds_out,
    mark_best,
    medians,
    mixing,
    runs_of,
    set_notes,
)
from pdsim.tables.published import DOUBLE_PENDULUM


def build(metrics: pd.DataFrame, published: bool, unit: str) -> Table:
    """Arrange an experiment's metrics.

    Args:
        metrics: long table, see ``pdsim.metrics.long_format``.
        published: add the paper's numbers as rows, below the first run of their kind.
        unit: of errors in position channels.

    Returns:
        The metrics that occur, in the registry's order, and the runs; "best" compares our runs
        only, and says nothing of metrics of which none is better. Runs whose chains have not mixed
        say so. Where nothing was held out, metrics that need a test set are left out.
    """
    scored, held_out = set(metrics["metric"]), holds_out(metrics)
    shown = [
        metric
        for metric in all_metrics()
        if metric.heading and metric.key in scored and (held_out or not metric.held_out)
    ]
    keys = [metric.key for metric in shown]
    runs = medians(metrics, keys)
    for metric in shown:
        if metric.best:
            mark_best([(cells, metric.key) for cells in runs.values()], metric.best == "low")
    rows = []
    for identity, cells in runs.items():
        rows.append(Row(identity.label, cells, mixing(cells)))
        kind = identity.method, identity.shooting
        if published and kind in DOUBLE_PENDULUM and runs_of(runs, kind)[0] == identity:
            printed = DOUBLE_PENDULUM[kind]
            cells = {key: Cell(value, published=True) for key, value in printed.items()}
            rows.append(Row(f"{identity.label}, published", cells))
    columns = [Column(key, heading) for key, heading in headings(keys, unit).items()]
    return Table(columns, rows, "run", set_notes(metrics))
