"""Single and multiple shooting: how well simulated trajectories explain recorded ones.

Window w of a recording starts at frame w·h and predicts frames w·h + 1 … (w + 1)·h (Sec. IV-C); the
last frame it predicts is the frame at which the next window starts. Where a shorter recording has
no frames left, the windows beyond its end see nothing and have no defects.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from pdsim.likelihood import shooting_sizes
from pdsim.likelihood.noise import state_scale
from pdsim.likelihood.problem import (
    Linearisation,
    Position,
    combine_trajectories,
    trajectory_weights,
)
from pdsim.parameters.space import ParameterSpace
from pdsim.recordings.trajectories import inputs_of, window_length, windows
from pdsim.runtime.errors import PdsimError
from pdsim.systems.misfit import squared_error
from pdsim.systems.rollout import over_windows, rollout, tangents
from pdsim.systems.simulator import Simulator
from pdsim.systems.system import System
from pdsim.xla.blocks import in_blocks
from pdsim.xla.cores import over_cores


@partial(
    jax.tree_util.register_dataclass,
    data_fields=[
        "targets",
        "inverse_deviations",
        "inputs",
        "first_time",
        "first_start",
        "later_starts",
        "linked",
        "active",
        "state_scale",
        "log_normalisation",
    ],
    meta_fields=["simulator", "combination", "frame_time"],
)
@dataclass(frozen=True)
class ShootingProblem:
    """Gaussian likelihood of recorded trajectories over shooting windows.

    One window is single shooting (Eq. 3); with more, the start states of the later windows are
    part of the position and the differences to where the window before ended are its defects
    (Eq. 6). The likelihood of the observations is Eq. 2 with one standard deviation per channel.

    A pytree: the recordings are leaves, so one compiled program serves every recording.

    Attributes:
        targets: one (h, trajectory, window) array per channel.
        inverse_deviations: 1/σ of each target, 0 where nothing was observed.
        inputs: one (h, trajectory, window) array per input.
        first_time: (window,) time at which each window starts [s].
        first_start: (trajectory, state) start states of window 0, known (Sec. III).
        later_starts: (trajectory, window − 1, state) first guess of the others, physical units.
        linked: (trajectory, window − 1) whether windows 1, 2, … lie within the recording; None if
            all do.
        active: (h, trajectory, window) whether a frame is within its recording; None if all are.
        state_scale: (state,) physical size of one scaled unit of a shooting variable.
        log_normalisation: (trajectory,) −Σ log(σ √(2π)) over what was observed.
    """

    targets: tuple[jax.Array, ...]
    inverse_deviations: tuple[jax.Array, ...]
    inputs: tuple[jax.Array, ...]
    first_time: jax.Array
    first_start: jax.Array
    later_starts: jax.Array
    linked: jax.Array | None
    active: jax.Array | None
    state_scale: jax.Array
    log_normalisation: jax.Array
    simulator: Simulator
    combination: str
    frame_time: float

    @property
    def system(self) -> System:
        """The system simulated."""
        return self.simulator.system

    @property
    def space(self) -> ParameterSpace:
        return self.simulator.space

    @property
    def shape(self) -> shooting_sizes.Shape:
        """How large it is."""
        frames, *windows = self.targets[0].shape
        return shooting_sizes.Shape(
            frames=frames,
            windows=math.prod(windows),
            states=self.first_start.shape[-1],
            residuals=len(self.targets),
            evaluations=self.simulator.substeps * self.system.evaluations,
            large_steps=self.system.large_steps,
        )

    @property
    def rollout_count(self) -> int:
        return self.first_start.shape[0]

    @property
    def tangent_count(self) -> int:
        """Tangent roll-outs of a linearisation: one for each parameter and start variable."""
        _, gaps, states = self.later_starts.shape
        return self.space.dimension + (states if gaps > 0 else 0)

    @property
    def gradient_block(self) -> int | None:
        return shooting_sizes.gradient_block(self.shape)

    def start_shooting(self) -> jax.Array:
        return self.later_starts / self.state_scale

    @over_cores
    @in_blocks(lambda problem: shooting_sizes.evaluated(problem.shape), on_gpu=False)
    def evaluate(self, position: Position) -> tuple[jax.Array, jax.Array]:
        """Return log p(recordings | position) (particle,) and the scaled defects."""
        system, particles = self.system, len(position.parameters)
        error, end = squared_error(
            system,
            jax.vmap(lambda x: system.prepare(self.space.system_parameters(x)))(
                position.parameters
            ),
            self._starts(position) * self.state_scale,
            self.inputs,
            tuple(zip(self.targets, self.inverse_deviations, strict=True)),
            first_time=self.first_time,
            active=self.active,
            segment=shooting_sizes.segment(self.shape, particles),
            in_turn=shooting_sizes.in_turn(self.shape, particles),
            **self._grid,
        )
        per_trajectory = self.log_normalisation - 0.5 * error.sum(axis=-1)
        defects = self._defects(position.shooting, end[:, :, :-1] / self.state_scale)
        return combine_trajectories(per_trajectory, self.combination), defects

    @over_cores
    @in_blocks(lambda problem: shooting_sizes.linearised(problem.shape))
    def linearise(self, position: Position) -> Linearisation:
        """Return log p(recordings | position), and residuals and defects with their slopes.

        Raises:
            PdsimError: states of this system cannot be subtracted: defects are not linear in them.
        """
        start = self._starts(position)
        if start.shape[2] > 1 and not subtracts(self.system):
            raise PdsimError(
                f"the windows of {self.system.name} cannot be linearised, since its states cannot "
                "be subtracted; choose descent: gradient, another estimator, or single shooting"
            )
        system, windowed = self.system.forward_mode(), start.shape[2] > 1
        frames = self.targets[0].shape[0]
        coordinates = jnp.broadcast_to(
            position.parameters[:, None, None, :],
            (*start.shape[:3], position.parameters.shape[-1]),
        )

        def window(coordinates, start, inputs, active, first_time):
            channels, end = rollout(
                system,
                system.prepare(self.space.system_parameters(coordinates)),
                system.unpack(start * self.state_scale),
                inputs,
                frames=frames,
                first_time=first_time,
                active=active,
                **self._grid,
            )
            return channels, system.pack(end) / self.state_scale

        simulate = over_windows(window)

        def shown(coordinates, start):
            channels, end = simulate(coordinates, start, self.inputs, self.active, self.first_time)
            # Channel and frame in front of the batch, and what is saved for the end behind it.
            return jnp.stack([jnp.moveaxis(x, -1, 0) for x in channels]), jnp.moveaxis(end, -1, 0)

        (observed, end), (slopes, end_slopes) = tangents(
            shown, coordinates, start, with_start=windowed
        )
        # (channel, frame, 1, trajectory, window), to go with a batch of particles.
        target, inverse = (
            jnp.stack(x)[:, :, None] for x in (self.targets, self.inverse_deviations)
        )
        residuals = _observations_last(inverse * (observed - target))
        slopes = jnp.moveaxis(_observations_last(inverse * slopes, lead=1), 0, -1)
        end_slopes = jnp.moveaxis(end_slopes, (0, 1), (-1, -2))
        per_trajectory = self.log_normalisation - 0.5 * (residuals**2).sum(axis=(-2, -1))
        m = coordinates.shape[-1]
        defects = self._defects(position.shooting, jnp.moveaxis(end, 0, -1)[:, :, :-1])
        return Linearisation(
            log_likelihood=combine_trajectories(per_trajectory, self.combination),
            weights=trajectory_weights(per_trajectory, self.combination),
            residuals=residuals,
            residual_parameters=slopes[..., :m],
            residual_start=slopes[:, :, 1:, :, m:],
            defects=defects,
            end_parameters=self._masked(end_slopes[:, :, :-1, :, :m]),
            end_start=self._masked(end_slopes[:, :, :-1, :, m:])[:, :, 1:],
        )

    @property
    def _grid(self) -> dict[str, Any]:
        return {"frame_time": self.frame_time, "substeps": self.simulator.substeps}

    def _starts(self, position: Position) -> jax.Array:
        """Scaled start states of all windows, (particle, trajectory, window, state)."""
        later = position.shooting
        first = self.first_start / self.state_scale
        first = jnp.broadcast_to(first[None, :, None, :], (*later.shape[:2], 1, later.shape[-1]))
        return jnp.concatenate([first, later], axis=2)

    def _defects(self, shooting: jax.Array, arrived: jax.Array) -> jax.Array:
        """Scaled differences of window starts to where the windows before arrived.

        A window beyond its recording's end is held at its first guess, so that it has a density.
        """
        if self.linked is not None:
            arrived = jnp.where(self.linked[..., None], arrived, self.start_shooting())
        return _scaled_difference(self.system, shooting, arrived, self.state_scale)

    def _masked(self, slopes: jax.Array) -> jax.Array:
        """Slopes of end states (particle, trajectory, window − 1, …) without those held."""
        if self.linked is None:
            return slopes
        return jnp.where(self.linked[:, :, None, None], slopes, 0.0)


def subtracts(system: System) -> bool:
    """Whether the difference of two states is plain subtraction."""
    return type(system).difference is System.difference


def _scaled_difference(system: System, a: jax.Array, b: jax.Array, scale: jax.Array) -> jax.Array:
    """The system's difference of scaled states (…, S), scaled again."""
    if subtracts(system):
        return a - b
    flat = jax.vmap(system.difference)((a * scale).reshape(-1, len(scale)),
                                       (b * scale).reshape(-1, len(scale)))  # fmt: skip
    return flat.reshape(a.shape) / scale


def _observations_last(x: jax.Array, lead: int = 0) -> jax.Array:
    """Bring (…, channel, frame, particle, trajectory, window) to (…, particle, …, observation)."""
    x = x.reshape(*x.shape[:lead], -1, *x.shape[lead + 2 :])
    return jnp.moveaxis(x, lead, -1)


def shooting_problem(
    simulator: Simulator,
    trajectories: xr.Dataset,
    noise: np.ndarray,
    *,
    window_count: int,
    combination: str,
    dtype=np.float64,
) -> ShootingProblem:
    """Build the problem from training trajectories.

    Args:
        trajectories: layout of ``pdsim.recordings.trajectories``; the start of each is known, and
            the states at the windows' starts are the first guess of the shooting variables.
        noise: (channel,) standard deviations of the observations.
        window_count: 1 for single shooting.
        combination: "sum" or "product".
        dtype: of every array of the problem.
    """
    observed = trajectories["observed"].values
    frame_time = float(trajectories.attrs["frame_time"])
    length = window_length(observed.shape[1], window_count)
    # Frame 0 is the start and is not predicted.
    targets = windows(observed[:, 1:], length, window_count, np.nan)
    inputs = windows(inputs_of(trajectories), length, window_count, 0.0)
    seen = np.isfinite(targets)
    inverse = np.where(seen, 1 / noise, 0.0)
    normalisation = -np.where(seen, np.log(noise * np.sqrt(2 * np.pi)), 0.0)
    first = length * np.arange(window_count)
    linked = first[1:] < trajectories["length"].values[:, None] - 1
    return ShootingProblem(
        targets=by_column(np.nan_to_num(targets), dtype),
        inverse_deviations=by_column(inverse, dtype),
        inputs=by_column(inputs, dtype),
        first_time=jnp.asarray(first * frame_time, dtype),
        first_start=jnp.asarray(trajectories["start"].values, dtype),
        later_starts=jnp.asarray(guessed_states(trajectories, first[1:]), dtype),
        linked=None if linked.all() else jnp.asarray(linked),
        active=active_frames(trajectories, length, window_count),
        state_scale=jnp.asarray(state_scale(trajectories), dtype),
        log_normalisation=jnp.asarray(normalisation.sum(axis=(0, 2, 3)), dtype),
        simulator=simulator,
        combination=combination,
        frame_time=frame_time,
    )


def guessed_states(trajectories: xr.Dataset, frames: np.ndarray) -> np.ndarray:
    """Estimated states at some frames, (trajectory, frame, state).

    Beyond its end a recording has no states; its last one is as good a guess as any.
    """
    states, length = trajectories["states"].values, trajectories["length"].values
    last = states[np.arange(len(states)), length - 1]
    within = frames < length[:, None] - 1
    return np.where(within[..., None], states[:, frames], last[:, None])


def active_frames(trajectories: xr.Dataset, length: int, count: int) -> jax.Array | None:
    """Whether a frame of a window is within its recording, (h, trajectory, window).

    None: roll-outs need not be held, as they end with their recordings or run on for less than a
    window as they did before. With inputs they do not: nothing drives them there.
    """
    frames = trajectories.sizes["time"]
    within = np.arange(1, frames) < trajectories["length"].values[:, None]
    filled = count * length == frames - 1 or "inputs" not in trajectories
    if filled and within.all():
        return None
    return jnp.asarray(windows(within, length, count, False))


def by_column(values: np.ndarray, dtype) -> tuple[jax.Array, ...]:
    """Split the last axis into arrays."""
    return tuple(jnp.asarray(values[..., i], dtype) for i in range(values.shape[-1]))
