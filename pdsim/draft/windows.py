"""How long a shooting window may be: as long as small errors stay small.

A window's start is known as well as a local polynomial tells it, with covariance Σ. Carried along
the recorded motion by the model's tangents J_k, its error is J_k Σ J_kᵀ after k frames. Until this
is twice the noise of the sensors a window is simulated; beyond, what the model misses would pass
for noise of the sensors (docs/trust.md).
"""

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pdsim.recordings.cut import position_columns
from pdsim.recordings.recording import Recording
from pdsim.recordings.smoothing import Smoothing, state_covariance
from pdsim.recordings.trajectories import fitting_count
from pdsim.systems.rollout import rollout
from pdsim.systems.simulator import Simulator

# Over the noise: error at which a window ends.
_GROWN = 2.0
# Frames of a window, at least and at most.
_LEAST, _MOST = 3, 60
# Places of each stretch at which errors are followed.
_PLACES = 8


class Windows(NamedTuple):
    """Shooting windows of a stretch.

    Attributes:
        window_count: of a stretch.
        frames: of each, but for the last, which may be shorter.
        ratio: error of a start over the noise after so many frames, median over places; of the
            joint where it is largest.
    """

    window_count: int
    frames: int
    ratio: float


def growth(
    simulator: Simulator,
    recordings: Sequence[Recording],
    noise: np.ndarray,
    smoothing: Smoothing,
    frames: int,
    coordinates: np.ndarray,
) -> np.ndarray:
    """Error of a start carried on, over the noise, (frames,).

    The median over places of the recordings, and that joint where it is largest.

    Args:
        noise: of each channel (channel,).
        coordinates: of the parameters, unit box (M,).
    """
    system, space, substeps = simulator
    form = system.forward_mode()
    columns = [column for column, _ in position_columns(system)]
    centre = jnp.asarray(coordinates)
    count, frame_time = recordings[0].frames, recordings[0].frame_time
    white = np.diag(noise[columns] ** 2)
    # Within a stretch, where states are known from both sides.
    root = _root(state_covariance(white, count // 2, count, frame_time, smoothing))
    starts, drives = [], []
    for recording in recordings:
        for first in np.linspace(0, recording.frames - frames - 1, _PLACES).astype(int):
            starts.append(recording.states[first])
            drives.append(np.nan_to_num(recording.input[first : first + frames]))

    def one(start, drive):
        def positions(start):
            channels, _ = rollout(
                form,
                form.prepare(space.system_parameters(centre)),
                form.unpack(start),
                tuple(drive.T),
                frames=frames,
                frame_time=frame_time,
                substeps=substeps,
            )
            return jnp.stack([channels[i] for i in columns], axis=1)

        # Of a start's error in each of its own directions.
        moved = jax.vmap(lambda along: jax.jvp(positions, (start,), (along,))[1])(
            jnp.asarray(root.T)
        )
        return jnp.sqrt((moved**2).sum(axis=0))

    grown = jax.jit(jax.vmap(one))(jnp.asarray(np.stack(starts)), jnp.asarray(np.stack(drives)))
    ratios = np.asarray(grown) / noise[columns]
    # What cannot be carried along has grown without bound.
    return np.median(np.nan_to_num(ratios, nan=np.inf), axis=0).max(axis=1)


def _root(covariance: np.ndarray) -> np.ndarray:
    """A root R of Σ = R Rᵀ."""
    values, axes = np.linalg.eigh(covariance)
    return axes * np.sqrt(np.maximum(values, 0.0))


def longest(frames: int) -> int:
    """Frames of the longest window of a stretch that is looked at."""
    return min(frames // 2, _MOST)


def choose_windows(
    simulator: Simulator,
    recordings: Sequence[Recording],
    noise: np.ndarray,
    smoothing: Smoothing,
    guess: np.ndarray,
) -> Windows:
    """Cut stretches of one length into windows.

    Args:
        guess: of the parameters, unit coordinates (M,).
    """
    frames = recordings[0].frames
    ratios = growth(simulator, recordings, noise, smoothing, longest(frames), guess)
    above = np.flatnonzero(~(ratios < _GROWN))
    length = max(_LEAST, int(above[0]) + 1 if len(above) else len(ratios))
    count = fitting_count(frames, max(2, round((frames - 1) / length)))
    return Windows(count, -(-(frames - 1) // count), float(ratios[length - 1]))
