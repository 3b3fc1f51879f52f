"""Stage ``table``: metrics to tables."""

from pathlib import Path

from pdsim.experiment.slices import Table
from pdsim.metrics.long_format import LEARNING_CURVE_COLUMNS, at_rollouts, read_metrics
from pdsim.tables import comparison, paper

TABLES = {"comparison": comparison.build, "table_1": paper.table_1, "table_2": paper.table_2}

_CUT = "R-hat is known at the end of a run only, so chains that had not mixed are not marked here."


def write_tables(options: Table, metrics: str, folder: str, rollouts: int | None = None) -> None:
    """Write every table as CSV, Markdown and LaTeX.

    Args:
        metrics: the experiment's metrics, or the learning curves if ``rollouts`` is given.
        rollouts: cut the learning curves at so many roll-outs.
    """
    if rollouts is None:
        table = read_metrics(metrics)
    else:
        table = at_rollouts(read_metrics(metrics, LEARNING_CURVE_COLUMNS), rollouts)
    cut = () if rollouts is None else (f"After {rollouts} roll-outs. {_CUT}",)
    for name, build in TABLES.items():
        made = build(table, options.paper_table, options.unit)
        made._replace(notes=(*made.notes, *cut)).write(Path(folder) / name)


def write_table_3(options: Table, metrics: str, stem: str) -> None:
    """Write the table of BayesSim's variants as CSV, Markdown and LaTeX."""
    table = paper.table_3(read_metrics(metrics), options.paper_table, options.unit)
    table.write(stem)
