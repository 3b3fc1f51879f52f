"""Reading the logs of an experiment's controllers."""

from collections.abc import Sequence

import xarray as xr

from pdsim.control.config import ControlConfig
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import read_dataset


def read_log(path: str) -> xr.Dataset:
    """One controller's log.

    Raises:
        PdsimError: it is none.
    """
    log = read_dataset(path)
    if "title" not in log.attrs or "fallback" not in log:
        raise PdsimError(f"{path}: no log of a controller; give one that pdsim control wrote")
    return log


def read_logs(config: ControlConfig, paths: Sequence[str]) -> dict[str, xr.Dataset]:
    """The log of each controller by name, in the config's order.

    Raises:
        PdsimError: a controller has no log, or a log is another experiment's.
    """
    found = {}
    for path in paths:
        log = read_log(path)
        found[str(log.attrs["title"])] = log
    missing = [one.name for one in config.controllers if one.name not in found]
    if missing:
        raise PdsimError(f"no log of controller {missing[0]!r} is given (given: {sorted(found)})")
    return {one.name: found[one.name] for one in config.controllers}
