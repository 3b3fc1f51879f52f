"""Stage ``control-report``: table, figures and film of a control experiment on one HTML page."""

from collections.abc import Sequence
from pathlib import Path

from pdsim.control.config import ControlConfig
from pdsim.report.page import Picture, render
from pdsim.runtime.files import write_text
from pdsim.stages.control_plot import CAPTIONS
from pdsim.tables import control as tables
from pdsim.tables.control_logs import read_logs


def control_report(
    config: ControlConfig, *, logs: Sequence[str], figures: Sequence[str], output: str
) -> None:
    """Write the report.

    Args:
        logs: of all controllers, in any order.
        figures: PNG and GIF files, named as the figures of ``control-plot``.
    """
    found = read_logs(config, logs)
    table = tables.build(config, tables.metrics(config, found), found)
    some = next(iter(found.values()))
    pictures = [Picture(Path(path).stem, CAPTIONS[Path(path).stem], path) for path in figures]
    context = {
        "title": config.title,
        "description": config.description,
        "notes": config.notes,
        "table": table,
        "simulations": some.sizes["simulation"],
        "laps": int(some["lap"].values.max()) + 1,
        "seed": config.seed,
        "precision": config.precision,
        "device": some.attrs["device"],
        "versions": some.attrs["versions"],
    }
    write_text(output, render(context, pictures, "control.html.jinja"))
