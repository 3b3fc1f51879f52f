"""What the report says of posteriors and errors in numbers: lines of its tables."""

from typing import NamedTuple

import netCDF4
import numpy as np
import pandas as pd

from pdsim.parameters import ParameterSpace
from pdsim.runtime.files import read_dataset
from pdsim.tables.layout import medians, number

_QUANTILES = (0.05, 0.5, 0.95)


class ParameterLine(NamedTuple):
    """One parameter of one posterior in numbers."""

    name: str
    unit: str
    limits: str
    low: str
    median: str
    high: str
    at_limit: float
    truth: str


def parameter_lines(
    space: ParameterSpace, draws: np.ndarray, truth: np.ndarray | None
) -> list[ParameterLine]:
    """Summarise a posterior: 5 %, 50 % and 95 % quantiles, and the share of draws at a limit.

    At a limit is within 1 % of the box's width on the parameter's own scale.

    Args:
        draws: (draw, M) physical values.
        truth: (M,) or None.
    """
    unit = np.asarray(space.to_coordinates(draws))
    lines = []
    for i, parameter in enumerate(space.parameters):
        low, median, high = np.quantile(draws[:, i], _QUANTILES)
        at_limit = float(np.mean((unit[:, i] < 0.01) | (unit[:, i] > 0.99)))
        lines.append(
            ParameterLine(
                parameter.name,
                parameter.unit,
                f"{parameter.lower:g} … {parameter.upper:g}",
                f"{low:.4g}",
                f"{median:.4g}",
                f"{high:.4g}",
                at_limit,
                "" if truth is None else f"{truth[i]:.4g}",
            )
        )
    return lines


class CombinationLine(NamedTuple):
    """One combination of parameters of one posterior in numbers."""

    name: str
    unit: str
    low: str
    median: str
    high: str


def combination_lines(path: str) -> list[CombinationLine]:
    """Quantiles of what the motion can determine; empty where the system does not know it.

    Args:
        path: of a posterior file.
    """
    with netCDF4.Dataset(path) as file:
        if "combinations" not in file.groups:
            return []
    lines = []
    for name, values in read_dataset(path, "combinations").data_vars.items():
        known = values.values[np.isfinite(values.values)]
        if known.size:
            shown = (f"{value:.4g}" for value in np.quantile(known, _QUANTILES))
            lines.append(CombinationLine(str(name), str(values.attrs["units"]), *shown))
    return lines


class StartLine(NamedTuple):
    """Errors of a run from estimated and from fitted start states.

    Attributes:
        train: of all draws from the estimated start state, and of the most likely one from a
            fitted start state, both on the training recordings.
        test: the same on the recordings that were held out.
    """

    label: str
    train: tuple[str, str]
    test: tuple[str, str]


def start_lines(metrics: pd.DataFrame) -> list[StartLine]:
    """Errors with estimated and with fitted start states, run by run.

    Args:
        metrics: long table, see ``pdsim.metrics.long_format``.
    """
    keys = ("rmse_train", "rmse_train_fitted_start", "rmse", "rmse_fitted_start")
    lines = []
    for identity, cells in medians(metrics, keys).items():
        values = [cells[key].value if key in cells else np.nan for key in keys]
        shown = [number(round(v, 6)) if np.isfinite(v) else "n/a" for v in values]
        lines.append(StartLine(identity.label, (shown[0], shown[1]), (shown[2], shown[3])))
    return lines
