"""Integrator and step: the cheapest whose error is far below the noise of the sensors.

The error of a step is what changes when it is halved. It is taken over the stretches that are
learned from, simulated from their start at Sobol points of the prior, and compared with the white
noise of the observed positions.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pdsim.recordings.cut import position_columns
from pdsim.recordings.recording import Recording
from pdsim.systems.integrators import DAMPED
from pdsim.systems.rollout import rollout
from pdsim.systems.simulator import Simulator
from pdsim.systems.system import System

# Steps to try, the cheapest first: integrator and steps a frame.
_TRIED = (
    ("semi_implicit_euler", 1), ("leapfrog", 1), ("semi_implicit_euler", 2), ("rk4", 1),
    ("rk4", 2), ("rk4", 4), ("rk4", 8), ("leapfrog", 16), ("leapfrog", 64),
)  # fmt: skip
# Of the noise, what a step may err by.
_SHARE = 0.1
# Points of the prior.
_POINTS = 16


class StepError(NamedTuple):
    """What halving a step changes.

    Attributes:
        error: of each observed position, median over the points, largest over frames (joint,).
        noise: of the same (joint,).
        failed: share of the roll-outs that are not finite.
    """

    error: np.ndarray
    noise: np.ndarray
    failed: float

    @property
    def ratio(self) -> float:
        """Error over noise, of the joint where that is largest; ∞ where no roll-out is finite."""
        if not np.isfinite(self.error).all():
            return np.inf
        return float((self.error / np.maximum(self.noise, 1e-300)).max())


class Step(NamedTuple):
    """The step that was chosen.

    Attributes:
        tried: (integrator, steps a frame) → its error over the noise, of all that were tried.
    """

    integrator: str
    substeps: int
    error: StepError
    tried: Mapping[tuple[str, int], float]


def halving_error(
    simulator: Simulator, recordings: Sequence[Recording], noise: np.ndarray, points: np.ndarray
) -> StepError:
    """Compare roll-outs with those of half the step.

    Args:
        recordings: stretches of one length, simulated from their starts.
        noise: of each channel (channel,).
        points: unit coordinates (point, M).
    """
    system, space, substeps = simulator
    columns = [column for column, _ in position_columns(system)]
    frames = min(recording.frames for recording in recordings) - 1
    starts = jnp.asarray(np.stack([recording.start for recording in recordings]))
    drive = np.nan_to_num(np.stack([recording.input[:frames] for recording in recordings]))
    inputs = tuple(jnp.asarray(np.moveaxis(drive, 2, 0)))

    def positions(steps: int):
        def one(coordinates, start, drive):
            channels, _ = rollout(
                system,
                system.prepare(space.system_parameters(coordinates)),
                system.unpack(start),
                drive,
                frames=frames,
                frame_time=recordings[0].frame_time,
                substeps=steps,
            )
            return jnp.stack([channels[i] for i in columns])

        each = jax.vmap(one, in_axes=(None, 0, 0))
        return jax.jit(jax.vmap(each, in_axes=(0, None, None)))(jnp.asarray(points), starts, inputs)

    gap = np.abs(np.asarray(positions(substeps)) - np.asarray(positions(2 * substeps)))
    failed = ~np.isfinite(gap).all(axis=(2, 3))
    largest = np.where(failed[..., None], np.inf, gap.max(axis=3))
    with np.errstate(invalid="ignore"):
        error = np.median(largest.reshape(-1, len(columns)), axis=0)
    return StepError(error, noise[columns], float(failed.mean()))


def candidates(system: System) -> list[tuple[str, int]]:
    """Integrators and steps a frame that suit a system, the cheapest first."""
    damped = hasattr(system, "damped_step")
    return [one for one in _TRIED if damped or one[0] not in DAMPED]


def choose_step(simulator: Simulator, recordings: Sequence[Recording], noise: np.ndarray) -> Step:
    """Take the first step whose error is below a tenth of the noise, or else the best."""
    points = simulator.space.sobol(_POINTS)
    tried: dict[tuple[str, int], StepError] = {}
    for integrator, substeps in candidates(simulator.system):
        system = simulator.system.with_integrator(integrator)  # type: ignore[attr-defined]
        own = simulator._replace(system=system, substeps=substeps)
        tried[integrator, substeps] = halving_error(own, recordings, noise, points)
        if tried[integrator, substeps].ratio < _SHARE:
            break
    best = min(tried, key=lambda one: tried[one].ratio)
    ratios = {one: error.ratio for one, error in tried.items()}
    return Step(*best, tried[best], ratios)
