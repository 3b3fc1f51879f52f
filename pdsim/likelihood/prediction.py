"""Held-out recordings predicted after their first frames, as the state-space model predicts them.

A recording shows its first P frames. For each draw (θ, σ, q) of a posterior, the filter of marginal
shooting (``pdsim.likelihood.marginal``) gives the state at the last window start s within these,

    x_s | y_{<P} ~ N(x̂_s, P_s)

to first order around the most likely states, with what the recording's own parameters deviate by
behind the state. One state is drawn from it and rolled out to the end
of the recording, with process noise N(0, diag q²) after every window of h frames, where training
had it and in what it was of, and sensor noise N(0, diag σ²) on what is observed. Over many draws
this is the predictive distribution p(y_{≥P} | y_{<P}, training recordings).

What a model misses is not the same in every motion. The q of a held-out recording is that of the
draw times exp(s N(0, 1)) for each state variable and recording, with s the ``spread``.
"""

from collections.abc import Collection
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from pdsim.likelihood.config import LikelihoodConfig
from pdsim.likelihood.marginal import MarginalProblem
from pdsim.likelihood.marginal_data import windowed_problem
from pdsim.likelihood.momenta import kick
from pdsim.likelihood.noise import noise_model
from pdsim.likelihood.problem import Position
from pdsim.likelihood.shooting import by_column
from pdsim.recordings.trajectories import inputs_of, select, window_length, windows
from pdsim.systems.rollout import rollout
from pdsim.systems.simulator import Simulator

# Gauss–Newton steps to the start, at least: after one the filter stands where the guess was.
_ITERATIONS = 2
# Numbers that a chunk of draws may hold in an array; and what keeps its random numbers apart from
# those of an estimator with the same seed.
_CHUNK, _STREAM = 4_000_000, 1234567


class Prefix(NamedTuple):
    """Held-out recordings, and what is known of their first frames.

    Attributes:
        problem: marginal likelihood of the first frames.
        trajectories: the held-out recordings, whole.
        frames: P, how many frames are seen.
        length: h, frames of a window.
    """

    problem: MarginalProblem
    trajectories: xr.Dataset
    frames: int
    length: int

    @property
    def begin(self) -> int:
        """Frame at which the last window within the prefix starts."""
        return self.length * ((self.frames - 2) // self.length)


class Predictions(NamedTuple):
    """Frames P, P + 1, … of every held-out recording.

    Attributes:
        channels: without sensor noise, (trajectory, draw, frame, channel).
        observations: with it, (trajectory, draw, frame, measured channel).
    """

    channels: np.ndarray
    observations: np.ndarray


def prefix_of(
    simulator: Simulator,
    likelihood: LikelihoodConfig,
    trajectories: xr.Dataset,
    *,
    frames: int,
    inferred: Collection[str],
    dtype=np.float64,
) -> Prefix:
    """Take the first frames of the held-out recordings.

    Args:
        trajectories: layout of ``pdsim.recordings.trajectories``, training recordings included:
            these give the length of windows and, to draws without any of their own, the noise.
        frames: P, fewer than the shortest held-out recording has.
        inferred: names of the deviations that the draws have; where σ is not among them, it is the
            white noise found in the training recordings, q is 0, and no parameter varies.
    """
    train, test = select(trajectories, "train"), select(trajectories, "test")
    kinds = {name.partition("_")[0] for name in inferred}
    none: dict[str, Any] = {"sensor": None, "process": None, "varying": {}}
    absent = {kind: value for kind, value in none.items() if kind not in kinds}
    config = likelihood.marginal.model_copy(update=absent)
    length = window_length(train.sizes["time"], likelihood.window_count)
    seen = test.isel(time=slice(0, frames)).assign_coords(
        length=("trajectory", np.full(test.sizes["trajectory"], frames))
    )
    problem = windowed_problem(
        simulator,
        seen,
        noise_model(config, simulator, train),
        # A window that outlasts the prefix need not be simulated to its end.
        length=min(length, frames - 1),
        start_deviation=config.start,
        combination="product",
        iterations=max(config.iterations, _ITERATIONS),
        dtype=dtype,
    )
    return Prefix(problem, test, frames, length)


def predict(prefix: Prefix, physical: np.ndarray, *, seed: int, spread: float) -> Predictions:
    """Predict every held-out recording with every draw.

    Args:
        physical: (draw, M) values of all parameters of ``prefix.problem.space``, noise included.
        spread: deviation of log q between recordings.
        seed: of all random numbers. Those of a draw and a recording depend on their numbers alone,
            not on how many others there are.
    """
    problem, data = prefix.problem, prefix.trajectories
    dtype = problem.start.dtype
    first, total = prefix.begin, data.sizes["time"]
    count = -(-(total - 1 - first) // prefix.length)
    ahead = windows(inputs_of(data)[:, first:], prefix.length, count, 0.0)
    within = np.arange(first + 1, total) < data["length"].values[:, None]
    course = _Course(
        inputs=by_column(ahead, dtype),
        active=jnp.asarray(windows(within, prefix.length, count, False)),
        first_time=(first + prefix.length * jnp.arange(count, dtype=dtype)) * problem.frame_time,
    )
    coordinates = np.asarray(problem.space.to_coordinates(np.asarray(physical, dtype)))
    key = jax.random.fold_in(jax.random.key(seed), _STREAM)
    size = within.size * len(problem.system.channels) * (1 + problem.start.shape[1])
    chunk = min(max(_CHUNK // size, 1), len(coordinates))
    parts = []
    for begin in range(0, len(coordinates), chunk):
        # The last chunk is filled up with copies: one shape is one compiled program.
        number = np.minimum(np.arange(begin, begin + chunk), len(coordinates) - 1)
        found = _predict(
            problem, course, coordinates[number], number, key, spread, length=prefix.length
        )
        kept = slice(prefix.frames - 1 - first, total - 1 - first)
        parts.append([np.asarray(x[: len(coordinates) - begin, :, kept]) for x in found])
    channels, observations = (np.concatenate(x) for x in zip(*parts, strict=True))
    return Predictions(np.swapaxes(channels, 0, 1), np.swapaxes(observations, 0, 1))


class _Course(NamedTuple):
    """What acts from the last window start on, (h, trajectory, window) arrays.

    Attributes:
        active: whether a frame is within its recording.
        first_time: (window,) [s].
    """

    inputs: tuple[jax.Array, ...]
    active: jax.Array
    first_time: jax.Array


@partial(jax.jit, static_argnames="length")
def _predict(
    problem: MarginalProblem, course: _Course, coordinates, numbers, key, spread, *, length: int
):
    """Channels and observations of some draws, (draw, trajectory, frame, …) from frame s + 1 on."""
    system, space, substeps = problem.simulator
    nothing = jnp.zeros((len(coordinates), *problem.start_shooting().shape), coordinates.dtype)
    position = Position(coordinates, nothing)
    starts, filtered = problem.smoothed(position)
    # The filter's last mean is one more Gauss–Newton step of the last window's start.
    last = jax.tree.map(lambda x: x[:, :, -1], filtered.after)
    mean = jnp.concatenate([last.mean + starts[:, :, -1], last.push], axis=-1)
    crossed = jnp.swapaxes(last.crossed, -1, -2)
    covariance = jnp.block([[last.covariance, last.crossed], [crossed, last.pushed]])
    values, vectors = jnp.linalg.eigh(covariance)
    # A state that is known has no variance, and rounding may leave less.
    root = vectors * jnp.sqrt(jnp.maximum(values, 0.0))[..., None, :]
    noise = problem.noise.deviations(coordinates[:, space.dimension :])
    count, dtype = len(course.first_time), coordinates.dtype
    # Random numbers of the start with its β, the process, the sensors and the recording's own q.
    states, seen, own_states = starts.shape[-1], noise.sensor.shape[-1], len(system.state)
    sizes = (2 * states, count * states, count * length * seen, states)
    ends = np.cumsum(sizes)
    scale = jnp.concatenate([problem.state_scale, problem.noise_scale])

    def one(coordinates, noise, number, mean, root, trajectory, inputs, active):
        own = jax.random.fold_in(jax.random.fold_in(key, trajectory), number)
        # All at once: XLA takes a second to compile each call.
        normal = jax.random.normal(own, (sum(sizes),), dtype)
        start = (mean + root @ normal[: sizes[0]]) * scale
        first, varied, push = jnp.split(start, (own_states, states))
        process = noise.process * jnp.exp(spread * normal[ends[2] :][:own_states])
        fresh = process * normal[ends[0] : ends[1]].reshape(count, states)[:, :own_states]
        fresh = jnp.sqrt(1 - noise.correlation**2) * fresh
        shifted = problem.noise.shifted(space, coordinates[: space.dimension], varied)
        prepared = system.prepare(space.system_parameters(shifted))

        def window(carry, ahead):
            (state, push), (drive, active, first_time, fresh) = carry, ahead
            channels, end = rollout(
                system,
                prepared,
                system.unpack(state),
                drive,
                frames=length,
                frame_time=problem.frame_time,
                substeps=substeps,
                first_time=first_time,
                active=active,
            )
            end = system.pack(end)
            moved = kick(system, end, prepared) @ push if problem.noise.of_momenta else push
            carry = (end + moved, noise.correlation * push + fresh)
            return carry, jnp.stack(channels, axis=-1)

        turns = (tuple(x.T for x in inputs), active.T, course.first_time, fresh)
        _, channels = jax.lax.scan(window, (first, push[:own_states]), turns)
        channels = channels.reshape(-1, channels.shape[-1])
        measured = channels[:, jnp.array(problem.noise.channels)]
        return channels, measured + noise.sensor * normal[ends[1] : ends[2]].reshape(measured.shape)

    recordings = jax.vmap(one, in_axes=(None, None, None, 0, 0, 0, 1, 1))
    draws = jax.vmap(recordings, in_axes=(0, 0, 0, 0, 0, None, None, None))
    trajectories = jnp.arange(mean.shape[1])
    return draws(
        coordinates, noise, numbers, mean, root, trajectories, course.inputs, course.active
    )
