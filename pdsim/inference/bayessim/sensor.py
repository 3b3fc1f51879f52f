"""What the sensors' noise does to a recording, so that simulations can be seen in the same way."""

from typing import NamedTuple

import numpy as np

from pdsim.recordings.smoothing import Smoothing, smoothed_state


class SensorNoise(NamedTuple):
    """One draw of the noise for each trajectory.

    Attributes:
        channels: (trajectory, time, channel), to be added to what is observed.
        start: (trajectory, state), the error of the start state smoothed from the same noise.
    """

    channels: np.ndarray
    start: np.ndarray


def sensor_noise(
    position: np.ndarray,
    deviation: np.ndarray,
    shape: tuple[int, int],
    frame_time: float,
    smoothing: Smoothing,
    random: np.random.Generator,
) -> SensorNoise:
    """Draw white noise of the positions, and pass it through what is done to recordings.

    Velocities get its central differences, and the start state what the smoothing leaves of it:
    all three are linear.

    Args:
        position: (channel,) which are positions; the others are their velocities, in this order.
        deviation: (joint,) of the positions' noise.
        shape: trajectories and frames.
        frame_time: [s].
    """
    count, frames = shape
    margin = smoothing.frames // 2
    white = deviation * random.normal(size=(count, margin + frames + 1, len(deviation)))
    channels = np.zeros((count, frames, len(position)))
    channels[..., position] = white[:, margin:-1]
    rate = (white[:, margin + 1 :] - white[:, margin - 1 : -2]) / (2 * frame_time)
    if not position.all():
        channels[..., ~position] = rate
    # Every trajectory is one more column for the filter.
    around = np.moveaxis(white[:, : smoothing.frames], 1, 0)
    smoothed = smoothed_state(around.reshape(smoothing.frames, -1), frame_time, smoothing)[margin]
    start = np.moveaxis(smoothed.reshape(2, count, len(deviation)), 0, 1)
    return SensorNoise(channels, start.reshape(count, -1))
