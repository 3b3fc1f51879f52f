"""Stage ``control-table``: the logs of all controllers to their metrics and the table."""

from collections.abc import Sequence
from pathlib import Path

from pdsim.control.config import ControlConfig
from pdsim.runtime.files import write_text
from pdsim.tables import control as tables
from pdsim.tables.control_logs import read_logs


def control_table(config: ControlConfig, *, logs: Sequence[str], folder: str) -> None:
    """Write ``laps.csv``, ``by_lap.csv`` and ``comparison.csv``, ``.md`` and ``.tex``.

    Args:
        logs: of all controllers, in any order.
    """
    found = read_logs(config, logs)
    table = tables.metrics(config, found)
    write_text(Path(folder) / "laps.csv", table.to_csv(index=False))
    write_text(Path(folder) / "by_lap.csv", tables.by_lap(table).to_csv(index=False))
    tables.build(config, table, found).write(Path(folder) / "comparison")
