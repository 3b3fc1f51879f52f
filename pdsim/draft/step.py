"""Integrator and step: the cheapest whose error is far below the noise of the sensors.

Two errors count. Over pieces as long as a window may be, at Sobol points of the prior: estimators
simulate windows all over the limits. And over whole stretches at the first guess, as predictions
do, where it has to be far below what the model with this guess misses. (Over whole stretches all
over the limits small errors may grow without bound, and no step would be fine enough.)
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from pdsim.preflight.step_error import StepError, simulated, step_error
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
# Points of the prior, and pieces of each stretch.
_POINTS, _PIECES = 16, 4
# Roll-outs of systems that can be that a step may fail to make.
_LOST = 0.01


class Step(NamedTuple):
    """The step that was chosen.

    Attributes:
        error: over pieces of ``frames``.
        tried: (integrator, steps a frame) → the larger of its errors over what it is compared
            with; ∞ where roll-outs are lost.
        frames: of a piece.
    """

    integrator: str
    substeps: int
    error: StepError
    tried: Mapping[tuple[str, int], float]
    frames: int


def candidates(system: System) -> list[tuple[str, int]]:
    """Integrators and steps a frame that suit a system, the cheapest first."""
    damped = hasattr(system, "damped_step")
    return [one for one in _TRIED if damped or one[0] not in DAMPED]


def choose_step(
    simulator: Simulator,
    recordings: Sequence[Recording],
    noise: np.ndarray,
    guess: np.ndarray,
    frames: int,
) -> Step:
    """Take the first step whose errors are below a tenth of what they are compared with, or else
    the best.

    Args:
        recordings: stretches of one length.
        noise: of each channel (channel,).
        guess: of the parameters, unit coordinates (M,).
        frames: of a piece.
    """
    points = simulator.space.sobol(_POINTS)
    columns = [column for column, _ in position_columns(simulator.system)]
    frame_time = recordings[0].frame_time
    whole = [(recording, 0, recording.frames - 1) for recording in recordings]
    pieces = [
        (recording, int(first), frames)
        for recording in recordings
        for first in np.linspace(0, recording.frames - 1 - frames, _PIECES)
    ]
    tried: dict[tuple[str, int], float] = {}
    errors: dict[tuple[str, int], StepError] = {}
    for one in candidates(simulator.system):
        system = simulator.system.with_integrator(one[0])  # type: ignore[attr-defined]
        stepped = simulator._replace(system=system, substeps=one[1])
        errors[one] = step_error(
            stepped, *_drawn(pieces), frame_time, columns, noise[columns], points
        )
        tried[one] = errors[one].ratio if errors[one].lost <= _LOST else np.inf
        if tried[one] < _SHARE:
            tried[one] = max(tried[one], _whole(stepped, whole, columns, noise[columns], guess))
        if tried[one] < _SHARE:
            break
    best = min(tried, key=lambda one: (tried[one], errors[one].ratio))
    return Step(*best, errors[best], tried, frames)


def _drawn(parts: Sequence[tuple[Recording, int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """Starts (part, S) and inputs (part, frame, I) of parts: recording, first frame, frames."""
    inputs = [np.nan_to_num(one.input[first : first + count]) for one, first, count in parts]
    return np.stack([one.states[first] for one, first, _ in parts]), np.stack(inputs)


def _whole(
    simulator: Simulator,
    whole: Sequence[tuple[Recording, int, int]],
    columns: Sequence[int],
    noise: np.ndarray,
    guess: np.ndarray,
) -> float:
    """Error of a step at the first guess, over what the model misses there or the noise.

    Args:
        whole: stretches.
        noise: of the columns (column,).
    """
    frame_time = whole[0][0].frame_time
    shown = [
        simulated(
            simulator._replace(substeps=count * simulator.substeps),
            *_drawn(whole), frame_time, columns, guess[None],
        )[0]
        for count in (1, 2)
    ]  # fmt: skip
    if not np.isfinite(shown[1]).all():
        # Where the guess's motion goes out of bounds, pieces alone tell of the step.
        return 0.0
    seen = np.stack([one.observed[1:, columns].T for one, _, _ in whole])
    missed = np.sqrt(np.nanmean((shown[1] - seen) ** 2, axis=(0, 2)))
    error = np.abs(shown[0] - shown[1]).max(axis=(0, 2))
    found = float((error / np.maximum(missed, noise)).max())
    return found if np.isfinite(found) else np.inf
