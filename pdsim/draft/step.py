"""Integrator and step: the cheapest whose error is far below the noise of the sensors.

The error is taken over the stretches that are learned from, simulated from their start at Sobol
points of the prior, and compared with the white noise of the observed positions.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from pdsim.preflight.step_error import StepError, step_error
from pdsim.recordings.cut import position_columns
from pdsim.recordings.recording import Recording
from pdsim.systems.integrators import DAMPED
from pdsim.systems.simulator import Simulator
from pdsim.systems.system import System

# Steps to try, the cheapest first: integrator and steps a frame.
_TRIED = (
    ("semi_implicit_euler", 1), ("leapfrog", 1), ("rk4", 1), ("rk4", 2), ("rk4", 4), ("rk4", 8),
    ("leapfrog", 16), ("leapfrog", 64),
)  # fmt: skip
# Of the noise, what a step may err by.
_SHARE = 0.1
# Points of the prior.
_POINTS = 16


class Step(NamedTuple):
    """The step that was chosen.

    Attributes:
        tried: (integrator, steps a frame) → its error over the noise, of all that were tried.
    """

    integrator: str
    substeps: int
    error: StepError
    tried: Mapping[tuple[str, int], float]


def candidates(system: System) -> list[tuple[str, int]]:
    """Integrators and steps a frame that suit a system, the cheapest first."""
    damped = hasattr(system, "damped_step")
    return [one for one in _TRIED if damped or one[0] not in DAMPED]


def choose_step(simulator: Simulator, recordings: Sequence[Recording], noise: np.ndarray) -> Step:
    """Take the first step whose error is below a tenth of the noise, or else the best.

    Args:
        recordings: stretches of one length, simulated from their starts.
        noise: of each channel (channel,).
    """
    points = simulator.space.sobol(_POINTS)
    columns = [column for column, _ in position_columns(simulator.system)]
    starts = np.stack([recording.start for recording in recordings])
    inputs = np.nan_to_num(np.stack([recording.input[:-1] for recording in recordings]))
    tried: dict[tuple[str, int], StepError] = {}
    for integrator, substeps in candidates(simulator.system):
        system = simulator.system.with_integrator(integrator)  # type: ignore[attr-defined]
        tried[integrator, substeps] = step_error(
            simulator._replace(system=system, substeps=substeps),
            starts,
            inputs,
            recordings[0].frame_time,
            columns,
            noise[columns],
            points,
        )
        if tried[integrator, substeps].ratio < _SHARE:
            break
    best = min(tried, key=lambda one: tried[one].ratio)
    ratios = {one: error.ratio for one, error in tried.items()}
    return Step(*best, tried[best], ratios)
