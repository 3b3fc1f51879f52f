from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pdsim.xla.sincos import inlined_sincos, sincos


@pytest.mark.parametrize(("dtype", "reach"), [(np.float64, 1e5), (np.float32, 1e3)])
def test_agrees_with_the_c_library(dtype, reach):
    rng = np.random.default_rng(0)
    quarter = np.arange(-40, 41) * np.pi / 4
    angle = np.concatenate([rng.uniform(-reach, reach, 20000), rng.uniform(-4, 4, 20000), quarter])
    angle = angle.astype(dtype)
    sine, cosine = jax.jit(sincos)(angle)
    exact = angle.astype(np.longdouble)
    # Two units in the last place of values of order one.
    bound = 2 * np.finfo(dtype).eps
    assert sine.dtype == cosine.dtype == dtype
    assert np.abs(np.asarray(sine, np.longdouble) - np.sin(exact)).max() < bound
    assert np.abs(np.asarray(cosine, np.longdouble) - np.cos(exact)).max() < bound


@pytest.mark.parametrize("function", [inlined_sincos, sincos])
def test_derivatives_are_exact(function):
    angle = jnp.linspace(-7.0, 7.0, 101)
    _, (d_sine, d_cosine) = jax.jvp(function, (angle,), (jnp.ones_like(angle),))
    np.testing.assert_allclose(d_sine, np.cos(angle), atol=1e-15)
    np.testing.assert_allclose(d_cosine, -np.sin(angle), atol=1e-15)


def test_once_it_has_the_same_values():
    angle = jnp.linspace(-7.0, 7.0, 101)
    close = partial(np.testing.assert_allclose, rtol=0, atol=2 * np.finfo(np.float64).eps)
    jax.tree.map(close, sincos(angle), inlined_sincos(angle))


def test_what_is_not_finite_stays_so():
    sine, cosine = sincos(jnp.array([np.nan, np.inf]))
    assert np.isnan(sine).all()
    assert np.isnan(cosine).all()
