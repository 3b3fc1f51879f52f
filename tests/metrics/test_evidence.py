"""Metrics of whole sets: recordings of unequal length, channels nobody saw, nothing held out."""

import warnings

import numpy as np
import pytest

from pdsim import registry
from pdsim.metrics.catalogue import metrics, scores
from pdsim.metrics.metric import Evidence
from pdsim.parameters.space import Parameter, ParameterSpace
from pdsim.systems.oscillator import Oscillator

LENGTHS = (60, 60, 45, 30, 60, 52, 60)
SPLITS = ("train", "train", "test", "test", "test", "test", "test")
SPACE = ParameterSpace((Parameter("stiffness", 5.0, 50.0, "N/m", sets=("stiffness",)),))
NOISE = np.array([0.1, 0.3])
DRAWS = 40


def simulated(count=7, seed=0):
    """Roll-outs (recording, draw, frame, channel), to the end of the longest recording."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(count, DRAWS, max(LENGTHS) - 1, 2)) + np.array([0.0, 5.0])


@pytest.fixture(scope="module")
def recorded(trajectories_of):
    def build(lengths=LENGTHS, splits=SPLITS, unobserved=None):
        rng = np.random.default_rng(1)
        values = [rng.normal(size=(n, 2)) + np.array([0.0, 5.0]) for n in lengths]
        seen = [v.copy() for v in values]
        if unobserved is not None:
            for v in seen:
                v[:, unobserved] = np.nan
        return trajectories_of(
            Oscillator(), seen, values, 0.1, splits=splits, truth=[("stiffness", 20.0)]
        )

    return build


def evidence(data, rolled):
    draws = np.random.default_rng(2).uniform(15, 25, size=(DRAWS, 1))
    return Evidence(data, SPACE, draws, rolled, NOISE, fitted=rolled[:, 0])


def scored(data, rolled):
    """All scores; a warning would be a number that is made of nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return scores(evidence(data, rolled))


@pytest.fixture(scope="module")
def unequal(recorded):
    return scored(recorded(), simulated())


def test_recordings_of_unequal_length_have_every_metric(unequal):
    for name in ("kl_real_sim", "kl_sim_real", "mmd", "log_likelihood", "rmse", "energy_score",
                 "coverage_90", "rmse_train", "rmse_fitted_start", "lost_rollouts"):  # fmt: skip
        assert np.isfinite(unequal[name].value), (name, unequal[name].reason)


def test_what_a_roll_out_does_beyond_the_end_of_its_recording_does_not_count(recorded, unequal):
    moved = simulated()
    for rolled, length in zip(moved, LENGTHS, strict=True):
        rolled[:, length - 1 :] += 100.0
        rolled[:5, length:] = np.inf
    again = scored(recorded(), moved)
    for name, score in unequal.items():
        assert again[name].value == pytest.approx(score.value, rel=1e-12, nan_ok=True), name


def test_unequal_recordings_are_scored_as_each_alone(recorded, unequal):
    """Means over recordings and medians are those of recordings scored one by one."""
    data, rolled = recorded(), simulated()
    alone = []
    for i in np.flatnonzero(np.array(SPLITS) == "test"):
        chosen = [0, 1, int(i)]
        part = data.isel(trajectory=chosen)
        alone.append(scored(part, rolled[chosen]))
    error = np.mean([score["energy_score"].value for score in alone])
    assert unequal["energy_score"].value == pytest.approx(error, rel=1e-10)
    error = np.median([score["rmse"].value for score in alone])
    assert unequal["rmse"].value == pytest.approx(error, rel=1e-10)
    # These two count every frame the same, so that long recordings weigh more.
    frames = [n - 1 for n, split in zip(LENGTHS, SPLITS, strict=True) if split == "test"]
    for name in ("log_likelihood", "coverage_90"):
        mean = np.average([score[name].value for score in alone], weights=frames)
        assert unequal[name].value == pytest.approx(mean, rel=1e-10), name


def test_a_channel_nobody_observed_does_not_count(recorded):
    data, rolled = recorded(unobserved=1), simulated()
    found = scored(data, rolled)
    for name in ("kl_real_sim", "kl_sim_real", "mmd", "log_likelihood", "rmse", "energy_score",
                 "coverage_90"):  # fmt: skip
        assert np.isfinite(found[name].value), (name, found[name].reason)
    rolled[..., 1] *= 3.0
    again = scored(data, rolled)
    for name, score in found.items():
        assert again[name].value == pytest.approx(score.value, rel=1e-12, nan_ok=True), name


def test_without_a_test_set_what_needs_one_says_so(recorded):
    data = recorded(LENGTHS[:3], ("train",) * 3)
    found = scored(data, simulated(3))
    for metric in metrics():
        if metric.held_out and metric.key in found:
            assert np.isnan(found[metric.key].value)
            assert found[metric.key].reason == "no recording is held out"
    needed = {m.key for m in metrics() if m.held_out}
    assert {"kl_real_sim", "mmd", "log_likelihood", "rmse", "energy_score", "coverage_90",
            "rmse_fitted_start", "lost_rollouts"} <= needed  # fmt: skip
    assert needed <= set(found)
    for name in ("rmse_train", "rmse_train_fitted_start", "credible_rank"):
        assert np.isfinite(found[name].value), name


def test_a_perfect_simulator_has_an_mmd_below_zero(recorded):
    """Each of n recordings r times: −(1 − k̄)/n for many draws, k̄ the mean kernel of two of them."""
    data = recorded((60,) * 7)
    found = scored(data, simulated())
    assert (
        scored(data, data["observed"].values[:, None, 1:].repeat(DRAWS, 1))["mmd"]
        == (found["mmd_perfect"])
    )
    kept = data["observed"].values[2:, 1:]
    spread = evidence(data, simulated()).spread
    real = (kept / spread).reshape(5, -1)
    square = ((real[:, None] - real) ** 2).sum(axis=2)
    pooled = np.concatenate([real, np.repeat(real, DRAWS, axis=0)])
    pairs = ((pooled[:, None] - pooled) ** 2).sum(axis=2)[np.triu_indices(len(pooled), 1)]
    kernel = np.exp(-square / (2 * np.median(pairs)))[np.triu_indices(5, 1)].mean()
    # Terms of 1/(n r) are left out.
    expected = -(1 - kernel) / 5
    assert found["mmd_perfect"].value == pytest.approx(expected, abs=2 / (5 * DRAWS))
    assert found["mmd_perfect"].value < 0


def test_keys_are_unique_and_the_course_is_a_part():
    keys = [metric.key for metric in metrics()]
    assert len(set(keys)) == len(keys)
    assert {m.key for m in metrics(registry.LEARNING_CURVE_METRICS)} <= set(keys)
