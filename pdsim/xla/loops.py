"""Loops through several sequences, and how much of one reverse mode keeps."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp


def carried(advance: Callable, carry: Any, frames: Any, segment: int | None = None) -> Any:
    """Carry a state through a sequence.

    Args:
        advance: ``(carry, frame)``; returns the carry after the frame.
        carry: the first.
        frames: a tree of arrays with (frame,) in front.
        segment: frames between two carries that reverse mode keeps; it computes those between
            again. None: it keeps what it needs of every frame.

    Returns:
        The carry after all frames.
    """

    def scanned(carry, frames):
        return jax.lax.scan(lambda x, frame: (advance(x, frame), None), carry, frames)

    count = len(jax.tree.leaves(frames)[0])
    if segment is not None and segment < count:
        whole = count // segment * segment
        parts = jax.tree.map(lambda x: x[:whole].reshape(-1, segment, *x.shape[1:]), frames)
        carry, _ = jax.lax.scan(jax.checkpoint(scanned), carry, parts)
        frames = jax.tree.map(lambda x: x[whole:], frames)
    return scanned(carry, frames)[0]


def carried_in_turn(
    advance: Callable, shared: Any, starts: Any, frames: Any, segment: int | None = None
) -> Any:
    """Carry one state after another, each through a sequence of its own.

    What ``vmap`` of ``carried`` returns, of which a cache need hold what one state makes.

    Args:
        advance: ``(shared, carry, frame)``; returns the carry after the frame. Slopes are taken of
            its arguments alone.
        shared: a tree of arrays.
        starts: a tree of arrays with (turn,) in front.
        frames: a tree of arrays with (turn, frame) in front.
        segment: as in ``carried``, of all turns in one sequence.

    Returns:
        The last carries, (turn,) in front.
    """
    if len(jax.tree.leaves(frames)[0]) > 1:
        return _in_turn(advance, segment, shared, starts, frames)
    start, own = jax.tree.map(lambda x: x[0], (starts, frames))
    end = carried(partial(advance, shared), start, own, segment)
    return jax.tree.map(lambda x: x[None], end)


@partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def _in_turn(advance, segment, shared, starts, frames):
    del segment
    return jax.lax.map(lambda turn: carried(partial(advance, shared), *turn), (starts, frames))


def _in_one_loop(advance, segment, shared, starts, frames):
    """The same for slopes: reverse mode of a loop within a loop would write all it keeps twice."""
    turns, count = jax.tree.leaves(frames)[0].shape[:2]
    flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), frames)
    turn = jnp.repeat(jnp.arange(turns), count)
    last = jnp.tile(jnp.arange(count) == count - 1, turns)

    def onward(carry, frame):
        (state, *sides), (x, bound) = carry, frame
        return _handed_over(advance(shared, state, x), *sides, *bound)

    def moved_up(x):
        nothing = jnp.zeros_like(x[:1])
        return jnp.concatenate([x[1:], nothing, nothing])

    # Who comes next: none after the last; and a row for slopes that are no start's.
    following, ends = jax.tree.map(moved_up, starts), jax.tree.map(jnp.zeros_like, starts)
    carry = jax.tree.map(lambda x: x[0], starts), following, ends
    bound = turn, jnp.where(last, turn, turns), last
    return carried(onward, carry, (flat, bound), segment)[2]


_in_turn.defvjp(
    lambda advance, segment, *arguments: jax.vjp(
        partial(_in_one_loop, advance, segment), *arguments
    ),
    lambda _advance, _segment, pullback, slopes: pullback(slopes),
)


def _put(rows, row, place):
    # An index of ``at`` would be compared with how many there are, at every frame.
    return jax.lax.dynamic_update_index_in_dim(rows, row, place, 0)


@jax.custom_vjp
def _handed_over(state, following, ends, turn, place, last):
    """Note where a state is, and go on with the next start after the last frame.

    Neither way reads an array that it writes to, which XLA would copy each time: ends are written
    at every frame and the last remains, slopes of starts to ``place``, which is the turn where a
    start is taken and a row that nobody reads elsewhere.
    """
    del place
    ends = jax.tree.map(lambda x, y: _put(x, y, turn), ends, state)
    return jax.tree.map(lambda x, y: jnp.where(last, x[turn], y), following, state), following, ends


def _transposed(bound, slopes):
    turn, place, last = bound
    of_state, of_following, of_ends = slopes
    of_following = jax.tree.map(lambda x, y: _put(x, y, place), of_following, of_state)
    # A frame that is not the last is written over by the one behind it.
    of_state = jax.tree.map(lambda x, y: jnp.where(last, x[turn], y), of_ends, of_state)
    return of_state, of_following, of_ends, None, None, None


_handed_over.defvjp(lambda *arguments: (_handed_over(*arguments), arguments[3:]), _transposed)
