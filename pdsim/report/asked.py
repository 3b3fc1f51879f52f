"""What a user asked for by name: combinations of parameters, from the draws of each run."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from pdsim.posterior import combination_group
from pdsim.systems.simulator import Simulator
from pdsim.tables.verdicts import DETERMINED
from pdsim.units.expressions import parse

_QUANTILES = (0.05, 0.5, 0.95)


class AskedLine(NamedTuple):
    """One combination of one posterior in numbers.

    Attributes:
        width: of its 90 % interval over the prior's, of logarithms where it is positive; NaN where
            the prior's draws are not known.
        truth: empty where it is not known.
    """

    name: str
    expression: str
    unit: str
    low: str
    median: str
    high: str
    width: float
    truth: str

    @property
    def determined(self) -> bool:
        """Whether the recording says more of it than the prior; True where that is not known."""
        return not self.width > DETERMINED


def quantities(
    simulator: Simulator, physical: np.ndarray, *, fixed: bool = True
) -> dict[str, tuple[Any, str]]:
    """All that can be combined: name → values (draw,) and their unit.

    These are the estimated parameters, the system's own, and the combinations that it knows.

    Args:
        physical: draws (draw, M).
        fixed: whether the values of what is not estimated are known.
    """
    system, space, _ = simulator
    found: dict[str, tuple[Any, str]] = {}
    if fixed:
        for name, value in space.fixed:
            found[name] = np.full(len(physical), value), system.parameters[name].unit
        for own, values in combination_group(simulator, physical[None]).data_vars.items():
            found[str(own)] = values.values[0], values.attrs["units"]
    for i, parameter in enumerate(space.parameters):
        for name in (*parameter.sets, parameter.name):
            found[name] = physical[:, i], parameter.unit
    return found


def asked_lines(
    combinations: Mapping[str, str],
    simulator: Simulator,
    draws: np.ndarray,
    prior: np.ndarray | None,
    truth: np.ndarray | None,
) -> list[AskedLine]:
    """Numbers of each combination.

    Args:
        combinations: name → expression (``pdsim.units.expressions``).
        draws: of a posterior, (draw, M) physical values.
        prior: draws of the prior, or None.
        truth: (M,), or None.
    """
    if not combinations:
        return []
    known = quantities(simulator, draws)
    before = quantities(simulator, prior) if prior is not None else None
    right = quantities(simulator, truth[None]) if truth is not None else None
    lines = []
    for name, text in combinations.items():
        expression = parse(text)
        values, unit = expression.of(known)
        low, median, high = (f"{value:.4g}" for value in _quantiles(values))
        width = _width(values, expression.of(before)[0]) if before is not None else np.nan
        true = f"{expression.of(right)[0][0]:.4g}" if right is not None else ""
        lines.append(AskedLine(name, expression.text, unit, low, median, high, width, true))
    return lines


def _quantiles(values: np.ndarray) -> np.ndarray:
    kept = values[np.isfinite(values)]
    return np.quantile(kept, _QUANTILES) if kept.size else np.full(len(_QUANTILES), np.nan)


def _width(values: np.ndarray, prior: np.ndarray) -> float:
    if (values > 0).all() and (prior > 0).all():
        values, prior = np.log(values), np.log(prior)
    low, _, high = _quantiles(prior)
    own = _quantiles(values)
    return float((own[2] - own[0]) / (high - low)) if high > low else np.nan
