"""Roll-outs of marginal shooting's windows: what they miss, where they end, and their slopes."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from pdsim.likelihood.marginal_fields import MarginalFields
from pdsim.likelihood.noise_slopes import Channels
from pdsim.likelihood.problem import Position
from pdsim.likelihood.smoother import Sensitivity, Windows
from pdsim.systems.rollout import over_windows, rollout, tangents
from pdsim.systems.system import System


class Motion(NamedTuple):
    """All windows rolled out from their starts, with (trajectory, particle) behind.

    Attributes:
        rows: residuals and their tangents, (1 + T, channel, frame, window, …). Tangents are the
            parameters', if there are any, and then those of the S states.
        gaps: from the end of a window to the start of the next, (window − 1, S, …).
        ends: tangents of the ends, (window − 1, S, T, …).
    """

    rows: jax.Array
    gaps: jax.Array
    ends: jax.Array

    @property
    def channels(self) -> Channels:
        """What the windows' starts move, by channel."""
        size = self.gaps.shape[1]
        own = jnp.concatenate([self.rows[:1], self.rows[-size:]])
        # (window, channel, tangent, frame, …), so that products are made in their own order.
        own = jnp.moveaxis(own, (3, 1), (0, 1))
        products = (own[:, :, :, None] * own[:, :, None]).sum(axis=4)
        return Channels(products[:, :, 0, 0], products[:, :, 1:, 0], products[:, :, 1:, 1:])

    def windows(self, precision: jax.Array, kicks: jax.Array | None) -> Windows:
        """Windows as the filter takes them; ``precision`` is σ⁻², (channel, particle)."""

        def weighed(x):
            """Sum over channels of (window, channel, …, trajectory, particle)."""
            shape = (len(precision), *[1] * (x.ndim - 3), precision.shape[1])
            return (precision.reshape(shape) * x).sum(axis=1)

        squares, slopes, information = (weighed(x) for x in self.channels)
        transitions = self.ends[:, :, -self.gaps.shape[1] :]
        return Windows(squares, slopes, information, self.gaps, transitions, kicks)

    def sensitivity(self, precision: jax.Array) -> Sensitivity:
        """What the parameters' tangents add."""
        size = self.gaps.shape[1]
        own = jnp.moveaxis(self.rows[1:], 3, 0)
        parameters = own[:, :-size]
        weighed = precision[:, None, None] * own
        products = (weighed[:, :, None] * parameters[:, None]).sum(axis=(3, 4))
        return Sensitivity(
            mixed=products[:, -size:], information=products[:, :-size], ends=self.ends[:, :, :-size]
        )


def particles_first(starts: jax.Array) -> jax.Array:
    """(window, S, trajectory, particle) → (particle, trajectory, window, S)."""
    return jnp.moveaxis(starts, (-1, -2), (0, 1))


def residuals(
    problem: MarginalFields, coordinates: jax.Array, starts: jax.Array, system: System
) -> tuple[jax.Array, jax.Array]:
    """Roll-outs minus recordings, and where windows end.

    Args:
        coordinates: of the simulator's parameters, (particle, trajectory, window, M).
        starts: of all windows, (particle, trajectory, window, S), scaled.
        system: in the form for the mode of differentiation.

    Returns:
        (channel, h, window, trajectory, particle), 0 where nothing was observed, and (S,
        window, trajectory, particle), scaled.
    """
    space, count = problem.simulator.space, len(system.state)

    def window(coordinates, start, inputs, active, first_time):
        first, own = start[:count] * problem.state_scale[:count], start[count:]
        shifted = problem.noise.shifted(space, coordinates, own * problem.state_scale[count:])
        channels, end = rollout(
            system,
            system.prepare(space.system_parameters(shifted)),
            system.unpack(first),
            inputs,
            frames=problem.targets[0].shape[0],
            frame_time=problem.frame_time,
            substeps=problem.simulator.substeps,
            first_time=first_time,
            active=active,
        )
        measured = tuple(channels[i] for i in problem.noise.channels)
        end = system.pack(end) / problem.state_scale[:count]
        return measured, jnp.concatenate([end, own])

    channels, end = over_windows(window)(
        coordinates, starts, problem.inputs, problem.active, problem.first_time
    )
    observed = jnp.stack([x.T for x in channels])
    target, seen = (
        jnp.swapaxes(jnp.stack(x), 2, 3)[..., None] for x in (problem.targets, problem.seen)
    )
    return seen * (observed - target), end.T


def window_coordinates(problem: MarginalFields, position: Position, starts: jax.Array) -> jax.Array:
    """The simulator's parameters for all windows, (particle, trajectory, window, M)."""
    dimension = problem.simulator.space.dimension
    coordinates = position.parameters[:, None, None, :dimension]
    return jnp.broadcast_to(coordinates, (*starts.shape[:3], dimension))


def rolled_out(
    problem: MarginalFields, position: Position, starts: jax.Array, with_parameters: bool = False
) -> Motion:
    """Roll out all windows with a tangent for each state and, if asked, each parameter."""
    system, turned = problem.system.forward_mode(), particles_first(starts)
    (missed, end), (slopes, end_slopes) = tangents(
        lambda x, start: residuals(problem, x, start, system),
        window_coordinates(problem, position, turned),
        turned,
        with_start=True,
        with_parameters=with_parameters,
    )
    return Motion(
        rows=jnp.concatenate([missed[None], slopes]),
        gaps=starts[1:] - jnp.swapaxes(end, 0, 1)[:-1],
        ends=jnp.moveaxis(end_slopes, 2, 0).swapaxes(1, 2)[:-1],
    )
