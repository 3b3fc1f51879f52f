"""Entries of a section `parameters`, and which of them a motion tells apart."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from pdsim.systems.config import SimulatorConfig
from pdsim.systems.simulator import Simulator, build_simulator

GRAVITY = 9.81
# Limits are at least so many times off the first guess.
FACTOR = 5.0
# Friction, of what would stop the motion within one T: its upper limit, and decades below it.
FRICTION, FRICTION_DECADES = 0.1, 4.0
# A parameter is told apart if the others leave it a deviation below this share of its limits.
_TOLD = 1.0


class Limits(NamedTuple):
    """Part of the section `simulator`.

    Attributes:
        parameters: name → entry of the section.
        fixed: values that are known.
        options: of the system.
        reasons: by name of a parameter, and `limits` for all of them.
        guess: first guess of each parameter, in its own unit.
        kept: parameters of the model that could be sought, but that the motion does not tell.
    """

    parameters: dict[str, dict[str, Any]]
    fixed: dict[str, float]
    options: dict[str, Any]
    reasons: dict[str, str]
    guess: dict[str, float]
    kept: tuple[str, ...] = ()


def log_entry(lower: float, upper: float, unit: str) -> dict[str, Any]:
    """Limits on a logarithmic scale."""
    return {"lower": lower, "upper": upper, "unit": unit, "scale": "log"}


def flat_entry(lower: float, upper: float, unit: str) -> dict[str, Any]:
    """Limits on a linear scale."""
    return {"lower": lower, "upper": upper, "unit": unit}


def boxed(
    system: str,
    options: Mapping[str, Any],
    integrator: str,
    parameters: Mapping[str, Any],
    fixed: Mapping[str, float] | None = None,
) -> Simulator:
    """A simulator whose parameters are sought between these limits."""
    return build_simulator(
        SimulatorConfig.model_validate(
            {
                "system": system,
                "options": dict(options),
                "integrator": integrator,
                "parameters": dict(parameters),
                "fixed": dict(fixed or {}),
            }
        )
    )


def rounded(value: float) -> float:
    """Two digits."""
    return float(f"{value:.2g}")


def told_apart(slopes: np.ndarray) -> list[int]:
    """Columns that are independent enough of each other, the most telling first."""
    from scipy.linalg import qr

    _, triangle, order = qr(slopes, mode="economic", pivoting=True)
    left = np.abs(np.diagonal(triangle))
    count = max(1, int(np.sum(left > 1 / _TOLD)))
    return [int(i) for i in order[:count]]
