import numpy as np
import pytest

from pdsim.errors import PdsimError
from pdsim.trajectories import Smoothing, cut, finite_differences, smoothed_state, windows


def test_differences_and_filter_are_exact_on_a_quadratic():
    time = np.arange(60) / 500
    position = np.stack([1 + 2 * time - 3 * time**2, 0.5 * time**2], axis=1)
    velocity = np.stack([2 - 6 * time, time], axis=1)
    np.testing.assert_allclose(
        finite_differences(position, 1 / 500)[1:-1], velocity[1:-1], atol=1e-10
    )
    state = smoothed_state(position, 1 / 500, Smoothing(11, 4))
    np.testing.assert_allclose(state, np.concatenate([position, velocity], axis=1), atol=1e-9)


def test_smoothing_beats_differences_on_camera_noise():
    """0.003 rad of noise is 1 rad/s in differences at the nominal rate."""
    rng = np.random.default_rng(0)
    noise = 0.003 * rng.normal(size=(4000, 2))
    differences = finite_differences(noise, 1 / 500)[10:-10]
    assert differences.std() == pytest.approx(0.003 * 500 / np.sqrt(2), rel=0.05)
    smoothed = smoothed_state(noise, 1 / 500, Smoothing(11, 4))[10:-10, 2:]
    assert smoothed.std() < 0.35 * differences.std()


def test_a_window_is_cut_out_of_its_surroundings():
    time = np.arange(200) / 100
    position = np.stack([np.sin(time) - 40 * np.pi, np.cos(time) + 6 * np.pi], axis=1)
    observed, smoothed = cut(position, 50, 120, 1 / 100, Smoothing(11, 4))
    assert observed.shape == smoothed.shape == (70, 4)
    # Whole turns are gone, at the ends the differences are central, and the filter is not skewed.
    np.testing.assert_allclose(observed[:, 0], np.sin(time[50:120]), atol=1e-12)
    np.testing.assert_allclose(observed[:, 2], np.cos(time[50:120]), atol=1e-4)
    np.testing.assert_allclose(smoothed[0, 3], -np.sin(time[50]), atol=1e-5)


def test_windows_share_their_border_frames_and_lose_none():
    observed = np.arange(400.0)[None, :, None]
    targets, starts = windows(observed, 10)
    assert targets.shape == (40, 1, 10, 1)
    np.testing.assert_array_equal(starts, 40 * np.arange(10))
    # Window w predicts the frames after its start, up to the next window's start.
    np.testing.assert_array_equal(targets[0, 0, :, 0], starts + 1)
    np.testing.assert_array_equal(targets[-1, 0, :-1, 0], starts[1:])
    seen = targets[np.isfinite(targets)]
    np.testing.assert_array_equal(np.sort(seen), np.arange(1, 400))


def test_one_window_is_the_whole_trajectory():
    targets, starts = windows(np.arange(400.0)[None, :, None], 1)
    assert targets.shape == (399, 1, 1, 1)
    assert np.isfinite(targets).all()
    assert starts.tolist() == [0]


def test_too_many_windows_are_refused():
    with pytest.raises(PdsimError, match="cannot be cut into 30 windows"):
        windows(np.zeros((1, 32, 4)), 30)
