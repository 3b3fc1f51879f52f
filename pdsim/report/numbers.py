"""What the report says of posteriors and errors in numbers: lines of its tables."""

from typing import NamedTuple

import netCDF4
import numpy as np
import pandas as pd

from pdsim.parameters.space import ParameterSpace
from pdsim.posterior import read_draws
from pdsim.runtime.files import read_dataset
from pdsim.systems.config import SimulatorConfig
from pdsim.tables.layout import medians, number
from pdsim.tables.verdicts import DETERMINED

_QUANTILES = (0.05, 0.5, 0.95)


class ParameterLine(NamedTuple):
    """One parameter of one posterior in numbers.

    Attributes:
        at_lower, at_upper: share of the draws at each limit.
        width: of the 90 % interval over the prior's; NaN where that is not known.
    """

    name: str
    unit: str
    limits: str
    low: str
    median: str
    high: str
    at_lower: float
    at_upper: float
    truth: str
    outside: bool
    width: float

    @property
    def at_limit(self) -> float:
        """Share of the draws at either limit."""
        return self.at_lower + self.at_upper

    @property
    def determined(self) -> bool:
        """Whether the recording says more of it than the prior; True where that is not known."""
        return not self.width > DETERMINED


def parameter_lines(
    space: ParameterSpace,
    draws: np.ndarray,
    truth: np.ndarray | None,
    prior: np.ndarray | None = None,
) -> list[ParameterLine]:
    """Summarise a posterior: 5 %, 50 % and 95 % quantiles, and the share of draws at a limit.

    At a limit is within 1 % of the box's width on the parameter's own scale. A truth is outside if
    it is not between the outer quantiles. The width is that between them over the prior's, on the
    parameter's own scale; NaN where it is not known.

    Args:
        draws: (draw, M) physical values.
        truth: (M,) or None.
        prior: draws of the prior, (draw, M), or None.
    """
    unit = np.asarray(space.to_coordinates(draws))
    widths = np.full(space.dimension, np.nan)
    if prior is not None:
        before = _width(np.asarray(space.to_coordinates(prior)))
        np.divide(_width(unit), before, out=widths, where=before > 0)
    lines = []
    for i, parameter in enumerate(space.parameters):
        low, median, high = np.quantile(draws[:, i], _QUANTILES)
        lines.append(
            ParameterLine(
                parameter.name,
                parameter.unit,
                f"{parameter.lower:g} … {parameter.upper:g}",
                f"{low:.4g}",
                f"{median:.4g}",
                f"{high:.4g}",
                float(np.mean(unit[:, i] < 0.01)),
                float(np.mean(unit[:, i] > 0.99)),
                "" if truth is None else f"{truth[i]:.4g}",
                truth is not None and not bool(low <= truth[i] <= high),
                float(widths[i]),
            )
        )
    return lines


def _width(draws: np.ndarray) -> np.ndarray:
    low, high = np.quantile(draws, (_QUANTILES[0], _QUANTILES[-1]), axis=0)
    return high - low


def prior_draws(path: str, space: ParameterSpace) -> np.ndarray | None:
    """Draws of the prior in a posterior file, (draw, M) physical values; None if it has none."""
    return read_draws(path, space, "prior") if _has(path, "prior") else None


def next_prior_text(simulator: SimulatorConfig) -> str:
    """Tell whose posterior the prior is; empty where it is none."""
    earlier = simulator.prior_from
    if earlier is None:
        return ""
    return (
        f"What was sought in {earlier.experiment} too has the posterior of its run {earlier.run}, "
        f"seed {earlier.seed}, as its prior: a width over the prior's is what is left of that."
    )


def _has(path: str, group: str) -> bool:
    with netCDF4.Dataset(path) as file:
        return group in file.groups and bool(file[group].variables)


class QuantileLine(NamedTuple):
    """One quantity of one posterior in numbers."""

    name: str
    unit: str
    low: str
    median: str
    high: str


def quantile_lines(path: str, group: str) -> list[QuantileLine]:
    """Quantiles of what is in a group of a posterior file; empty where there is none.

    What all draws have alike follows from what is held, and was not found.

    Args:
        group: ``combinations`` or ``single``.
    """
    if not _has(path, group):
        return []
    lines = []
    for name, values in read_dataset(path, group).data_vars.items():
        known = values.values[np.isfinite(values.values)]
        if known.size == 1 or (known.size and np.ptp(known) > 0):
            shown = (f"{value:.4g}" for value in np.quantile(known, _QUANTILES))
            lines.append(QuantileLine(str(name), str(values.attrs["units"]), *shown))
    return lines


def recordings_lines(path: str) -> list[QuantileLine]:
    """Quantiles of what varies between recordings, in each of training; empty if nothing does."""
    if not _has(path, "recordings"):
        return []
    group = read_dataset(path, "recordings")
    where = zip(group["run"].values, group["first_frame"].values, strict=True)
    return [
        QuantileLine(
            f"{name}, run {run} from frame {frame}",
            str(values.attrs["units"]),
            *(f"{x:.4g}" for x in np.nanquantile(values.isel(trajectory=number), _QUANTILES)),
        )
        for number, (run, frame) in enumerate(where)
        for name, values in group.data_vars.items()
    ]


def single_text(path: str) -> str:
    """How many draws have no single parameters within the prior's limits; empty if all have."""
    if not _has(path, "single"):
        return ""
    effective = read_dataset(path, "single")["effective"].values
    missing = int((effective == 0).sum())
    if not missing:
        return ""
    return f"For {missing} of {effective.size} draws no single parameters lie within these limits."


def noise_text(path: str, window: float | None) -> str:
    """Tell the noise that a run inferred, medians and 90 % intervals; empty where it has none.

    Args:
        path: of a posterior file.
        window: duration of a shooting window [s]; None if it is not known.
    """
    if not _has(path, "noise"):
        return ""
    found = read_dataset(path, "noise")
    told: dict[str, list[str]] = {"sensor": [], "process": [], "varying": []}
    correlation = ""
    for name, values in found.data_vars.items():
        low, median, high = (f"{value:.3g}" for value in np.nanquantile(values, _QUANTILES))
        kind, _, of = str(name).partition("_")
        if name == "process_correlation":
            correlation = f"{median} ({low} to {high})"
        elif kind in told:
            unit = str(values.attrs["units"]).removeprefix("-")
            told[kind].append(f"{median} ({low} to {high}) {unit}".strip() + f" in {of}")
    parts = []
    if told["sensor"]:
        parts.append(f"the sensors scatter by {_listed(told['sensor'])}")
    if told["process"]:
        each = "per window" if window is None else f"per window of {window:.3g} s"
        text = f"the model misses by {_listed(told['process'])} {each}"
        if correlation:
            text += f", with a correlation of {correlation} from one window to the next"
        parts.append(text)
    if told["varying"]:
        parts.append(f"from recording to recording deviate {_listed(told['varying'])}")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _listed(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


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
