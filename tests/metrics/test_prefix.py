"""Scores of predictions from a prefix, on arrays worked out by hand."""

import numpy as np
import pytest
import xarray as xr

from pdsim.metrics.catalogue import metrics, scores
from pdsim.metrics.energy_score import energy_score
from pdsim.metrics.metric import Evidence
from pdsim.metrics.prefix import band_coverage, coverage_interval, crps, ranks, thirds_of
from pdsim.parameters.space import Parameter, ParameterSpace
from pdsim.systems.oscillator import Oscillator

SPACE = ParameterSpace((Parameter("stiffness", 5.0, 50.0, "N/m", sets=("stiffness",)),))
PREFIX, LENGTHS, DRAWS = 3, (12, 12, 6), 19
KEYS = ["prefix_crps", "prefix_energy_score", "prefix_rmse_median", "prefix_rmse_geometric", "prefix_coverage_50",
        "prefix_coverage_90", "prefix_coverage_90_first", "prefix_coverage_90_second",
        "prefix_coverage_90_third", "prefix_coverage_90_low", "prefix_coverage_90_high",
        "prefix_lost_rollouts"]  # fmt: skip


@pytest.fixture
def data(trajectories_of):
    """One recording for training and two held out, 9 and 3 frames beyond the prefix."""
    random = np.random.default_rng(0)
    seen = [random.normal(size=(n, 2)) for n in LENGTHS]
    return trajectories_of(Oscillator(), seen, seen, 0.1, splits=["train", "test", "test"])


def prediction_of(data, values, measured=("x",)):
    """Every draw's prediction is the recording plus its row of ``values`` (draw,)."""
    came = data["observed"].values[1:, PREFIX:]
    predicted = np.nan_to_num(came)[:, None] + values[:, None, None]
    columns = [list(data["channel"].values).index(name) for name in measured]
    dims = ("trajectory", "draw", "time")
    return xr.Dataset(
        {
            "predicted": ((*dims, "channel"), predicted),
            "predicted_observation": ((*dims, "measured"), predicted[..., columns]),
        },
        coords={"measured": list(measured)},
        attrs={"prefix": PREFIX},
    )


def scored(data, prediction):
    draws, simulated = np.full((DRAWS, 1), 20.0), np.zeros((3, DRAWS, 11, 2))
    evidence = Evidence(data, SPACE, draws, simulated, np.ones(2), prediction=prediction)
    found = scores(evidence, ["prefix"])
    return {key: score.value for key, score in found.items()}


def test_without_a_prediction_there_are_none(data):
    assert scored(data, None) == {}
    assert [m.key for m in metrics(["prefix"])] == KEYS


def test_draws_around_the_recording(data):
    """Draws at −9 … 9 of 19: the band of 90 % ends at the outermost, that of 50 % at −5 and 5."""
    values = np.arange(-9.0, 10.0)
    found = scored(data, prediction_of(data, values))
    assert list(found) == KEYS
    assert found["prefix_coverage_50"] == found["prefix_coverage_90"] == 1.0
    assert found["prefix_rmse_median"] == pytest.approx(0.0)
    spread = data["observed"].values[0, :, 0].std()
    pairs = np.abs(values[:, None] - values).mean()
    assert found["prefix_crps"] == pytest.approx((np.abs(values).mean() - pairs / 2) / spread)
    # Constant offsets: a vector's norm over the root of its length is the offset itself.
    assert found["prefix_energy_score"] == pytest.approx(found["prefix_crps"])
    shifted = scored(data, prediction_of(data, values + 5.5))
    assert shifted["prefix_coverage_50"] == 0.0
    assert shifted["prefix_coverage_90"] == 1.0
    assert shifted["prefix_rmse_median"] == pytest.approx(5.5)
    assert shifted["prefix_rmse_geometric"] == pytest.approx(5.5)
    assert scored(data, prediction_of(data, values + 9.5))["prefix_coverage_90"] == 0.0


def test_thirds_are_those_of_each_recording(data):
    prediction = prediction_of(data, np.arange(-9.0, 10.0))
    expected = np.array([[0, 0, 0, 1, 1, 1, 2, 2, 2], [0, 1, 2, 3, 4, 5, 6, 7, 8]])
    np.testing.assert_array_equal(thirds_of(data, prediction), expected)
    prediction["predicted_observation"][:, :, 3:6] += 100.0
    found = scored(data, prediction)
    # The second third of the long recording is missed, three of its nine frames; and what is
    # predicted beyond the short one's end does not count.
    assert found["prefix_coverage_90"] == pytest.approx(9 / 12)
    assert found["prefix_coverage_90_first"] == found["prefix_coverage_90_third"] == 1.0
    assert found["prefix_coverage_90_second"] == pytest.approx(1 / 4)


def test_gaps_and_channels_that_were_not_measured_do_not_count(data):
    values = np.arange(-9.0, 10.0)
    expected = scored(data, prediction_of(data, values))
    data["observed"][1:, 5:6] = np.nan
    prediction = prediction_of(data, values)
    prediction["predicted"][..., 1] += 50.0
    found = scored(data, prediction)
    for key in KEYS:
        assert found[key] == pytest.approx(expected[key], nan_ok=True), key


def test_lost_predictions_are_left_out_and_counted(data):
    values = np.concatenate([np.arange(-9.0, 10.0), [np.inf]])
    found = scored(data, prediction_of(data, values))
    expected = scored(data, prediction_of(data, values[:-1]))
    assert found.pop("prefix_lost_rollouts") == 2.0
    assert expected.pop("prefix_lost_rollouts") == 0.0
    assert found == pytest.approx(expected, nan_ok=True)
    none = scored(data, prediction_of(data, np.full(3, np.nan)))
    assert all(np.isnan(value) for key, value in none.items() if key != "prefix_lost_rollouts")


def test_the_band_covers_its_level_however_few_the_draws():
    """4,000 samples among 9 draws of their own: the deviation of a share is 0.008 at most."""
    random = np.random.default_rng(1)
    draws, seen = random.normal(size=(4000, 9, 1, 1)), random.normal(size=(4000, 1, 1))
    for level in (0.5, 0.8):
        assert band_coverage(seen, draws, level).value == pytest.approx(level, abs=0.03)


def test_the_interval_is_that_of_recordings_drawn_anew():
    """Of 20 recordings 12 are covered and 8 missed: the count of a resample is binomial."""
    draws = np.tile(np.linspace(-1, 1, 9)[:, None, None], (20, 1, 50, 1))
    seen = np.where(np.arange(20) < 12, 0.0, 5.0)[:, None, None] * np.ones((1, 50, 1))
    low, high = (coverage_interval(seen, draws, 0.9, at).value for at in (0.025, 0.975))
    assert (low, high) == pytest.approx((8 / 20, 16 / 20))
    assert coverage_interval(seen[:2], draws[:2], 0.9, 0.5).reason == "fewer than three recordings"


def test_crps_of_one_sample_is_its_energy_score():
    random = np.random.default_rng(2)
    seen, draws = random.normal(size=(6, 1, 1)), random.normal(size=(6, 11, 1, 1))
    assert crps(seen, draws).value == pytest.approx(energy_score(seen, draws).value)
    assert crps(np.full_like(seen, np.nan), draws).reason == "nothing was observed"


def test_ranks_count_the_finite_draws_below():
    draws = np.array([0.0, 1.0, 2.0, np.nan])[None, :, None, None]
    seen = np.array([[[-1.0], [1.5], [np.nan]]])
    found = ranks(seen, np.repeat(draws, 3, axis=2))[0, :, 0]
    assert 0 <= found[0] < 1 / 4
    assert 2 / 4 <= found[1] < 3 / 4
    assert np.isnan(found[2])
