"""Roll-outs of one sample, and their batches over particles, recordings and windows.

``rollout`` simulates one state with one set of parameters; ``over_windows`` runs it for every
particle, recording and shooting window at once.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from pdsim.systems.system import State, System

# Of systems of so few state variables, steps within a frame that are one pass of the loop: a
# gradient of four takes a sixth less, and a quarter with 20 particles. Others compile for longer.
_SMALL, _UNROLLED = 8, 4


def _frame(system: System, state, input, time, prepared, frame_time: float, substeps: int):
    """Advance by one recorded frame."""
    dt = frame_time / substeps
    if substeps == 1:
        return system.step(state, input, time, prepared, dt)

    def once(state, number):
        return system.step(state, input, time + number * dt, prepared, dt), None

    unroll = _UNROLLED if len(system.state) <= _SMALL else 1
    return jax.lax.scan(once, state, jnp.arange(substeps), unroll=min(unroll, substeps))[0]


def advanced(system, state, drive, prepared, frame_time, substeps):
    """Advance by one recorded frame, unless the recording has ended.

    Held from its end on, a roll-out cannot fail where nobody looks, nor spoil a gradient there.
    """
    input, time, active = drive
    after = _frame(system, state, input, time, prepared, frame_time, substeps)
    if active is None:
        return after
    return jax.tree.map(lambda a, b: jnp.where(active, a, b), after, state)


def rollout(
    system: System,
    prepared: Any,
    start: State,
    inputs: tuple[jax.Array, ...] = (),
    *,
    frames: int,
    frame_time: float,
    substeps: int = 1,
    first_time: float | jax.Array = 0.0,
    active: jax.Array | None = None,
) -> tuple[tuple[jax.Array, ...], State]:
    """Simulate ``frames`` recorded frames beyond the start (f_sim, Eq. 3).

    Args:
        prepared: what ``system.prepare`` returned.
        start: one state.
        inputs: one (frames,) array for each of the system's; entry k acts from frame k to k + 1.
        frames: how many frames to return; the start itself is not among them.
        frame_time: time between frames [s].
        substeps: steps per frame.
        first_time: of the start [s].
        active: (frames,) whether a frame is within the recording; None if all are.

    Returns:
        The channels, one (frames,) array each, and the end state.
    """
    dtype = jnp.result_type(*jax.tree.leaves(start))
    times = (first_time + frame_time * jnp.arange(frames)).astype(dtype)
    drives = inputs, times, active

    def moved(state, drive):
        return advanced(system, state, drive, prepared, frame_time, substeps)

    if not system.large_steps:

        def advance(state, drive):
            after = moved(state, drive)
            return after, system.observe(after, prepared)

        end, shown = jax.lax.scan(advance, start, drives)
        return shown, end

    @partial(jax.checkpoint, prevent_cse=False)
    def shown_and_moved(state, drive):
        # Seen before it moves: what a step and the observation both need is computed once.
        return moved(state, drive), system.observe(state, prepared)

    end, channels = jax.lax.scan(shown_and_moved, start, drives)
    last = system.observe(end, prepared)
    shown = tuple(
        jnp.concatenate([before[1:], jnp.asarray(x)[None]])
        for before, x in zip(channels, last, strict=True)
    )
    return shown, end


def over_windows(function: Callable) -> Callable:
    """Batch a function of one window over particles, recordings and windows.

    Args:
        function: ``(prepared, start, inputs, data, first_time)`` of one window.

    Returns:
        The same of arrays: the first two with (particle, recording, window) in front, inputs and
        data (frame, recording, window), first_time (window,); results as the first two.
    """
    # Particles innermost: they share the recordings, so a compiled loop along them reads one
    # number of a recording; along windows, of which there are few, it would read others each time.
    particles = jax.vmap(function, in_axes=(0, 0, None, None, None))
    recordings = jax.vmap(particles, in_axes=(0, 0, 1, 1, None))
    windows = jax.vmap(recordings, in_axes=(0, 0, 2, 2, 0))

    def batched(prepared, start, inputs, data, first_time):
        columns = jax.tree.map(turned, (prepared, start))
        return jax.tree.map(turned, windows(*columns, inputs, data, first_time))

    return batched


def turned(x: jax.Array) -> jax.Array:
    """Turn (particle, recording, window, …) into (window, recording, particle, …), and back."""
    return jnp.swapaxes(x, 0, 2)


def tangents(
    function: Callable,
    coordinates: jax.Array,
    start: jax.Array,
    *,
    with_start: bool,
    with_parameters: bool = True,
):
    """Evaluate a batched function with its derivatives by forward differentiation.

    One tangent roll-out for each parameter and each start variable, of those asked for.

    Args:
        function: ``(coordinates, start)``, batched alike and elementwise over the batch.
        coordinates: (*batch, M) coordinates of the parameters.
        start: (*batch, S) start states over their scale.
        with_start: whether to differentiate in the start; if not, those slopes are empty.
        with_parameters: whether to differentiate in the parameters.

    Returns:
        The function's values, and its slopes with an axis of M, S or M + S tangents in front.
    """
    count = coordinates.shape[-1]

    def along(direction):
        rates = (
            jnp.broadcast_to(direction[:count], coordinates.shape),
            jnp.broadcast_to(direction[count:], start.shape),
        )
        return jax.jvp(function, (coordinates, start), rates)

    directions = jnp.eye(count + start.shape[-1], dtype=start.dtype)
    directions = directions[0 if with_parameters else count : None if with_start else count]
    # The roll-out itself does not depend on the direction: it is simulated once.
    return jax.vmap(along, out_axes=(None, 0))(directions)
