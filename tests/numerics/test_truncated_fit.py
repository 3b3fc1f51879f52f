"""The Gaussian behind draws that a box has cut."""

import numpy as np
import pytest

from pdsim.numerics.truncated_fit import truncated_fit
from pdsim.numerics.truncated_gaussian import truncated_gaussian

DEVIATION = np.array([0.1, 0.06])
CORRELATION = np.array([[1.0, 0.6], [0.6, 1.0]])
COVARIANCE = CORRELATION * np.outer(DEVIATION, DEVIATION)
LOWER, UPPER = np.zeros(2), np.ones(2)


def cut(mean, covariance):
    return truncated_gaussian(mean, covariance, LOWER, UPPER, 20_000, np.random.default_rng(1))


def moments(draws):
    return draws.mean(axis=0), np.cov(draws, rowvar=False).reshape(draws.shape[1], -1)


def test_moments_far_from_the_box_are_those_of_the_gaussian():
    mean = np.array([0.5, 0.4])
    found = truncated_fit(mean, COVARIANCE, LOWER, UPPER)
    np.testing.assert_array_equal(found[0], mean)
    np.testing.assert_array_equal(found[1], COVARIANCE)


def test_a_gaussian_that_a_limit_halves_is_found():
    """Its own moments say a mean 0.8 deviations further in, and 0.6 of the deviation."""
    mean = np.array([0.0, 0.4])
    found, covariance = truncated_fit(*moments(cut(mean, COVARIANCE)), LOWER, UPPER)
    assert np.abs((found - mean) / DEVIATION).max() < 0.15
    assert np.abs(covariance / np.outer(DEVIATION, DEVIATION) - CORRELATION).max() < 0.15


def test_the_tail_of_a_gaussian_has_its_moments_again():
    """Of a tail mean and width trade off; what is left inside does not."""
    draws = cut(np.array([-0.1, 0.4]), COVARIANCE)
    again = cut(*truncated_fit(*moments(draws), LOWER, UPPER))
    deviation = draws.std(axis=0)
    assert np.abs((again.mean(axis=0) - draws.mean(axis=0)) / deviation).max() < 0.05
    difference = np.cov(again, rowvar=False) - np.cov(draws, rowvar=False)
    assert np.abs(difference / np.outer(deviation, deviation)).max() < 0.08


def test_draws_all_over_the_box_stay_so():
    """Not cut, the Gaussian of these moments would leave 0.66 of the variance inside."""
    draws = np.random.default_rng(2).uniform(size=(5000, 2))
    found, covariance = truncated_fit(*moments(draws), LOWER, UPPER)
    again = truncated_gaussian(found, covariance, LOWER, UPPER, 5000, np.random.default_rng(3))
    assert np.abs(again.mean(axis=0) - 0.5).max() < 0.02
    assert np.abs(again.var(axis=0) * 12 - 1).max() < 0.08


def test_draws_heaped_on_a_limit_stay_there():
    draws = np.random.default_rng(4).exponential(0.05, size=(5000, 1))
    found, covariance = truncated_fit(*moments(draws), np.zeros(1), np.ones(1))
    again = truncated_gaussian(
        found, covariance, np.zeros(1), np.ones(1), 5000, np.random.default_rng(5)
    )
    assert again.mean() == pytest.approx(0.05, rel=0.05)
    assert again.std() == pytest.approx(0.05, rel=0.1)


def test_what_no_gaussian_is_like_is_told(caplog):
    draws = np.random.default_rng(6).beta(0.2, 0.2, size=(2000, 1))
    truncated_fit(*moments(draws), np.zeros(1), np.ones(1))
    assert "no Gaussian cut by the limits" in caplog.text
