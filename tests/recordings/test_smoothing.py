import numpy as np
import pytest

from pdsim.recordings.cut import cut
from pdsim.recordings.recording import unsmoothed
from pdsim.recordings.smoothing import Smoothing, finite_differences, smoothed_state
from pdsim.systems.double_pendulum import DoublePendulum


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
    unknown = np.full_like(position, np.nan)
    run = unsmoothed(
        "0", 1 / 100, np.concatenate([position, unknown], axis=1), np.zeros((200, 0)), 4
    )
    window = cut(run, 50, 120, DoublePendulum(), Smoothing(11, 4), derive_velocities=True)
    observed, smoothed = window.observed, window.states
    assert observed.shape == smoothed.shape == (70, 4)
    assert window.first_frame == 50
    np.testing.assert_array_equal(window.start, smoothed[0])
    # Whole turns are gone, at the ends the differences are central, and the filter is not skewed.
    np.testing.assert_allclose(observed[:, 0], np.sin(time[50:120]), atol=1e-12)
    np.testing.assert_allclose(observed[:, 2], np.cos(time[50:120]), atol=1e-4)
    np.testing.assert_allclose(smoothed[0, 3], -np.sin(time[50]), atol=1e-5)
