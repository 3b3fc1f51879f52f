"""Blocks of rows give what all rows at once give."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pdsim.runtime.blocks import in_blocks


@pytest.mark.parametrize(("size", "seen"), [(None, 7), (9, 7), (7, 7), (3, 3), (1, 1)])
def test_rows_come_back_in_order_however_many_at_a_time(size, seen):
    counts = []

    @in_blocks(lambda shared: size)
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
