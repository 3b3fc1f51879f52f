"""Noise of simulations against what the same noise does to a recording."""

import numpy as np

from pdsim.inference.bayessim.sensor import sensor_noise
from pdsim.recordings.cut import cut
from pdsim.recordings.recording import unsmoothed
from pdsim.recordings.smoothing import Smoothing, white_noise
from pdsim.systems.double_pendulum import DoublePendulum

POSITION = np.array([True, True, False, False])
DEVIATION = np.array([0.001, 0.002])
FRAME_TIME = 0.01
SMOOTHING = Smoothing(11, 4)


def test_noise_is_found_in_moving_positions():
    random = np.random.default_rng(0)
    time = FRAME_TIME * np.arange(4000)[:, None]
    motion = np.sin(3 * time + np.array([0.0, 1.0]))
    seen = motion + DEVIATION * random.normal(size=motion.shape)
    np.testing.assert_allclose(white_noise(seen[None]), DEVIATION, rtol=0.05)


def cut_out(positions, first, last):
    """A window of a run of which the angles (frame, joint) are seen."""
    observed = np.concatenate([positions, np.full_like(positions, np.nan)], axis=1)
    run = unsmoothed("0", FRAME_TIME, observed, np.zeros((len(observed), 0)), 4)
    return cut(run, first, last, DoublePendulum(), SMOOTHING, derive_velocities=True)


def test_noise_is_what_a_recording_of_rest_shows():
    """Channels and start state have the covariance that cutting out a noisy window gives them."""
    random = np.random.default_rng(1)
    count, frames = 4000, 20
    drawn = sensor_noise(POSITION, DEVIATION, (count, frames), FRAME_TIME, SMOOTHING, random)
    recorded = DEVIATION * random.normal(size=(count, frames + 60, 2))
    cuts = [cut_out(one, 30, 30 + frames) for one in recorded]
    channels = np.stack([window.observed for window in cuts])
    start = np.stack([window.start for window in cuts])

    def together(noise, error):
        # The first frames, whose noise is part of the start state's, in units that compare.
        joint = np.concatenate([noise[:, :3].reshape(count, -1), error], axis=1)
        scale = np.tile([*DEVIATION, *(DEVIATION / FRAME_TIME)], 4)
        return np.cov(joint / scale, rowvar=False)

    expected = together(channels, start)
    assert np.abs(expected).max() > 0.9
    # Five standard errors of a covariance of 4000 pairs.
    bound = 5 * 2**0.5 / count**0.5
    np.testing.assert_allclose(together(*drawn), expected, atol=bound)
    # And so has the covariance that a recording carries of its start state's error.
    scale = np.array([*DEVIATION, *(DEVIATION / FRAME_TIME)])
    stated = np.mean([window.start_covariance for window in cuts[:200]], axis=0)
    shown = np.cov(start / scale, rowvar=False)
    np.testing.assert_allclose(stated / np.outer(scale, scale), shown, atol=bound)


def test_sensors_without_noise_add_none():
    drawn = sensor_noise(
        POSITION, 0 * DEVIATION, (3, 20), FRAME_TIME, SMOOTHING, np.random.default_rng(0)
    )
    assert not drawn.channels.any()
    assert not drawn.start.any()
    assert drawn.start.shape == (3, 4)
    assert drawn.channels.shape == (3, 20, 4)
