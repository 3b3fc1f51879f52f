"""The written slope and curvature in the noise against JAX's derivatives of the filter."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pdsim.likelihood.noise_slopes import (
    Channels,
    Inferred,
    adjoint,
    curvature,
    slope,
    slope_of_kicks,
)
from pdsim.likelihood.smoother import Windows, log_likelihood, run_filter, smooth

COUNT, FRAMES, STATES, CHANNELS = 5, 6, 3, 2
# τ of the channels, Q of the states, ρ.
VARIANCES = jnp.array([0.7, 1.9, 0.3, 0.05, 1.1, 0.4])


def recording(seed):
    """Windows of one recording by channel, gaps and transitions."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(COUNT, CHANNELS, FRAMES, STATES))
    residuals = random.normal(size=(COUNT, CHANNELS, FRAMES))
    channels = Channels(
        jnp.array((residuals**2).sum(axis=2)),
        jnp.einsum("wchs,wch->wcs", rows, residuals),
        jnp.einsum("wchs,wcht->wcst", rows, rows),
    )
    gaps = jnp.array(random.normal(size=(COUNT - 1, STATES)))
    return channels, gaps, jnp.array(0.5 * random.normal(size=(COUNT - 1, STATES, STATES)))


def filtered(variances, channels, gaps, transitions, start, kicks=None):
    """With variances of channels, of pushes, of the start's last states, if any, and ρ."""
    tau, q, rho = variances[:CHANNELS], variances[CHANNELS : CHANNELS + STATES], variances[-1]
    own = variances[CHANNELS + STATES : -1]
    first = start * jnp.eye(STATES)
    places = jnp.arange(STATES - len(own), STATES)
    first = first.at[places, places].add(own)
    windows = Windows(
        *(jnp.einsum("c,wc...->w...", tau, x) for x in channels), gaps, transitions, kicks
    )
    mean = jnp.arange(STATES) / 10
    return windows, run_filter(windows, mean, first, jnp.diag(q), rho)


@pytest.mark.parametrize("kicked", [False, True])
@pytest.mark.parametrize("start", [2.0, 0.0])
@pytest.mark.parametrize(
    "inferred",
    [
        (CHANNELS, STATES, 0, 1),
        (CHANNELS, 0, 0, 0),
        (0, STATES, 0, 1),
        (0, STATES, 0, 0),
        (CHANNELS, STATES, 2, 1),
        (0, 0, 1, 0),
    ],
)
def test_slope_and_curvature_are_those_of_the_filter(inferred, start, kicked):
    data = recording(0)
    kicks = recording(1)[2] if kicked else None
    inferred = Inferred(*inferred)
    at = jnp.concatenate(
        [VARIANCES[:-1], jnp.array([0.7, 0.3])[: inferred.varying], VARIANCES[-1:]]
    )

    def loss(variances):
        return -log_likelihood(filtered(variances, *data, start, kicks)[1])

    @jax.jit
    def written(variances):
        windows, found = filtered(variances, *data, start, kicks)
        rho = variances[-1]
        swept = adjoint(windows, found, *smooth(windows, found, rho), rho)
        q = variances[CHANNELS : CHANNELS + STATES]
        given = (data[0], windows, found, swept, q, rho, inferred)
        return slope(*given), curvature(*given)

    sizes = np.array([*[0] * CHANNELS, *[1] * STATES, *[2] * inferred.varying, 3])
    kept = np.flatnonzero(np.array(inferred)[sizes] > 0)
    gradient, bent = written(at)
    np.testing.assert_allclose(gradient, jax.jit(jax.grad(loss))(at)[kept], rtol=1e-9)
    expected = jax.jit(jax.hessian(loss))(at)[np.ix_(kept, kept)]
    np.testing.assert_allclose(bent, expected, rtol=1e-9, atol=1e-9)


def test_slope_in_the_kicks_is_that_of_the_filter():
    data, kicks = recording(0), recording(1)[2]

    def loss(kicks):
        return -log_likelihood(filtered(VARIANCES, *data, 2.0, kicks)[1])

    windows, found = filtered(VARIANCES, *data, 2.0, kicks)
    rho = VARIANCES[-1]
    swept = adjoint(windows, found, *smooth(windows, found, rho), rho)
    written = slope_of_kicks(windows, found, swept, rho)
    np.testing.assert_allclose(written, jax.jit(jax.grad(loss))(kicks), rtol=1e-9, atol=1e-12)
