"""Importance sampling: weights, their Pareto tail, and csvgd's particles as a proposal."""

import arviz
import numpy as np
import pytest
from inference.targets import build, correlated, gaussian
from scipy import stats

from pdsim.inference import importance
from pdsim.inference.runner import run


@pytest.mark.parametrize("width", [1.5, 1.0, 0.7, 0.5])
def test_pareto_smoothing_is_arviz_s(width):
    """Weights of a normal target under a normal proposal, wide enough and too narrow."""
    x = width * np.random.default_rng(0).normal(size=3000)
    log_weight = stats.norm.logpdf(x) - stats.norm.logpdf(x, scale=width)
    if width == 1.0:
        log_weight = log_weight + 0.1 * np.random.default_rng(1).normal(size=len(x))
    found, shape = importance.smoothed(log_weight)
    expected, expected_shape = arviz.psislw(log_weight)
    assert shape == pytest.approx(float(expected_shape), abs=0.02)
    np.testing.assert_allclose(np.exp(found), np.exp(expected), atol=1e-3)
    if width < 1:
        # The weights' tail has the shape 1 − width².
        assert shape == pytest.approx(1 - width**2, abs=0.15)


def test_a_proposal_that_misses_the_target_is_told():
    """Weights whose tail has no mean."""
    x = 0.3 * np.random.default_rng(0).normal(size=3000)
    log_weight = stats.norm.logpdf(x, loc=1.0) - stats.norm.logpdf(x, scale=0.3)
    assert importance.smoothed(log_weight)[1] > 0.7


def test_mixture_densities_are_those_of_multivariate_t():
    random = np.random.default_rng(0)
    mean, a = random.normal(size=(2, 3)), random.normal(size=(2, 3, 3))
    covariance = a @ np.swapaxes(a, 1, 2) + np.eye(3)
    mixture = importance.equal_mixture(mean, covariance)
    z = random.normal(size=(5, 3))
    parts = [stats.multivariate_t(m, c, df=5).pdf(z) for m, c in zip(mean, covariance, strict=True)]
    np.testing.assert_allclose(np.exp(mixture.log_density(z)), np.mean(parts, axis=0))
    drawn = mixture.sample(200_000, random)
    assert np.abs(drawn.mean(axis=0) - mean.mean(axis=0)).max() < 0.03
    joined = mixture.joined(mixture, 0.3)
    np.testing.assert_allclose(joined.log_density(z), mixture.log_density(z))


def test_flattening_leaves_the_size_that_is_asked_for():
    log_weight = 10 * np.random.default_rng(0).normal(size=1000)
    # A sample without density has no weight, however flat the others'.
    log_weight[0] = -np.inf
    weight, power = importance.flattened(log_weight, 100)
    assert 1 / (weight**2).sum() == pytest.approx(100, rel=1e-3)
    assert weight.sum() == pytest.approx(1)
    assert weight[0] == 0
    assert power < 1
    assert importance.flattened(power * log_weight, 50)[1] == 1


def test_samples_without_a_weight_have_none_at_any_power():
    """And 0 · −∞, which is met where no power is flat enough, warns nobody."""
    log_weight = np.array([0.0, -np.inf, -1e6, -np.inf])
    with np.errstate(invalid="raise"):
        weight, power = importance.flattened(log_weight, 3)
    assert power == 0
    np.testing.assert_allclose(weight, [0.5, 0, 0.5, 0])


def test_resampling_repeats_a_sample_as_often_as_its_weight_says():
    weight = np.array([0.1, 0.0, 0.55, 0.35])
    with np.errstate(divide="ignore"):
        chosen = importance.resampled(np.log(weight), 100, np.random.default_rng(0))
    np.testing.assert_allclose(np.bincount(chosen, minlength=4) / 100, weight, atol=0.011)


def test_reweighted_particles_have_the_spread_that_a_kernel_does_not_give():
    """Ten dimensions and forty particles: those of the descent alone are far too narrow."""
    count = 10
    covariance = correlated(count, 0.03)
    problem = gaussian(np.full(count, 0.5), covariance)
    deviation = np.sqrt(np.diag(covariance))
    estimator = build("csvgd", particles=40, iterations=600)
    result = run(estimator, problem, seed=0, chunk_size=300)
    particles = np.asarray(result.state.particles.position.parameters)
    assert np.median(particles.std(axis=0) / deviation) < 0.8
    samples = result.state.samples
    log_weight, _ = importance.smoothed(samples.log_weight)
    weight, x = np.exp(log_weight), np.asarray(estimator.target(problem).position(samples.z)[0])
    mean = weight @ x
    spread = np.sqrt(weight @ (x - mean) ** 2) / deviation
    assert np.abs((mean - 0.5) / deviation).max() < 0.1
    assert np.abs(spread - 1).max() < 0.08
    # Forty draws have deviations right to 11 %, and the mean of ten of these to 4 %.
    draws = np.asarray(estimator.draws(problem, result.state).parameters)
    assert (draws.std(axis=0) / deviation).mean() == pytest.approx(1.0, abs=0.12)
    convergence = estimator.convergence(problem, result.state)
    assert convergence["pareto_k"][0] < 0.5
    effective = result.history["effective"]
    assert np.isnan(effective[0])
    assert effective[-1] > 0.3
    assert result.history["evaluations"].sum() <= 40 * 600


def test_a_run_that_was_cut_goes_on_as_if_it_was_not(tmp_path):
    problem = gaussian([0.5, 0.4], np.diag([0.05, 0.08]) ** 2)
    estimator = build("csvgd", particles=40, iterations=60)
    whole = run(estimator, problem, seed=1, chunk_size=60)
    parts = run(estimator, problem, seed=1, chunk_size=7, checkpoint=tmp_path / "c.npz")
    np.testing.assert_array_equal(
        estimator.draws(problem, whole.state).parameters,
        estimator.draws(problem, parts.state).parameters,
    )
