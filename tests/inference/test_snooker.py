import emcee
import numpy as np
import pytest

from pdsim.inference.snooker import SnookerMove


@pytest.mark.parametrize("dimension", [2, 6])
def test_a_gaussian_stays_as_it_is(dimension):
    """Walkers that start as exact draws remain such: deviations 1, correlations a half.

    What each move alone must leave alone; that of emcee 3.1.6 shrinks the variances by 9 % and by
    a third here.
    """
    covariance = 0.5 * np.eye(dimension) + 0.5
    precision = np.linalg.inv(covariance)

    def log_density(x):
        return -0.5 * np.einsum("ni,ij,nj->n", x, precision, x)

    start = np.random.default_rng(0).multivariate_normal(np.zeros(dimension), covariance, 800)
    sampler = emcee.EnsembleSampler(
        len(start), dimension, log_density, moves=SnookerMove(), vectorize=True
    )
    sampler.random_state = np.random.RandomState(1).get_state()
    sampler.run_mcmc(start, 400)
    assert 0.2 < sampler.acceptance_fraction.mean() < 0.6
    # About ten thousand independent draws or more: 1.5 % for a variance.
    found = np.cov(sampler.get_chain(discard=100, flat=True), rowvar=False)
    assert np.abs(found - covariance).max() < 0.05
