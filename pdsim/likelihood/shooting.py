"""Single and multiple shooting: how well simulated trajectories explain recorded ones."""

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from pdsim.likelihood.problem import Position, combine_trajectories
from pdsim.parameters import ParameterSpace
from pdsim.systems.rollout import squared_error
from pdsim.systems.system import State, System
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
        later = position.shooting * self.state_scale
        first = jnp.broadcast_to(
            self.first_start[None, :, None, :], (*later.shape[:2], 1, later.shape[-1])
        )
        start = jnp.concatenate([first, later], axis=2)
        error, end = self._windows(
            position.parameters[:, None, None, :],
            tuple(start[..., i] for i in range(start.shape[-1])),
            (self.targets, self.precisions),
        )
        per_trajectory = self.log_normalisation - 0.5 * error.sum(axis=-1)
        arrived = jnp.stack([variable[:, :, :-1] for variable in end], axis=-1)
        defects = position.shooting - arrived / self.state_scale
        return combine_trajectories(per_trajectory, self.combination), defects

    def joined(self, parameters: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return log p(recordings | parameters) of single roll-outs, and the windows' starts."""
        observed = jax.tree.map(lambda x: jnp.moveaxis(x, -1, 0), (self.targets, self.precisions))
        shape = (len(parameters), self.first_start.shape[0])
        first = tuple(
            jnp.broadcast_to(self.first_start[:, i], shape) for i in range(len(self.state_scale))
        )

        def window(start, observed):
            error, end = self._windows(parameters[:, None, :], start, observed)
            return end, (error, end)

        _, (error, ends) = jax.lax.scan(window, first, observed)
        shooting = jnp.stack([variable[:-1] for variable in ends], axis=-1) / self.state_scale
        per_trajectory = self.log_normalisation - 0.5 * error.sum(axis=0)
        return (
            combine_trajectories(per_trajectory, self.combination),
            jnp.moveaxis(shooting, 0, 2),
        )

    def _windows(self, unit: jax.Array, start: State, observed):
        """Simulate windows, and compare them with their targets and precisions."""
        return squared_error(
            self.system,
            self.space.system_parameters(unit),
            start,
            tuple(zip(*observed, strict=True)),
            frame_time=self.frame_time,
            substeps=self.substeps,
        )


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
