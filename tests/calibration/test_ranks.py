"""Ranks of draws whose law is known, and the level of the band."""

import numpy as np
import pytest

from pdsim.calibration.ranks import band, bin_count, ecdf_difference, histogram, rank, summarise

COUNT, NUMBER = 99, 200


def ranks_of(*, shift=0.0, width=1.0, number=NUMBER, seed=0):
    """Ranks with draws N(shift, width²) in place of a posterior N(0, 1), (number, 1)."""
    random = np.random.default_rng(seed)
    return np.stack(
        [
            rank(random.normal(size=1), shift + width * random.normal(size=(150, 1)), COUNT, random)
            for _ in range(number)
        ]
    )[:, 0]


@pytest.mark.parametrize(("number", "count"), [(NUMBER, COUNT), (50, 19)])
def test_the_band_holds_all_of_a_uniform_set_with_its_share(number, count):
    """Simulated again, with other random numbers than the band's own."""
    sets = np.random.default_rng(7).integers(0, count + 1, size=(4000, number))
    found = band(number, count)
    held = np.mean([found.holds(ecdf_difference(ranks, count)) for ranks in sets])
    # Monte Carlo: √(0.05 · 0.95/4000) = 0.0034 here, 0.0015 in the band; steps of the counts.
    assert 0.94 < held < 0.97
    assert found.level < 0.05


def test_ranks_of_exact_draws_are_uniform():
    found = summarise(ranks_of(), COUNT)
    assert found.inside
    assert found.p_value > 0.01
    assert found.mean == pytest.approx(0.5, abs=0.06)
    assert found.spread == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize(
    ("wrong", "mean", "spread"),
    [
        ({"width": 0.6}, 0.5, 1.25),
        ({"width": 1.7}, 0.5, 0.75),
        ({"shift": 0.5}, 0.36, 1.05),
    ],
    ids=["too narrow", "too wide", "too high"],
)
def test_wrong_draws_are_outside(wrong, mean, spread):
    found = summarise(ranks_of(**wrong), COUNT)
    assert not found.inside
    assert found.p_value < 1e-3
    assert found.mean == pytest.approx(mean, abs=0.07)
    assert found.spread == pytest.approx(spread, abs=0.12)


def test_ties_are_broken_at_random():
    random = np.random.default_rng(0)
    draws = np.repeat([[0.0], [1.0]], [4, 5], axis=0)
    found = [rank(np.zeros(1), draws, 9, random)[0] for _ in range(300)]
    assert set(found) == {0, 1, 2, 3, 4}


def test_chains_are_thinned_evenly():
    draws = np.arange(100.0)[:, None]
    found = rank(np.array([49.5]), draws, 10, np.random.default_rng(0), chains=True)
    assert found.tolist() == [5]


def test_histograms_have_bins_of_equal_size():
    assert bin_count(200, 99) == 20
    assert bin_count(30, 99) == 5
    assert histogram(np.arange(100), 99, 20).tolist() == [5] * 20
