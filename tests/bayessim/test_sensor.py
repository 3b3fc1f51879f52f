"""Noise of simulations against what the same noise does to a recording."""

import numpy as np

from pdsim.bayessim.sensor import position_noise, sensor_noise
from pdsim.recordings.smoothing import Smoothing, cut

KIND = np.array(["position", "position", "velocity", "velocity"])
DEVIATION = np.array([0.001, 0.002])
FRAME_TIME = 0.01
SMOOTHING = Smoothing(11, 4)


def test_noise_is_found_in_moving_positions():
    random = np.random.default_rng(0)
    time = FRAME_TIME * np.arange(4000)[:, None]
    motion = np.sin(3 * time + np.array([0.0, 1.0]))
    seen = motion + DEVIATION * random.normal(size=motion.shape)
    np.testing.assert_allclose(position_noise(seen[None]), DEVIATION, rtol=0.05)


def test_noise_is_what_a_recording_of_rest_shows():
    """Channels and start state have the covariance that cutting out a noisy window gives them."""
    random = np.random.default_rng(1)
    count, frames = 4000, 20
    drawn = sensor_noise(KIND, DEVIATION, (count, frames), FRAME_TIME, SMOOTHING, random)
    recorded = DEVIATION * random.normal(size=(count, frames + 60, 2))
    cuts = [cut(one, 30, 30 + frames, FRAME_TIME, SMOOTHING) for one in recorded]
    channels = np.stack([observed for observed, _ in cuts])
    start = np.stack([smoothed[0] for _, smoothed in cuts])

    def together(noise, error):
        # The first frames, whose noise is part of the start state's, in units that compare.
        joint = np.concatenate([noise[:, :3].reshape(count, -1), error], axis=1)
        scale = np.tile([*DEVIATION, *(DEVIATION / FRAME_TIME)], 4)
        return np.cov(joint / scale, rowvar=False)

    expected = together(channels, start)
    assert np.abs(expected).max() > 0.9
    # Five standard errors of a covariance of 4000 pairs.
    np.testing.assert_allclose(together(*drawn), expected, atol=5 * 2**0.5 / count**0.5)


def test_sensors_without_noise_add_none():
    drawn = sensor_noise(
        KIND, 0 * DEVIATION, (3, 20), FRAME_TIME, SMOOTHING, np.random.default_rng(0)
    )
    assert not drawn.channels.any()
    assert not drawn.start.any()
    assert drawn.start.shape == (3, 4)
    assert drawn.channels.shape == (3, 20, 4)
