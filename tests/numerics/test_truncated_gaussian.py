"""Gaussians cut by a box: exact moments where they are known, far corners, thin ridges."""

import numpy as np
import pytest
from scipy import stats

from pdsim.numerics.truncated_gaussian import _moments, _Tilted, truncated_gaussian


def draw(mean, covariance, count=20_000, seed=0):
    mean = np.asarray(mean, float)
    random = np.random.default_rng(seed)
    return truncated_gaussian(
        mean, np.asarray(covariance), np.zeros(len(mean)), np.ones(len(mean)), count, random
    )


@pytest.mark.parametrize(
    ("low", "high"), [(-1, 2), (3, 300), (-200, 0.5), (-5, -4.9), (30, 31), (-1e3, 1e3)]
)
def test_moments_are_scipy_s(low, high):
    found = _moments(np.array([float(low)]), np.array([float(high)]))
    known = stats.truncnorm(low, high)
    np.testing.assert_allclose(found.mean, known.mean(), rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(found.variance, known.var(), rtol=1e-6)
    mass = stats.norm.logcdf(high) if low < -100 else np.log(stats.norm.sf(low))
    if high > 100 or low < -100:
        np.testing.assert_allclose(found.chance, mass, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("mean", [0.4, 1.0, 1.3, -3.0])
def test_one_coordinate_is_a_truncated_normal(mean):
    """The bound of a Kolmogorov-Smirnov test that fails once in a thousand samples."""
    x = draw([mean], [[0.1**2]])[:, 0]
    known = stats.truncnorm(-mean / 0.1, (1 - mean) / 0.1, mean, 0.1)
    assert stats.kstest(x, known.cdf).pvalue > 1e-3


def test_two_correlated_coordinates_have_the_moments_of_a_grid():
    mean, deviation = np.array([0.9, 0.2]), np.array([0.3, 0.4])
    covariance = np.outer(deviation, deviation) * np.array([[1, -0.9], [-0.9, 1]])
    x = draw(mean, covariance)
    side = (np.arange(500) + 0.5) / 500
    grid = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)
    weight = stats.multivariate_normal(mean, covariance).pdf(grid)
    expected = np.average(grid, axis=0, weights=weight)
    spread = np.cov(grid, rowvar=False, aweights=weight)
    # Four standard errors of the mean of 20,000 independent draws.
    error = np.abs(x.mean(axis=0) - expected) / np.sqrt(np.diag(spread) / len(x))
    assert error.max() < 4
    np.testing.assert_allclose(np.cov(x, rowvar=False), spread, rtol=0.05)


def test_far_outside_the_box_draws_fall_off_exponentially():
    """A mean 5000 deviations out: the distance to the face has mean σ²/distance."""
    x = draw([1.5, 0.5], np.diag([1e-8, 0.01]))
    assert np.mean(1 - x[:, 0]) == pytest.approx(1e-8 / 0.5, rel=0.03)
    assert x[:, 1].mean() == pytest.approx(0.5, abs=4 * 0.1 / np.sqrt(len(x)))


@pytest.mark.parametrize("seed", range(8))
def test_the_weights_are_bounded_on_thin_ridges_at_limits(seed):
    """Eleven coordinates, precisions from 1e-2 to 1e8, three held at their limits by a slope."""
    random = np.random.default_rng(seed)
    axes, _ = np.linalg.qr(random.normal(size=(11, 11)))
    covariance = (axes / 10 ** random.uniform(-2, 8, 11)) @ axes.T
    mean = random.uniform(size=11)
    mean[:3] = 0, 1, 0
    slope = np.zeros(11)
    slope[:3] = np.array([-1, 1, -1]) * 10 ** random.uniform(-1, 3, 3)
    mean = mean + covariance @ slope
    tilted = _Tilted.build(covariance, -mean, 1 - mean)
    z, weight = tilted.propose(random.uniform(size=(11, 2000)))
    # By rounding: log weights are small differences of squares of thousands of deviations.
    assert weight.max() <= tilted.largest + 1e-3
    assert np.exp(weight - tilted.largest).mean() > 0.02
    x = mean + tilted.restore(z)
    assert x.min() > -1e-6
    assert x.max() < 1 + 1e-6


def test_same_generator_same_draws():
    covariance = np.diag([0.1, 0.2])
    np.testing.assert_array_equal(*(draw([0.2, 1.4], covariance, 50) for _ in range(2)))
    assert not np.array_equal(draw([0.2, 1.4], covariance, 50), draw([0.2, 1.4], covariance, 50, 1))
