"""R-hat and effective sample sizes beside ArviZ's, on chains of all kinds."""

import arviz
import numpy as np
import pytest

from pdsim.inference.convergence import bulk_sample_size, r_hat


def chains(chain_count: int, length: int, correlation: float, apart: float = 0.0) -> np.ndarray:
    """Autoregressive chains whose means are ``apart``, (chain, draw, 2)."""
    random = np.random.default_rng([chain_count, length])
    x = random.normal(size=(chain_count, length, 2))
    for i in range(1, length):
        x[:, i] = correlation * x[:, i - 1] + np.sqrt(1 - correlation**2) * x[:, i]
    return x + apart * random.normal(size=(chain_count, 1, 2))


@pytest.mark.parametrize("chain_count", (2, 5, 12))
@pytest.mark.parametrize("length", (8, 9, 37, 200))
@pytest.mark.parametrize("correlation", (-0.6, 0.0, 0.9))
@pytest.mark.parametrize("apart", (0.0, 2.0))
def test_both_are_arviz_s(chain_count, length, correlation, apart):
    x = chains(chain_count, length, correlation, apart)
    expected = [[float(of(x[..., i])) for i in range(2)] for of in (arviz.rhat, arviz.ess)]
    np.testing.assert_allclose(r_hat(x), expected[0], rtol=1e-12)
    np.testing.assert_allclose(bulk_sample_size(x), expected[1], rtol=1e-12)


def test_equal_draws_share_their_rank():
    x = np.round(chains(4, 60, 0.5), 0)
    np.testing.assert_allclose(r_hat(x)[0], float(arviz.rhat(x[..., 0])), rtol=1e-12)


def test_one_chain_is_compared_with_itself():
    x = chains(1, 400, 0.0)
    drifting = x + np.linspace(0, 3, 400)[None, :, None]
    assert (r_hat(x) < 1.02).all() and (r_hat(drifting) > 1.3).all()
    assert bulk_sample_size(x)[0] == pytest.approx(float(arviz.ess(x[..., 0])), rel=1e-12)


def test_what_is_no_number_has_none():
    x = chains(4, 50, 0.0)
    x[0, 0, 0] = np.nan
    assert np.isnan(r_hat(x)[0]) and np.isnan(bulk_sample_size(x)[0])
    assert np.isfinite(r_hat(x)[1]) and np.isfinite(bulk_sample_size(x)[1])
    still = np.zeros((4, 50, 1))
    assert np.isnan(r_hat(still)).all() and np.isnan(bulk_sample_size(still)).all()
