"""Blocks of rows give what all rows at once give."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pdsim.xla.blocks import _shares, in_blocks


@pytest.mark.parametrize(
    ("size", "backend", "on_gpu", "seen"),
    [(5, "cpu", True, 8), (None, "cpu", True, 8), (9, "cpu", True, 8), (7, "cpu", True, 8), (3, "cpu", True, 3),
     (1, "cpu", True, 1), (3, "gpu", True, 4), (None, "gpu", True, 7), (3, "cpu", False, 3),
     (3, "gpu", False, 7)],
)  # fmt: skip
def test_rows_come_back_in_order_however_many_at_a_time(size, backend, on_gpu, seen, monkeypatch):
    """A block of a GPU is here two of a CPU: seven rows are two blocks of four.

    On a CPU seven rows at once are filled up to a vector.
    """
    monkeypatch.setattr("pdsim.xla.blocks._GPU", 2)
    monkeypatch.setattr(jax, "default_backend", lambda: backend)
    counts = []

    @in_blocks(lambda shared: size, on_gpu=on_gpu)
    def function(shared, rows):
        x, y = rows
        counts.append(len(x))
        return {"sum": shared * x + y.sum(axis=1), "square": y**2}

    rng = np.random.default_rng(0)
    x, y = rng.normal(size=7), rng.normal(size=(7, 2))
    found = jax.jit(lambda rows: function(3.0, rows))((jnp.asarray(x), jnp.asarray(y)))
    np.testing.assert_allclose(found["sum"], 3.0 * x + y.sum(axis=1), rtol=1e-15)
    np.testing.assert_array_equal(found["square"], y**2)
    # One program, traced once, of so many rows.
    assert set(counts) == {seen}


@pytest.mark.parametrize(
    ("count", "block", "shape"),
    [(100, 32, (5, 24)), (100, 16, (7, 16)), (40, 16, (3, 16)), (1000, 248, (5, 200)),
     (9, 8, (2, 8)), (100, 20, (5, 20)), (50, 3, (17, 3)), (7, 3, (3, 3)), (100, 1, (100, 1))],
)  # fmt: skip
def test_blocks_are_alike_and_few_copies_fill_them(count, block, shape):
    """Where a block is whole vectors of eight, so are they; blocks themselves take as four rows."""
    assert _shares(count, block) == shape


def test_rows_may_hold_arrays_of_no_size():
    """Single shooting has no shooting variables, and particles all the same."""

    @in_blocks(lambda: 3)
    def function(rows):
        x, nothing = rows
        return 2 * x, nothing

    x, nothing = np.arange(7.0), np.zeros((7, 2, 0, 4))
    twice, none = function((jnp.asarray(x), jnp.asarray(nothing)))
    np.testing.assert_array_equal(twice, 2 * x)
    assert none.shape == nothing.shape
