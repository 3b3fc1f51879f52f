"""Roll-outs: a start state and parameters in, what the sensors would have shown out.

All functions run any batch of particles, trajectories and windows in one scan over time.
"""

import dataclasses

import jax
import jax.numpy as jnp

from pdsim.systems.system import State, System


def _broadcast(system: System, parameters, start: State):
    """Bring coefficients and start state to one batch shape, as the adjoint step needs them."""
    coefficients = system.coefficients(parameters)
    leaves = jax.tree.leaves(coefficients) + list(start)
    shape = jnp.broadcast_shapes(*(jnp.shape(leaf) for leaf in leaves))
    dtype = jnp.result_type(*start)
    return (
        jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, shape).astype(dtype), coefficients),
        tuple(jnp.broadcast_to(variable, shape) for variable in start),
    )


def _frame(system: System, state: State, coefficients, frame_time: float, substeps: int) -> State:
    """Advance by one recorded frame."""
    dt = frame_time / substeps
    if substeps == 1:
        return system.step(state, coefficients, dt)
    return jax.lax.scan(
        lambda inner, _: (system.step(inner, coefficients, dt), None), state, None, length=substeps
    )[0]


def rollout(
    system: System, parameters, start: State, *, frames: int, frame_time: float, substeps: int = 1
) -> State:
    """Simulate ``frames`` recorded frames beyond the start (f_sim, Eq. 3).

    Args:
        parameters: name → array, broadcastable against the start state.
        start: state tuple, any batch shape.
        frames: how many frames to return; the start itself is not among them.
        frame_time: time between frames [s].
        substeps: integrator steps per frame.

    Returns:
        State tuple of arrays with time in front: ``(frames, *batch)``.
    """
    coefficients, start = _broadcast(system, parameters, start)

    def advance(state, _):
        state = _frame(system, state, coefficients, frame_time, substeps)
        return state, state

    return jax.lax.scan(advance, start, None, length=frames)[1]


def tangents(
    system: System,
    to_parameters,
    unit: jax.Array,
    start: jax.Array,
    *,
    scale: jax.Array,
    with_start: bool,
    **options,
):
    """Simulate, and linearise what is observed and where it ends, by forward differentiation.

    One tangent roll-out for each parameter and, if asked, each start variable.

    Args:
        to_parameters: unit coordinates (..., M) → the system's parameters by name.
        unit: (*batch, M) coordinates of the parameters.
        start: (*batch, S) start states over ``scale``.
        scale: (S,) physical size of one unit of a start variable.
        with_start: whether to differentiate in the start, too; if not, those slopes are empty.
        options: ``frames``, ``frame_time`` and ``substeps`` of ``rollout``.

    Returns:
        ``(observed, end), slopes``: the channels' roll-outs as one array (channel, frame, *batch),
        the scaled end states (S, *batch), and the same with a leading axis of the M or M + S
        tangents.
    """
    forward = dataclasses.replace(system, step=system.tangent_step)
    count = unit.shape[-1]

    def simulate(unit, start):
        physical = start * scale
        states = rollout(
            forward,
            to_parameters(unit),
            tuple(physical[..., i] for i in range(len(scale))),
            **options,
        )
        end = [variable[-1] / size for variable, size in zip(states, scale, strict=True)]
        return jnp.stack(system.observe(states)), jnp.stack(end)

    def along(direction):
        rates = (
            jnp.broadcast_to(direction[:count], unit.shape),
            jnp.broadcast_to(direction[count:], start.shape),
        )
        return jax.jvp(simulate, (unit, start), rates)

    directions = jnp.eye(count + len(scale), dtype=start.dtype)
    if not with_start:
        directions = directions[:count]
    # The roll-out itself does not depend on the direction: it is simulated once.
    return jax.vmap(along, out_axes=(None, 0))(directions)


def squared_error(
    system: System, parameters, start: State, observed, *, frame_time: float, substeps: int = 1
):
    """Sum of squared residuals against a recording, without storing the roll-out.

    Args:
        start: state tuple, any batch shape.
        observed: one pair ``(target, precision)`` per channel, each ``(frames, *batch)`` or
            broadcastable: the observation and one over its standard deviation, which is zero
            where nothing was observed.
        frame_time, substeps: as in ``rollout``.

    Returns:
        ``(sum, end)``: Σ_t Σ_channel ((x_sim − x_obs)/σ)² with the batch shape, and the end state.
    """
    coefficients, start = _broadcast(system, parameters, start)
    total = jnp.zeros_like(start[0])

    def advance(carry, targets):
        state, total = carry
        state = _frame(system, state, coefficients, frame_time, substeps)
        for simulated, (target, precision) in zip(system.observe(state), targets, strict=True):
            total = total + (precision * (simulated - target)) ** 2
        return (state, total), None

    (end, total), _ = jax.lax.scan(advance, (start, total), observed)
    return total, end
