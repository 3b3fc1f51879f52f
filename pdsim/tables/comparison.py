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
from pdsim.tables.published import published_of
from pdsim.tables.verdicts import CALIBRATED, COVERAGE, INTERVAL, THIRDS, of_coverage

# Columns that come first, where there are such: predictions from a prefix, errors with the coverage
# of their bands beside them. All others follow in the registry's order.
_FIRST = (
    "prefix_rmse_median",
    COVERAGE,
    *INTERVAL,
    *THIRDS,
    "prefix_coverage_50",
    "prefix_crps",
    "prefix_energy_score",
    "energy_score",
    "rmse_median",
    "coverage_90",
)
# Shown in one column each.
_JOINED = (
    Column(
        f"{COVERAGE}_interval",
        "the same were the recordings others like these: 2.5 % / 97.5 % [-]",
        INTERVAL,
    ),
    Column(
        f"{COVERAGE}_thirds",
        "the same by thirds of the horizon: first / second / third [-]",
        THIRDS,
    ),
)


def build(metrics: pd.DataFrame, published: bool | str, unit: str) -> Table:
    """Arrange an experiment's metrics.

    Args:
        metrics: long table, see ``pdsim.metrics.long_format``.
        published: add the paper's numbers as rows, below the first run of their kind.
        unit: of errors in position channels.

    Returns:
        The metrics that occur, those of predictions from a prefix first, and the runs; "best"
        compares our runs only, and says nothing of metrics of which none is better. Runs whose
        chains have not mixed say so, and so do coverages of predictions that are off. Where nothing
        was held out, metrics that need a test set are left out.
    """
    paper = published_of(published).runs
    scored, held_out = set(metrics["metric"]), holds_out(metrics)
    joined = {key: column for column in _JOINED for key in column.parts}
    shown = [
        metric
        for metric in all_metrics()
        if (metric.heading or metric.key in joined)
        and metric.key in scored
        and (held_out or not metric.held_out)
    ]
    shown.sort(key=lambda metric: _FIRST.index(metric.key) if metric.key in _FIRST else len(_FIRST))
    keys = [metric.key for metric in shown]
    runs = medians(metrics, keys)
    for metric in shown:
        if metric.best:
            mark_best([(cells, metric.key) for cells in runs.values()], metric.best == "low")
    rows = []
    for identity, cells in runs.items():
        word = of_coverage(cells[COVERAGE].value) if COVERAGE in cells else ""
        if word and word != CALIBRATED:
            cells[COVERAGE] = cells[COVERAGE]._replace(remark=word)
        rows.append(Row(identity.label, cells, mixing(cells)))
        kind = identity.method, identity.shooting
        if published and kind in paper and runs_of(runs, kind)[0] == identity:
            printed = paper[kind]
            cells = {key: Cell(value, published=True) for key, value in printed.items()}
            rows.append(Row(f"{identity.label}, published", cells))
    columns = []
    for key, heading in headings(keys, unit).items():
        column = joined.get(key, Column(key, heading))
        if column not in columns:
            columns.append(column)
    return Table(columns, rows, "run", set_notes(metrics))
