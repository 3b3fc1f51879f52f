"""The cross-entropy method's own ground; its posteriors are tested with all others'."""

import numpy as np
import pytest
from inference.targets import build, gaussian
from scipy.stats import multivariate_normal
from threadpoolctl import threadpool_info, threadpool_limits

from pdsim.inference.cem import Cem, Mixture, fitted
from pdsim.inference.runner import run


def test_small_matrices_are_left_to_one_thread(monkeypatch):
    """With two, which wait for one another, a run on a busy machine took six times as long."""
    seen, fit = [], Cem._fit

    def told(*arguments):
        seen.extend(x["num_threads"] for x in threadpool_info() if x["user_api"] == "blas")
        return fit(*arguments)

    monkeypatch.setattr(Cem, "_fit", told)
    problem = gaussian(np.array([0.4, 0.7]), np.diag([0.02, 0.01]))
    with threadpool_limits(2, user_api="blas"):
        run(build("cem", particles=20, iterations=3), problem, seed=0, chunk_size=10, report=False)
        assert all(x["num_threads"] == 2 for x in threadpool_info() if x["user_api"] == "blas")
    assert seen and set(seen) == {1}


def mixture(full, *shape):
    """Three components in two dimensions; several mixtures with a shape."""
    random = np.random.default_rng(0)
    root = random.normal(size=(*shape, 3, 2, 2))
    covariance = root @ np.swapaxes(root, -1, -2) + 0.1 * np.eye(2)
    if not full:
        covariance = np.diagonal(covariance, axis1=-2, axis2=-1)
    weight = random.dirichlet(np.ones(3), size=shape)
    return Mixture(np.log(weight), random.normal(size=(*shape, 3, 2)), covariance)


@pytest.mark.parametrize("full", [False, True])
def test_densities_of_several_mixtures_are_scipy_s(full):
    several, z = mixture(full, 4), np.random.default_rng(1).normal(size=(5, 2))
    found = several.log_densities(z)
    for i in range(4):
        for k in range(3):
            covariance = several.covariance[i, k]
            matrix = covariance if full else np.diag(covariance)
            expected = multivariate_normal(several.mean[i, k], matrix).logpdf(z)
            np.testing.assert_allclose(found[i, k], several.log_weight[i, k] + expected)


@pytest.mark.parametrize("full", [False, True])
def test_a_fit_of_one_component_is_the_sample_s_moments(full):
    start = Mixture(*(part[:1] for part in mixture(full)))
    z = np.random.default_rng(2).normal(size=(50, 2)) @ [[1.0, 0.5], [0.0, 2.0]]
    found = fitted(start, z)
    expected = np.cov(z, rowvar=False, bias=True)
    np.testing.assert_allclose(found.mean[0], z.mean(axis=0))
    np.testing.assert_allclose(found.covariance[0], expected if full else np.diag(expected))


@pytest.mark.parametrize("full", [False, True])
def test_no_step_of_a_fit_makes_the_sample_less_likely(full):
    first, second = np.random.default_rng(3).normal(size=(2, 100, 2))
    z, likely = np.concatenate([first, 3 + 0.5 * second]), []
    found = mixture(full)
    for _ in range(6):
        likely.append(np.logaddexp.reduce(found.log_densities(z), axis=0).mean())
        found = fitted(found, z)
    assert (np.diff(likely) > -1e-9).all()
    assert likely[-1] > likely[0] + 0.5
