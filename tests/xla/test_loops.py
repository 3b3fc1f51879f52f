"""Sequences in one loop, one after another, are what each is alone."""

import re
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pdsim.xla.loops import carried, carried_in_turn

FRAMES = 7


def advance(shared, carry, frame):
    """Of no meaning; the second number depends on the first as it was."""
    (a, b), (push, pull) = carry, frame
    return jnp.sin(a + push) * b, b + shared * a * pull


def arguments(turns: int):
    """What is shared, starts and frames, of three columns each."""
    rng = np.random.default_rng(turns)
    starts = tuple(jnp.asarray(rng.normal(size=(turns, 3))) for _ in range(2))
    frames = tuple(jnp.asarray(rng.normal(size=(turns, FRAMES, 3))) for _ in range(2))
    return jnp.asarray(rng.normal(size=3)), starts, frames


def side_by_side(shared, starts, frames):
    return jax.vmap(lambda *turn: carried(partial(advance, shared), *turn))(starts, frames)


@pytest.mark.parametrize("segment", [None, 4])
@pytest.mark.parametrize("turns", [1, 2, 5])
def test_values_and_slopes_are_those_side_by_side(turns, segment):
    """With seven frames a turn, segments end within turns, and leave frames over."""
    weights = jax.random.normal(jax.random.key(0), (2, turns, 3))

    def compared(loop):
        def total(*arguments):
            ends = loop(*arguments)
            return sum(jnp.cos(w * x).sum() for w, x in zip(weights, ends, strict=True)), ends

        slopes = jax.jit(jax.value_and_grad(total, argnums=(0, 1, 2), has_aux=True))
        return slopes(*arguments(turns)), jax.jit(total)(*arguments(turns))

    found = compared(partial(carried_in_turn, advance, segment=segment))
    jax.tree.map(
        lambda x, y: np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-14),
        found,
        compared(side_by_side),
    )


def test_what_becomes_of_one_does_not_reach_the_others():
    """Neither its values nor its slopes, where they are no numbers."""
    shared, starts, frames = arguments(3)
    frames = frames[0].at[1, 2].set(jnp.nan), frames[1]
    values, pullback = jax.vjp(lambda x: carried_in_turn(advance, shared, x, frames), starts)
    (slopes,) = pullback(jax.tree.map(jnp.ones_like, values))
    for x in (*values, *slopes):
        np.testing.assert_array_equal(np.isfinite(x).all(axis=1), [True, False, True])


def test_slopes_copy_nothing_at_every_frame():
    """XLA would copy whole what a pass of the loop reads and writes, with all its turns."""

    def total(*arguments):
        return sum(jnp.cos(x).sum() for x in carried_in_turn(advance, *arguments))

    slopes = jax.jit(jax.grad(total, argnums=1))
    program = slopes.lower(*arguments(5)).compile().as_text()
    loops, _ = program.split("ENTRY")
    assert re.search(r"f64\[5,3\]\S* dynamic-update-slice\(", loops)
    assert not re.search(r"f64\[[56],3\]\S* copy\(", loops)
    assert len(re.findall(r" while\(", program)) == 2  # one each way
