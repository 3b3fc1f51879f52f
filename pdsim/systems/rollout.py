"""Roll-outs: a start state and parameters in, what the sensors would have shown out.

All functions run any batch of particles, trajectories and windows in one scan over time.
"""

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
