"""How far roll-outs of shooting windows are from recordings, without storing them."""

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from pdsim.systems.rollout import advanced, turned
from pdsim.systems.system import System
from pdsim.xla.loops import carried_in_turn
from pdsim.xla.pairs import in_pairs


def squared_error(
    system: System,
    prepared: Any,
    start: jax.Array,
    inputs: tuple[jax.Array, ...],
    observed: tuple[tuple[jax.Array, jax.Array], ...],
    *,
    first_time: jax.Array,
    frame_time: float,
    substeps: int = 1,
    active: jax.Array | None = None,
    segment: int | None = None,
    in_turn: bool = False,
) -> tuple[jax.Array, jax.Array]:
    """Sum of squared residuals of each window, Σ_t Σ_channel ((x_sim − x_obs)/σ)².

    Args:
        prepared: what ``system.prepare`` returned, with (particle,) in front.
        start: state vectors (particle, recording, window, S).
        inputs: one (frame, recording, window) array for each of the system's; entry k acts from
            frame k to k + 1.
        observed: one pair ``(target, inverse)`` of (frame, recording, window) arrays per channel:
            the observation and one over its standard deviation, zero where nothing was observed.
        first_time: (window,) of the starts [s].
        frame_time: time between frames [s].
        substeps: steps per frame.
        active: (frame, recording, window) whether a frame is within the recording; None if all are.
        segment: frames between two states that a gradient keeps; see ``carried``.
        in_turn: whether windows are simulated one after another, and not side by side. The numbers
            that a step of many particles makes are then those of one window, which a cache holds.

    Returns:
        ``(sum, end)``: (particle, recording, window), and the end states, shaped as the start.
    """
    frames, *shape = observed[0][0].shape
    windows = math.prod(shape)
    turns, rows = (windows, 1) if in_turn else (1, windows)

    def in_rows(x):
        """(frame, recording, window) → (turn, frame, row)."""
        return jnp.swapaxes(x.T.reshape(turns, rows, frames), 1, 2)

    def in_columns(x):
        """(particle, recording, window, …) → (turn, row, particle, …)."""
        return turned(x).reshape(turns, rows, len(x), *x.shape[3:])

    def in_windows(x):
        """Back from ``in_columns``."""
        return turned(x.reshape(*shape[::-1], *x.shape[2:]))

    def error(prepared, state, targets):
        shown = system.observe(state, prepared)
        misses = ((w * (x - y)) ** 2 for x, (y, w) in zip(shown, targets, strict=True))
        return sum(misses, start=jnp.zeros((), start.dtype))

    def move(prepared, state, drive):
        return advanced(system, state, drive, prepared, frame_time, substeps)

    errors, moved = _by_column(error), _by_column(move)
    # Without copies for all rows the transpose of every step would sum over them.
    prepared = jax.tree.map(lambda x: jnp.broadcast_to(x, (rows, *x.shape)), prepared)
    pairs, apart = in_pairs(prepared, batch=2)

    def advance(pairs, column, frame):
        (state, total), (drive, targets) = column, frame
        prepared = apart(pairs)
        # Seen before it moves: what a step and the observation both need is computed once.
        total = total + errors(prepared, state, targets)
        return moved(prepared, state, drive), total

    if system.large_steps:
        advance = jax.checkpoint(advance, prevent_cse=False)
    times = (first_time + frame_time * jnp.arange(frames)[:, None]).astype(start.dtype)
    times = jnp.broadcast_to(times[:, None], (frames, *shape))
    drive = jax.tree.map(in_rows, (inputs, times, active))
    targets = jax.tree.map(in_rows, observed)
    # The start itself is not compared.
    before = jax.tree.map(
        lambda x: jnp.concatenate([jnp.zeros_like(x[:, :1]), x[:, :-1]], axis=1), targets
    )
    columns = in_columns(start)
    starts = _by_element(system.unpack)(columns), jnp.zeros(columns.shape[:3], start.dtype)
    ends, total = carried_in_turn(advance, pairs, starts, (drive, before), segment)
    last = jax.tree.map(lambda x: x[:, -1], targets)
    total = total + jax.vmap(errors, (None, 0, 0))(apart(pairs), ends, last)
    return in_windows(total), in_windows(_by_element(system.pack)(ends))


def _by_element(function: Callable) -> Callable:
    """Batch a function of one state over (turn, row, particle)."""
    return jax.vmap(jax.vmap(jax.vmap(function)))


def _by_column(function: Callable) -> Callable:
    """Batch ``(prepared, state, data)`` over (row, particle), and data over rows alone.

    Particles innermost: they share the recordings, so a compiled loop along them reads one number
    of a recording; along windows, of which there are few, it would read others each time.
    """
    return jax.vmap(jax.vmap(function, (0, 0, None)))
