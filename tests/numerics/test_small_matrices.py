"""Inverses of small matrices against LAPACK's, one by one."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pdsim.numerics.small_matrices import inverse_and_log_determinant

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("size", [1, 2, 4, 9])
def test_inverse_and_determinant_are_lapack_s(size):
    matrices = RNG.normal(size=(50, size, size))
    found, log_determinant = jax.vmap(inverse_and_log_determinant)(jnp.asarray(matrices))
    np.testing.assert_allclose(found @ matrices, np.tile(np.eye(size), (50, 1, 1)), atol=1e-9)
    np.testing.assert_allclose(log_determinant, np.linalg.slogdet(matrices)[1], rtol=1e-10)


def test_a_leading_zero_needs_a_row_from_below():
    matrix = jnp.array([[0.0, 2.0, 1.0], [1.0, 0.0, 3.0], [2.0, 1.0, 0.0]])
    found, _ = inverse_and_log_determinant(matrix)
    np.testing.assert_allclose(found, np.linalg.inv(matrix), atol=1e-14)


def test_a_singular_matrix_gives_no_finite_number():
    found, log_determinant = inverse_and_log_determinant(jnp.ones((2, 2)))
    assert not np.isfinite(found).all()
    assert log_determinant == -np.inf


def test_derivatives_are_finite_differences():
    matrix, direction = jnp.asarray(RNG.normal(size=(2, 4, 4)))

    def f(t):
        inverse, log_determinant = inverse_and_log_determinant(matrix + t * direction)
        return jnp.append(inverse.ravel(), log_determinant)

    step = 1e-6
    expected = (f(step) - f(-step)) / (2 * step)
    np.testing.assert_allclose(jax.jacfwd(f)(0.0), expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(jax.jacrev(f)(0.0), expected, rtol=1e-6, atol=1e-6)
    second = jax.jacfwd(jax.jacrev(f))(0.0)
    expected = (jax.jacfwd(f)(step) - jax.jacfwd(f)(-step)) / (2 * step)
    np.testing.assert_allclose(second, expected, rtol=1e-5, atol=1e-5)
