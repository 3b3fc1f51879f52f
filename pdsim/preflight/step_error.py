"""The error of a step: what changes when it is halved, beside the noise of the sensors."""

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pdsim.systems.rollout import rollout
from pdsim.systems.simulator import Simulator


class StepError(NamedTuple):
    """What halving a step changes.

    Attributes:
        error: of each channel compared, median over the roll-outs that half the step can make,
            largest over frames (column,); ∞ where it can make none, or the whole step few of them.
        noise: of the same (column,).
        lost: share of the roll-outs that the whole step cannot make, of systems that can be.
    """

    error: np.ndarray
    noise: np.ndarray
    lost: float = 0.0

    @property
    def ratio(self) -> float:
        """Error over noise, of the channel where that is largest."""
        return float((self.error / np.maximum(self.noise, 1e-300)).max())


def step_error(
    simulator: Simulator,
    starts: np.ndarray,
    inputs: np.ndarray,
    frame_time: float,
    columns: Sequence[int],
    noise: np.ndarray,
    points: np.ndarray,
) -> StepError:
    """Compare roll-outs with those of half the step.

    Args:
        starts: of recordings, (recording, S).
        inputs: (recording, frame, I); as many frames are simulated.
        frame_time: [s].
        columns: channels that are compared.
        noise: of these (column,).
        points: unit coordinates (point, M).
    """
    fine, coarse = (
        simulated(simulator._replace(substeps=steps), starts, inputs, frame_time, columns, points)
        for steps in (2 * simulator.substeps, simulator.substeps)
    )
    made = np.isfinite(coarse).all(axis=(2, 3))[can_be(simulator, points)]
    lost = 1 - float(made.mean()) if made.size else 0.0
    # What the model cannot simulate, as a body that cannot be, is no matter of the step.
    able = np.isfinite(fine).all(axis=(2, 3))
    if not able.any():
        return StepError(np.full(len(columns), np.inf), noise, lost)
    gap = np.abs(coarse - fine)[able]
    largest = np.where(np.isfinite(gap).all(axis=2), gap.max(axis=2), np.inf)
    # Of an even number the upper of the two in the middle: between a number and ∞ there is none.
    return StepError(np.sort(largest, axis=0)[len(largest) // 2], noise, lost)


def simulated(
    simulator: Simulator,
    starts: np.ndarray,
    inputs: np.ndarray,
    frame_time: float,
    columns: Sequence[int],
    points: np.ndarray,
) -> np.ndarray:
    """Channels of roll-outs, (point, recording, column, frame); as of ``step_error``."""
    system, space, substeps = simulator
    drives = tuple(jnp.asarray(np.moveaxis(inputs, 2, 0)))

    def one(coordinates, start, drive):
        channels, _ = rollout(
            system,
            system.prepare(space.system_parameters(coordinates)),
            system.unpack(start),
            drive,
            frames=inputs.shape[1],
            frame_time=frame_time,
            substeps=substeps,
        )
        return jnp.stack([channels[i] for i in columns])

    each = jax.vmap(one, in_axes=(None, 0, 0))
    every = jax.jit(jax.vmap(each, in_axes=(0, None, None)))
    return np.asarray(every(jnp.asarray(points), jnp.asarray(starts), drives))


def can_be(simulator: Simulator, points: np.ndarray) -> np.ndarray:
    """Whether a system with these parameters can be, (point,).

    Of bodies that cannot be, what a step needs is not finite, whatever the step.

    Args:
        points: unit coordinates (point, M).
    """
    system, space, _ = simulator

    def one(coordinates):
        prepared = system.prepare(space.system_parameters(coordinates))
        return jnp.array([~jnp.isnan(x).any() for x in jax.tree.leaves(prepared)], bool).all()

    return np.asarray(jax.vmap(one)(jnp.asarray(points)))
