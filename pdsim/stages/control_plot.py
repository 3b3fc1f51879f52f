"""Stage ``control-plot``: the figures and the film of an experiment of kind ``control``."""

from collections.abc import Sequence
from typing import Literal

import pandas as pd

from pdsim.control.config import ControlConfig
from pdsim.figures import control_film, control_laps, control_path
from pdsim.runtime import device
from pdsim.runtime.errors import PdsimError
from pdsim.tables.control_logs import read_log

CAPTIONS = {
    "path": control_path.CAPTION,
    "laps": control_laps.CAPTION,
    "film": control_film.CAPTION,
}


def control_plot(
    config: ControlConfig, figure: Literal["path", "laps", "film"], *, file: str, stem: str
) -> None:
    """Draw a figure as PDF and PNG, or the film as GIF.

    Args:
        file: the laps of all controllers (``laps.csv``) for ``laps``, otherwise one log.
        stem: output path without suffix.
    """
    if figure == "laps":
        names: Sequence[str] = [one.name for one in config.controllers]
        unit = config.task.build().scored_unit
        control_laps.draw(config.title, _laps(file), names, unit, stem)
        return
    device.configure(config.precision)
    task, log = config.task.build(), read_log(file)
    title = f"{config.title}: {log.attrs['title']}"
    if figure == "path":
        control_path.draw(title, task, log, stem)
    else:
        control_film.draw(title, task, log, f"{stem}.gif")


def _laps(path: str) -> pd.DataFrame:
    try:
        table = pd.read_csv(path)
    except (OSError, ValueError) as error:
        raise PdsimError(f"{path}: not a table of laps: {error}") from error
    if "controller" not in table:
        raise PdsimError(f"{path}: not a table of laps; give laps.csv of pdsim control-table")
    return table
