import numpy as np
import pytest

from pdsim.recordings.clock import (
    Every,
    ResampleConfig,
    as_they_are,
    measure,
    resampled,
    ticks,
)
from pdsim.runtime.errors import PdsimError

EVEN = np.arange(1000) * 0.002


def resample(stamps, rate=500.0, method="linear"):
    return resampled(stamps, ResampleConfig(rate_hz=rate, method=method), "log.csv")


def test_statistics_of_known_steps():
    stamps = np.array([0.0, 1.0, 2.0, 2.0, 3.0, 2.5, 3.5, 6.5])
    steps = measure(stamps)
    assert (steps.rows, steps.repeats, steps.backwards) == (8, 1, 1)
    assert (steps.least, steps.median, steps.largest) == (-0.5, 1.0, 3.0)
    assert steps.off == pytest.approx(3 / 7)


def test_even_stamps_are_frames():
    assert as_they_are(EVEN, "") == Every(0.002)
    assert as_they_are(EVEN + 1.7e9, "") == Every(0.002)  # seconds since 1970, rounded to 0.2 µs
    assert as_they_are(np.arange(900) / 300, "") == Every(1 / 300)


def test_a_frame_time_that_is_no_whole_number_is_kept():
    time = 0.00213579
    assert as_they_are(np.arange(5000) * time, "").frame_time == pytest.approx(time, rel=1e-12)


def test_jitter_below_a_hundredth_of_a_step_is_regular_and_above_is_not():
    jitter = np.random.default_rng(0).uniform(-1, 1, len(EVEN))
    assert as_they_are(EVEN + 0.004 * 0.002 * jitter, "").frame_time == pytest.approx(0.002)
    with pytest.raises(PdsimError, match="not regular"):
        as_they_are(EVEN + 0.04 * 0.002 * jitter, "")


def test_a_rate_that_drifts_is_not_regular():
    """Each step is within 1 % of the mean, but frames would be 2.5 frames off in the middle."""
    steps = np.where(np.arange(999) < 500, 0.00199, 0.00201)
    with pytest.raises(PdsimError, match=r"2\.5 steps from an even grid"):
        as_they_are(np.concatenate([[0.0], np.cumsum(steps)]), "")


def test_the_refusal_has_statistics_and_every_way_out():
    stamps = np.delete(EVEN, [40, 41, 700])
    with pytest.raises(PdsimError) as error:
        as_they_are(stamps, "log.csv: column 'time'")
    for word in (
        *("log.csv", "'time'", "997 stamps", "2 ms in the median", "2 ms to 6 ms", "0.201 %"),
        *("row 41", "clock:", "rate_hz: 500", "drop_repeats", "(these stamps do)", "rate_hz"),
    ):
        assert word in str(error.value)


def test_time_must_go_on():
    stamps = EVEN.copy()
    stamps[500:] -= 0.5
    for way in (as_they_are, ticks, lambda s, where: resample(s)):
        with pytest.raises(PdsimError, match=r"backwards in 1 of 1,000 rows .* row 500 to row 501"):
            way(stamps, "log.csv")
    with pytest.raises(PdsimError, match="same time"):
        ticks(np.zeros(30), "")


def test_a_clock_finds_its_gaps_and_repeats():
    random = np.random.default_rng(1)
    frames = np.sort(random.choice(1000, 900, replace=False))
    frames = np.concatenate([[0], frames[frames > 0]])
    rows = np.repeat(np.arange(len(frames)), random.integers(1, 3, len(frames)))
    clock = ticks(frames[rows] * 0.001 + 5.0, "")
    assert clock.frame_time == 0.001
    values = frames[:, None].astype(float)
    observed = clock.observed(values[rows])
    assert observed.shape == (frames[-1] + 1, 1)
    seen = np.isfinite(observed[:, 0])
    assert np.array_equal(np.flatnonzero(seen), frames)
    assert np.array_equal(observed[seen, 0], frames)
    acting = clock.acting(values[rows])[:, 0]
    # What acted last goes on acting.
    last = np.maximum.accumulate(np.where(seen, np.arange(len(seen)), 0))
    assert np.array_equal(acting, last)


def test_a_clock_is_found_though_most_steps_are_two_periods():
    frames = np.concatenate([[0], np.cumsum(np.tile([2, 2, 1], 100))])
    assert ticks(frames * 0.004, "").frame_time == 0.004


def test_steps_that_are_no_periods_are_no_clock():
    stamps = EVEN + np.where(np.arange(1000) > 300, 0.0009, 0.0)
    with pytest.raises(PdsimError, match=r"1 of 999 steps .* to row 302, with 1\.449 periods"):
        ticks(stamps, "")


def test_a_period_that_leaves_most_frames_empty_is_refused():
    """Stamps in whole microseconds are multiples of one, and yet no clock."""
    stamps = np.cumsum(np.random.default_rng(2).integers(1900, 2100, 500)) * 1e-6
    stamps = np.insert(stamps, 250, stamps[249] + 1e-6)
    with pytest.raises(PdsimError, match=r"no clock|whole periods"):
        ticks(stamps, "")
    with pytest.raises(PdsimError, match=r"only .* % of the frames"):
        ticks(np.concatenate([[0.0, 0.001], 1 + np.arange(100) * 0.01]), "")


@pytest.mark.parametrize(("method", "bound"), [("linear", 4.5e-6), ("cubic", 1e-10)])
def test_resampling_follows_the_signal(method, bound):
    """A chord over 3 ms is off by at most h²/8 times the acceleration of 4."""
    random = np.random.default_rng(3)
    stamps = EVEN + np.concatenate([[0.0], random.uniform(0, 0.001, 999)])
    even = resample(stamps, 500.0, method)
    times = np.arange(even.count) * even.frame_time
    shown = even.observed(np.sin(2 * stamps)[:, None])[:, 0]
    inner = slice(5, -5)  # a spline is worse at its ends
    assert even.count == 1000
    assert np.abs(shown - np.sin(2 * times))[inner].max() < bound


def test_resampling_at_the_stamps_changes_nothing():
    values = np.random.default_rng(4).normal(size=(1000, 2))
    for method in ("linear", "cubic", "nearest"):
        even = resample(EVEN, 500.0, method)
        assert even.observed(values) == pytest.approx(values, abs=1e-9)
        assert even.acting(values) == pytest.approx(values, abs=1e-9)


def test_nearest_takes_the_nearest_row():
    stamps = EVEN + np.where(np.arange(1000) % 2, 0.0004, 0.0)
    shown = resample(stamps, 500.0, "nearest").observed(np.arange(1000.0)[:, None])[:, 0]
    assert np.array_equal(shown, np.arange(len(shown)))


def test_no_motion_is_made_up_in_gaps():
    stamps = np.delete(EVEN, slice(100, 120))
    even = resample(stamps)
    shown = even.observed(np.stack([stamps, stamps], axis=1))
    empty = np.flatnonzero(np.isnan(shown[:, 0]))
    assert np.array_equal(empty, np.arange(100, 120))


def test_a_channel_with_holes_is_interpolated_over_its_own_rows():
    values = np.stack([EVEN, EVEN], axis=1)
    values[1::2, 0] = np.nan
    values[300:400, 1] = np.nan
    shown = resample(EVEN).observed(values)
    assert shown[:999, 0] == pytest.approx(EVEN[:999], abs=1e-12)
    assert np.isnan(shown[301:399, 1]).all() and np.isfinite(shown[:299, 1]).all()


def test_inputs_keep_their_impulse():
    random = np.random.default_rng(5)
    stamps = EVEN + np.concatenate([[0.0], random.uniform(0, 0.001, 999)])
    torque = random.normal(size=(1000, 1))
    for rate in (200.0, 500.0, 800.0):
        even = resample(stamps, rate)
        end = even.count * even.frame_time
        holds = np.diff(np.clip(np.append(stamps, end), 0, end))
        assert even.acting(torque).sum() * even.frame_time == pytest.approx(holds @ torque[:, 0])


def test_repeats_are_dropped_before_resampling():
    stamps = np.repeat(EVEN, 2)
    shown = resample(stamps).observed(np.repeat(EVEN, 2)[:, None])
    assert shown[:, 0] == pytest.approx(EVEN)


def test_frames_are_not_made_of_nothing():
    for rate in (1100.0, 1e6):
        with pytest.raises(PdsimError, match=r"resample\.rate_hz: .*choose about 500 Hz"):
            resample(EVEN, rate)
