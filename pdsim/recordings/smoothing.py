"""Positions to states: finite differences, and a local polynomial."""

from dataclasses import dataclass

import numpy as np
from scipy.signal import savgol_filter


@dataclass(frozen=True)
class Smoothing:
    """A Savitzky–Golay filter: a polynomial of ``order`` over ``frames`` frames."""

    frames: int
    order: int


def finite_differences(position: np.ndarray, frame_time: float) -> np.ndarray:
    """Central differences along the first axis, one-sided at the ends (appendix II-B)."""
    return np.gradient(position, frame_time, axis=0)


def smoothed_state(position: np.ndarray, frame_time: float, smoothing: Smoothing) -> np.ndarray:
    """Positions and velocities from a Savitzky–Golay filter.

    Args:
        position: (time, joint) [rad].

    Returns:
        (time, 2·joint): smoothed positions [rad], then velocities [rad/s].
    """
    filtered = [
        savgol_filter(
            position, smoothing.frames, smoothing.order, deriv=deriv, delta=frame_time, axis=0
        )
        for deriv in (0, 1)
    ]
    return np.concatenate(filtered, axis=1)


def cut(
    position: np.ndarray, first: int, last: int, frame_time: float, smoothing: Smoothing
) -> tuple[np.ndarray, np.ndarray]:
    """Take frames ``first:last`` of a longer run as (observed, smoothed) states.

    Filters and differences see the frames around the window, so its ends are as good as its
    middle; only at the ends of the recording are they one-sided. Whole turns are taken off so
    that every window starts with its angles in [−π, π]: runs become comparable.
    """
    margin = 2 * smoothing.frames
    low, high = max(first - margin, 0), min(last + margin, len(position))
    around = position[low:high]
    around = around - 2 * np.pi * np.round(position[first] / (2 * np.pi))
    observed = np.concatenate([around, finite_differences(around, frame_time)], axis=1)
    smoothed = smoothed_state(around, frame_time, smoothing)
    window = slice(first - low, last - low)
    return observed[window], smoothed[window]
