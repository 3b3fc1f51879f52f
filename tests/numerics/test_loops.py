"""Sequences in one loop, one after another, are what each is alone."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pdsim.numerics.loops import carried, carried_in_turn

FRAMES = 7


def advance(carry, frame):
    """Of no meaning; the second number depends on the first as it was."""
    (a, b), (push, pull) = carry, frame
    return jnp.sin(a + push) * b, b + 0.3 * a * pull


def sequences(turns: int):
    """Starts and frames of three columns each."""
    rng = np.random.default_rng(turns)
    starts = tuple(jnp.asarray(rng.normal(size=(turns, 3))) for _ in range(2))
    frames = tuple(jnp.asarray(rng.normal(size=(turns, FRAMES, 3))) for _ in range(2))
    return starts, frames


def side_by_side(starts, frames):
    return jax.vmap(lambda start, frames: carried(advance, start, frames))(starts, frames)


@pytest.mark.parametrize("segment", [None, 4])
@pytest.mark.parametrize("turns", [1, 2, 5])
def test_values_and_slopes_are_those_side_by_side(turns, segment):
    """With seven frames a turn, segments end within turns, and leave frames over."""
    starts, frames = sequences(turns)
    weights = jax.random.normal(jax.random.key(0), (2, turns, 3))

    def compared(loop):
        def total(starts, frames):
            ends = loop(starts, frames)
            return sum(jnp.cos(w * x).sum() for w, x in zip(weights, ends, strict=True)), ends

        return jax.jit(jax.value_and_grad(total, argnums=(0, 1), has_aux=True))(starts, frames)

    found = compared(lambda starts, frames: carried_in_turn(advance, starts, frames, segment))
    expected = compared(side_by_side)
    jax.tree.map(
        lambda x, y: np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-14), found, expected
    )


def test_what_becomes_of_one_does_not_reach_the_others():
    """Neither its values nor its slopes, where they are no numbers."""
    starts, frames = sequences(3)
    frames = frames[0].at[1, 2].set(jnp.nan), frames[1]

    def ends(starts):
        return carried_in_turn(advance, starts, frames)

    values, pullback = jax.vjp(ends, starts)
    (slopes,) = pullback(jax.tree.map(jnp.ones_like, values))
    for x in (*values, *slopes):
        np.testing.assert_array_equal(np.isfinite(x).all(axis=1), [True, False, True])


def test_nothing_is_copied_at_every_frame():
    """XLA would copy whole what a pass of the loop reads and writes, with all its turns."""
    starts, frames = sequences(5)

    def total(starts, frames):
        return sum(jnp.cos(x).sum() for x in carried_in_turn(advance, starts, frames))

    program = jax.jit(jax.grad(total)).lower(starts, frames).compile().as_text()
    loops, _ = program.split("ENTRY")
    assert re.search(r"f64\[5,3\]\S* dynamic-update-slice\(", loops)
    assert not re.search(r"f64\[[56],3\]\S* copy\(", loops)
