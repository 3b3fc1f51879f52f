"""Single and multiple shooting: how well simulated trajectories explain recorded ones."""

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from pdsim.likelihood.problem import (
    Linearisation,
    Position,
    combine_trajectories,
    trajectory_weights,
)
from pdsim.parameters import ParameterSpace
from pdsim.systems.rollout import squared_error, tangents
from pdsim.systems.system import System
from pdsim.trajectories import windows


@partial(
    jax.tree_util.register_dataclass,
    data_fields=[
        "targets",
        "precisions",
        "first_start",
        "later_starts",
        "state_scale",
        "log_normalisation",
    ],
    meta_fields=["system", "space", "combination", "frame_time", "substeps"],
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
        precisions: 1/σ of each target, 0 where nothing was observed.
        first_start: (trajectory, state) start states of window 0, known (Sec. III).
        later_starts: (trajectory, window − 1, state) first guess of the others, physical units.
        state_scale: (state,) physical size of one scaled unit of a shooting variable.
        log_normalisation: (trajectory,) −Σ log(σ √(2π)) over what was observed.
    """

    targets: tuple[jax.Array, ...]
    precisions: tuple[jax.Array, ...]
    first_start: jax.Array
    later_starts: jax.Array
    state_scale: jax.Array
    log_normalisation: jax.Array
    system: System
    space: ParameterSpace
    combination: str
    frame_time: float
    substeps: int

    @property
    def rollout_count(self) -> int:
        return self.first_start.shape[0]

    def start_shooting(self) -> jax.Array:
        return self.later_starts / self.state_scale

    def evaluate(self, position: Position) -> tuple[jax.Array, jax.Array]:
        """Return log p(recordings | position) (particle,) and the scaled defects."""
        start = self._starts(position) * self.state_scale
        error, end = squared_error(
            self.system,
            self.space.system_parameters(position.parameters[:, None, None, :]),
            tuple(start[..., i] for i in range(start.shape[-1])),
            tuple(zip(self.targets, self.precisions, strict=True)),
            frame_time=self.frame_time,
            substeps=self.substeps,
        )
        per_trajectory = self.log_normalisation - 0.5 * error.sum(axis=-1)
        arrived = jnp.stack([variable[:, :, :-1] for variable in end], axis=-1)
        defects = position.shooting - arrived / self.state_scale
        return combine_trajectories(per_trajectory, self.combination), defects

    def linearise(self, position: Position) -> Linearisation:
        """Return log p(recordings | position), and residuals and defects with their slopes."""
        start = self._starts(position)
        windowed = start.shape[2] > 1
        unit = jnp.broadcast_to(
            position.parameters[:, None, None, :],
            (*start.shape[:3], position.parameters.shape[-1]),
        )
        (observed, end), (slopes, end_slopes) = tangents(
            self.system,
            self.space.system_parameters,
            unit,
            start,
            scale=self.state_scale,
            with_start=windowed,
            frames=self.targets[0].shape[0],
            frame_time=self.frame_time,
            substeps=self.substeps,
        )
        # (channel, frame, 1, trajectory, window), to go with a batch of particles.
        target, precision = (jnp.stack(x)[:, :, None] for x in (self.targets, self.precisions))
        residuals = _observations_last(precision * (observed - target))
        slopes = jnp.moveaxis(_observations_last(precision * slopes, lead=1), 0, -1)
        end_slopes = jnp.moveaxis(end_slopes, (0, 1), (-1, -2))
        per_trajectory = self.log_normalisation - 0.5 * (residuals**2).sum(axis=(-2, -1))
        m = unit.shape[-1]
        return Linearisation(
            log_likelihood=combine_trajectories(per_trajectory, self.combination),
            weights=trajectory_weights(per_trajectory, self.combination),
            residuals=residuals,
            residual_parameters=slopes[..., :m],
            residual_start=slopes[:, :, 1:, :, m:],
            defects=position.shooting - jnp.moveaxis(end, 0, -1)[:, :, :-1],
            end_parameters=end_slopes[:, :, :-1, :, :m],
            end_start=end_slopes[:, :, 1:-1, :, m:],
        )

    def _starts(self, position: Position) -> jax.Array:
        """Scaled start states of all windows, (particle, trajectory, window, state)."""
        later = position.shooting
        first = self.first_start / self.state_scale
        first = jnp.broadcast_to(first[None, :, None, :], (*later.shape[:2], 1, later.shape[-1]))
        return jnp.concatenate([first, later], axis=2)


def _observations_last(x: jax.Array, lead: int = 0) -> jax.Array:
    """Bring (…, channel, frame, particle, trajectory, window) to (…, particle, …, observation)."""
    x = x.reshape(*x.shape[:lead], -1, *x.shape[lead + 2 :])
    return jnp.moveaxis(x, lead, -1)


def shooting_problem(
    system: System,
    space: ParameterSpace,
    observed: np.ndarray,
    smoothed: np.ndarray,
    noise: np.ndarray,
    *,
    window_count: int,
    combination: str,
    frame_time: float,
    substeps: int,
    dtype=np.float64,
) -> ShootingProblem:
    """Build the problem from training trajectories.

    Args:
        observed: (trajectory, time, channel), NaN where nothing was observed.
        smoothed: (trajectory, time, state); its first frame is the known start state, and its
            values at the windows' starts are the first guess of the shooting variables.
        noise: (channel,) standard deviations of the observations.
        window_count: 1 for single shooting.
        combination: "sum" or "product".
        frame_time, substeps: of the roll-outs.
        dtype: of every array of the problem.
    """
    targets, starts = windows(observed, window_count)
    seen = np.isfinite(targets)
    precision = np.where(seen, 1 / noise, 0.0)
    normalisation = -np.where(seen, np.log(noise * np.sqrt(2 * np.pi)), 0.0)
    spread = smoothed.std(axis=(0, 1))
    channels = range(targets.shape[-1])
    return ShootingProblem(
        targets=tuple(jnp.asarray(np.nan_to_num(targets[..., c]), dtype) for c in channels),
        precisions=tuple(jnp.asarray(precision[..., c], dtype) for c in channels),
        first_start=jnp.asarray(smoothed[:, 0], dtype),
        later_starts=jnp.asarray(smoothed[:, starts[1:]], dtype),
        state_scale=jnp.asarray(np.where(spread > 0, spread, 1.0), dtype),
        log_normalisation=jnp.asarray(normalisation.sum(axis=(0, 2, 3)), dtype),
        system=system,
        space=space,
        combination=combination,
        frame_time=frame_time,
        substeps=substeps,
    )
