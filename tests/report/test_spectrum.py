"""Combinations from the spectrum: those that were put in, and none where there is none."""

import numpy as np
import pytest

from pdsim.parameters.space import Parameter, ParameterSpace
from pdsim.report.spectrum import identified

UNITS = ("kg", "m", "s", "kg m^2")


def space(count, lower=0.1, scale="log", units=UNITS):
    return ParameterSpace(
        tuple(
            Parameter(f"p{i}", lower, 10.0, units[i % len(units)], scale=scale)
            for i in range(count)
        )
    )


def box(rng, count, size):
    """Coordinates of a flat prior, in [−1, 1]."""
    return rng.uniform(-1, 1, size=(count, size))


def narrowed(coordinates, weights, share):
    """The same with the combination of these weights as narrow as a share of the prior's."""
    axis = np.asarray(weights) / np.linalg.norm(weights)
    return coordinates - np.outer(coordinates @ axis, axis) * (1 - share)


@pytest.mark.parametrize(
    ("weights", "text"),
    [
        ((1, -1, 0, 0), "p0/p1"),
        ((0, 1, 1, 0), "p1*p2"),
        ((2, 0, 0, -1), "p0**2/p3"),
        ((1, -2, 1, 0), "p0*p2/p1**2"),
    ],
)
def test_a_product_of_powers_is_found_with_its_spread(weights, text):
    rng = np.random.default_rng(0)
    prior = np.exp(box(rng, 200, 4))
    draws = np.exp(narrowed(box(rng, 200, 4), weights, 0.03))
    found, *more = identified(space(4), draws, prior)
    assert more == []
    assert found.text == text
    assert found.spread == pytest.approx(0.03, rel=0.2)
    # The members alone are nearly as wide as before: of two or three, each is most of the box.
    assert found.alone > 0.4


@pytest.mark.parametrize(("weights", "text"), [((1, 1, 0), "p0 + p1"), ((-1, 2, 0), "p0 - 2*p1")])
def test_a_sum_is_found_among_parameters_of_one_unit_alone(weights, text):
    rng = np.random.default_rng(0)
    prior, draws = box(rng, 200, 3), narrowed(box(rng, 200, 3), weights, 0.03)
    same = space(3, lower=-1.0, scale="linear", units=("kg", "kg", "m"))
    (found,) = identified(same, draws, prior)
    assert found.text == text
    mixed = space(3, lower=-1.0, scale="linear", units=("kg", "m", "s"))
    assert identified(mixed, draws, prior) == []


def test_two_ratios_of_three_are_told_and_not_the_third_that_they_make_up():
    """As of masses that free motion determines up to a common factor."""
    rng = np.random.default_rng(0)
    prior, common = box(rng, 300, 3), box(rng, 300, 1)
    draws = common + [0.02, 0.03, 0.04] * rng.normal(size=(300, 3))
    found = identified(space(3), np.exp(draws), np.exp(prior))
    assert [one.text for one in found] == ["p0/p1", "p0/p2"]


def test_powers_are_ratios_of_small_whole_numbers_and_weights_of_a_sum_have_two_digits():
    rng = np.random.default_rng(0)
    prior = box(rng, 300, 2)
    fine, rough = (narrowed(box(rng, 300, 2), (1, -0.37), share) for share in (0.01, 0.1))
    assert identified(space(2), np.exp(fine), np.exp(prior)) == []
    assert identified(space(2), np.exp(rough), np.exp(prior))[0].text == "p0**3/p1"
    sums = space(2, lower=-1.0, scale="linear", units=("kg",))
    assert identified(sums, fine, prior)[0].text == "p0 - 0.37*p1"


@pytest.mark.parametrize("draws", [20, 100])
def test_parameters_that_have_nothing_to_do_with_each_other_have_no_combination(draws):
    rng = np.random.default_rng(0)
    for count in (4, 12):
        for _ in range(10):
            prior = np.exp(box(rng, draws, count))
            own = np.exp(rng.normal(size=(draws, count)) * rng.uniform(0.01, 0.6, size=count))
            assert identified(space(count), own, prior) == []


def test_parameters_that_are_known_alone_need_no_combination():
    rng = np.random.default_rng(0)
    prior, draws = np.exp(box(rng, 200, 2)), np.exp(0.3 * narrowed(box(rng, 200, 2), (1, -1), 0.1))
    assert identified(space(2), draws, prior) == []


def test_without_a_prior_or_with_few_draws_nothing_is_found():
    rng = np.random.default_rng(0)
    prior, draws = np.exp(box(rng, 200, 2)), np.exp(narrowed(box(rng, 200, 2), (1, -1), 0.03))
    assert identified(space(2), draws, prior)
    assert identified(space(2), draws, None) == []
    assert identified(space(2), draws[:10], prior) == []
    assert identified(space(2), np.repeat(draws[:10], 20, axis=0), prior) == []
    # Of a prior along a line there is nothing to narrow across it.
    assert identified(space(2), draws, np.exp(np.repeat(box(rng, 200, 1), 2, axis=1))) == []
    assert identified(space(1), draws[:, :1], prior[:, :1]) == []
