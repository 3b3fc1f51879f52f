"""Positions to states: finite differences, a local polynomial, and how wrong its states are."""

from dataclasses import dataclass

import numpy as np


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
        position: (time, joint).

    Returns:
        (time, 2·joint): smoothed positions, then velocities.
    """
    # Imported here: scipy.signal takes as long to load as JAX.
    from scipy.signal import savgol_filter

    filtered = [
        savgol_filter(
            position, smoothing.frames, smoothing.order, deriv=deriv, delta=frame_time, axis=0
        )
        for deriv in (0, 1)
    ]
    return np.concatenate(filtered, axis=1)


def white_noise(position: np.ndarray) -> np.ndarray:
    """Standard deviation of white noise in sampled positions, from their fourth differences.

    Motion that is sampled well leaves nothing in them, and white noise of variance σ² leaves
    (1 + 16 + 36 + 16 + 1) σ² = 70 σ².

    Args:
        position: (recording, time, joint); differences that hold a NaN are left out.

    Returns:
        (joint,), in the unit of the positions; 0 where there are no differences.
    """
    fourth = np.diff(position, n=4, axis=1)
    seen = np.isfinite(fourth)
    total = np.where(seen, fourth, 0.0) ** 2
    return np.sqrt(total.sum(axis=(0, 1)) / np.maximum(seen.sum(axis=(0, 1)), 1) / 70)


def state_covariance(
    white: np.ndarray, frame: int, count: int, frame_time: float, smoothing: Smoothing
) -> np.ndarray:
    """Covariance of the smoothed state at one frame, (2·joint, 2·joint).

    The filter is linear: with l₀ and l₁ the weights of position and velocity at that frame, white
    noise of covariance Σ leaves lᵢᵀlⱼ Σ.

    Args:
        white: (joint, joint) covariance of the white noise in the positions.
        frame, count: which of how many frames the filter sees.
    """
    low = max(min(frame - smoothing.frames, count - 3 * smoothing.frames), 0)
    high = min(low + 3 * smoothing.frames, count)
    impulses = np.eye(high - low)
    weights = smoothed_state(impulses, frame_time, smoothing)[frame - low].reshape(2, -1)
    return np.kron(weights @ weights.T, white)
