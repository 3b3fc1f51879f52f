"""Each metric against a closed form or a case worked out by hand."""

import numpy as np
import pytest
from scipy import special, stats
from scipy.spatial import distance

from pdsim.metrics.coverage import coverage
from pdsim.metrics.credible_rank import credible_rank
from pdsim.metrics.distance import pair_distances
from pdsim.metrics.energy_score import energy_score
from pdsim.metrics.kl import kl_divergence
from pdsim.metrics.log_likelihood import log_likelihood
from pdsim.metrics.mmd import mmd
from pdsim.metrics.reference_distance import sliced_wasserstein
from pdsim.metrics.rmse import geometric_mean, rmse, rmse_of_median, trajectory_rmse
from pdsim.metrics.start_state import fit_start_states

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(("shift", "scale"), [(0.0, 1.0), (1.0, 1.0), (0.0, 2.0), (0.5, 0.9)])
def test_kl_of_gaussians(shift, scale):
    """KL(N(0,1)² ‖ N(m,s²)²) = 2 [log s + (1 + m²)/(2 s²) − ½]; 4000 samples give ±0.1.

    Cases keep p inside the bulk of q: where q has no samples, the estimate is known to fall short.
    """
    p = RNG.normal(size=(4000, 2))
    q = shift + scale * RNG.normal(size=(4000, 2))
    expected = 2 * (np.log(scale) + (1 + shift**2) / (2 * scale**2) - 0.5)
    assert kl_divergence(p, q).value == pytest.approx(expected, abs=0.1)


def test_kl_of_collapsed_or_small_sets_is_missing_with_a_reason():
    spread, collapsed = RNG.normal(size=(50, 2)), np.ones((50, 2))
    for score in (
        kl_divergence(collapsed, spread),
        kl_divergence(spread, np.concatenate([spread] * 3)),
        kl_divergence(spread[:3], spread),
        kl_divergence(np.full((50, 2), np.nan), spread),
    ):
        assert np.isnan(score.value)
        assert score.reason


def test_mmd_of_gaussians():
    """Of N(0,1)^d and N(m,1)^d: 2 (ℓ²/(ℓ²+2))^{d/2} (1 − exp(−|m|²/(2(ℓ²+2)))), length ℓ."""
    d, shift = 3, 0.8
    p, q = RNG.normal(size=(1500, d)), RNG.normal(size=(1500, d))
    q[:, 0] += shift
    pooled = np.concatenate([p, q])
    pairs = pooled[:, None, ::] - pooled[None]
    length = np.median(np.linalg.norm(pairs, axis=2)[np.triu_indices(len(pooled), 1)])
    share = length**2 / (length**2 + 2)
    expected = 2 * share ** (d / 2) * (1 - np.exp(-(shift**2) / (2 * (length**2 + 2))))
    assert mmd(p, q).value == pytest.approx(expected, abs=0.01)


def test_mmd_is_zero_on_equal_sets_and_about_zero_on_equal_distributions():
    p = RNG.normal(size=(400, 5))
    assert mmd(p, p[::-1]).value == 0.0
    assert abs(mmd(p, RNG.normal(size=(400, 5))).value) < 0.01
    assert mmd(p, np.full((400, 5), np.inf)).reason


def test_log_likelihood_of_one_and_of_two_draws():
    observed = np.zeros((1, 4, 1))
    noise = np.array([2.0])
    one = np.ones((1, 1, 4, 1))
    density = np.exp(-1 / 8) / (2 * np.sqrt(2 * np.pi))
    assert log_likelihood(observed, one, noise).value == pytest.approx(np.log(density))
    # The other draw is not finite: its density is 0, and it still counts as a draw.
    two = np.concatenate([one, np.full_like(one, np.inf)], axis=1)
    assert log_likelihood(observed, two, noise).value == pytest.approx(np.log(density / 2))
    assert log_likelihood(observed, two[:, 1:], noise).reason


def test_log_likelihood_is_of_the_draws_mixture_and_leaves_out_what_was_not_observed():
    """Against SciPy's sums of exponentials; a gap and a draw far away, of density zero."""
    observed, simulated = RNG.normal(size=(2, 6, 2)), RNG.normal(size=(2, 5, 6, 2))
    observed[0, 2, 1], simulated[1, 3] = np.nan, 1e5
    noise = np.array([0.5, 0.1])
    log_density = stats.norm.logpdf(observed[:, None], simulated, noise)
    expected = np.nanmean(special.logsumexp(log_density, axis=1) - np.log(5))
    assert log_likelihood(observed, simulated, noise).value == pytest.approx(expected, rel=1e-13)
    assert log_likelihood(observed, simulated + 1e160, noise).value == -np.inf


@pytest.mark.parametrize("apart", [0.0, 1e-9, 1e-3, 1.0])
def test_energy_score_has_the_distances_of_all_pairs(apart):
    """Against SciPy's, pair by pair: two heaps far from each other, draws equal or close in each."""
    heaps = np.repeat([[0.0], [1e3]], 20, axis=0)
    x = 1.0 + heaps + apart * RNG.normal(size=(40, 30))
    expected = np.linalg.norm(x - 1, axis=1).mean() - distance.pdist(x).sum() / 40**2
    found = energy_score(np.ones((1, 10, 3)), x.reshape(1, 40, 10, 3)).value
    assert found == pytest.approx(expected / np.sqrt(30), rel=1e-11)
    assert pair_distances(x) == pytest.approx(distance.squareform(distance.pdist(x)), rel=1e-11)


def test_rmse_is_over_draws_and_the_median_over_trajectories():
    observed = np.zeros((3, 5, 2))
    simulated = np.zeros((3, 2, 5, 2))
    simulated[0, 0] = 1.0
    simulated[1] = 3.0
    simulated[2] = 0.1
    assert trajectory_rmse(observed, simulated) == pytest.approx([np.sqrt(0.5), 3.0, 0.1])
    assert rmse(observed, simulated).value == pytest.approx(np.sqrt(0.5))
    simulated[1, 0, 3, 1] = np.nan
    assert trajectory_rmse(observed, simulated)[1] == pytest.approx(3.0)
    simulated[1] = np.nan
    assert rmse(observed, simulated).reason


def test_geometric_means_are_in_the_ratio_that_errors_are_in_recording_by_recording():
    """One run is better in all three recordings but the middle one, by which medians go."""
    errors, fit = np.array([0.01, 0.2, 1.0]), np.array([0.02, 0.1, 2.0])
    observed, ones = np.zeros((3, 5, 2)), np.ones((3, 1, 5, 2))
    of = [e[:, None, None, None] * ones for e in (errors, fit)]
    medians = [rmse_of_median(observed, x).value for x in of]
    assert medians[0] / medians[1] == pytest.approx(2.0)
    means = [rmse_of_median(observed, x, geometric_mean).value for x in of]
    assert means[0] / means[1] == pytest.approx((0.5 * 2 * 0.5) ** (1 / 3))
    assert rmse_of_median(observed, 0 * ones, geometric_mean).value == 0.0


def test_rmse_of_the_median_leaves_out_the_scatter_of_the_draws():
    observed = np.zeros((1, 5, 2))
    simulated = np.array([-3.0, 0.1, 4.0, np.inf])[None, :, None, None] * np.ones((1, 4, 5, 2))
    assert rmse_of_median(observed, simulated).value == pytest.approx(0.1)
    assert rmse(observed, simulated).value > 2
    assert rmse_of_median(observed, simulated[:, 3:]).reason


def test_energy_score_of_normal_predictions():
    """In one dimension E|X−y| − ½E|X−X'| of N(0,1) at y = 0 is √(2/π) − 1/√π."""
    simulated = RNG.normal(size=(1, 20000, 1, 1))[:, :3000]
    expected = np.sqrt(2 / np.pi) - 1 / np.sqrt(np.pi)
    assert energy_score(np.zeros((1, 1, 1)), simulated).value == pytest.approx(expected, abs=0.02)


def test_energy_score_of_one_draw_is_its_rms_error():
    assert energy_score(np.zeros((1, 4, 2)), np.full((1, 1, 4, 2), 3.0)).value == pytest.approx(3)


def test_coverage_of_a_calibrated_and_of_an_overconfident_posterior():
    observed = RNG.normal(size=(5, 400, 2))
    assert coverage(observed, RNG.normal(size=(5, 300, 400, 2))).value == pytest.approx(
        0.9, abs=0.02
    )
    # The central 90 % of N(0, ½²) holds 2Φ(1.645/2) − 1 = 0.589 of N(0, 1).
    narrow = 0.5 * RNG.normal(size=(5, 300, 400, 2))
    assert coverage(observed, narrow).value == pytest.approx(0.589, abs=0.02)


def test_credible_rank_is_uniform_over_repetitions_and_ordered():
    factor = np.array([[1.0, 0.0], [0.8, 0.3]])
    draws = RNG.normal(size=(4000, 2)) @ factor.T
    ranks = [credible_rank(draws, RNG.normal(size=2) @ factor.T).value for _ in range(300)]
    assert np.mean(ranks) == pytest.approx(0.5, abs=0.06)
    assert credible_rank(draws, draws.mean(axis=0)).value == 0.0
    assert credible_rank(draws, np.array([9.0, -9.0])).value == 1.0
    assert credible_rank(np.ones((50, 2)), np.ones(2)).reason


def test_a_wrong_start_state_is_found_and_repaired():
    """A harmonic oscillator: the fit must find the start state that made the data."""
    time = np.arange(1, 101) * 0.05

    def simulate(number, start):
        assert number in (0, 1)
        q, v = start[:, 0], start[:, 1]
        cos, sin = np.cos(time[: frames[number]]), np.sin(time[: frames[number]])
        position = np.outer(q, cos) + np.outer(v, sin)
        velocity = np.outer(v, cos) - np.outer(q, sin)
        return np.stack([position, velocity], axis=-1)

    truth, frames = np.array([[1.0, -0.5], [0.2, 2.0]]), np.array([100, 100])
    observed = np.stack([simulate(i, truth[i : i + 1])[0] for i in range(2)])
    position = np.array([True, False])
    nobody = np.zeros(2, bool)
    known = np.ones(2), position, frames, nobody
    found, fitted = fit_start_states(simulate, truth + 0.1, observed, *known)
    np.testing.assert_allclose(found, truth, atol=1e-6)
    np.testing.assert_allclose(fitted, observed, atol=1e-6)
    # What was not observed is left out: frames beyond the end, and a whole channel.
    observed[1, 60:], observed[0, :, 1], frames[1] = np.nan, np.nan, 60
    found, fitted = fit_start_states(simulate, truth + 0.1, observed, *known)
    np.testing.assert_allclose(found, truth, atol=1e-6)
    np.testing.assert_array_equal(fitted[1, 60:], np.tile(fitted[1, 59], (40, 1)))
    # A start that is known is not fitted, however wrong the motion.
    known = *known[:3], np.array([True, False])
    found, fitted = fit_start_states(simulate, truth + 0.1, observed, *known)
    np.testing.assert_array_equal(found[0], truth[0] + 0.1)
    np.testing.assert_array_equal(fitted[0], simulate(0, truth[:1] + 0.1)[0])
    np.testing.assert_allclose(found[1], truth[1], atol=1e-6)


def test_sliced_wasserstein_of_gaussians():
    """Means δ apart: δ/√M; deviations s and 1: |s − 1|."""
    p = RNG.normal(size=(20_000, 4))
    assert sliced_wasserstein(p, RNG.normal(size=(20_000, 4))) < 0.03
    shifted = p + np.array([1.0, 0.0, 0.0, 0.0])
    assert sliced_wasserstein(p, shifted) == pytest.approx(0.5, rel=0.05)
    assert sliced_wasserstein(p, 1.5 * p) == pytest.approx(0.5, rel=0.05)
