"""How well a controller did, from what was logged."""

from typing import NamedTuple

import numpy as np
from scipy.stats import norm


def rmse(states: np.ndarray, references: np.ndarray, scored: tuple[int, ...]) -> np.ndarray:
    """Root of the mean over time of the squared errors of the scored state variables together.

    Args:
        states: (..., step, S), x_{t+1}.
        references: (step, S), of the same times.
        scored: which state variables count.

    Returns:
        (...).
    """
    error = (states - references)[..., list(scored)]
    return np.sqrt((error**2).sum(axis=-1).mean(axis=-1))


def failed(clearance: np.ndarray, crashed: np.ndarray) -> np.ndarray:
    """Whether the safe set was ever left (h < 0), or the vehicle lost; over the last axis."""
    # A comparison with NaN is false: what is not finite has failed.
    return np.asarray((~(clearance >= 0) | crashed).any(axis=-1))


def accuracy(estimate: np.ndarray, truth: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Parameter accuracy in per cent, 100 · mean_j max(0, 1 − |θ̂_j − θ_j| / scale_j).

    The document gives no formula. Over the width of the prior, a controller that learns nothing of
    a narrow prior does not look as if it knew; over the true value, it would.

    Args:
        estimate, truth: (..., d).
        scale: (..., d): the width of the prior, or the true value.
    """
    return 100 * np.maximum(0.0, 1 - np.abs(estimate - truth) / scale).mean(axis=-1)


class Share(NamedTuple):
    """A share with its interval, all in [0, 1]."""

    value: float
    lowest: float
    highest: float


def wilson(successes: int, count: int, confidence: float = 0.95) -> Share:
    """A share and its interval (Wilson, 1927), which also holds near 0 and 1.

    centre = (p + z²/2n) / (1 + z²/n),   half width = z/(1 + z²/n) · √(p(1 − p)/n + z²/4n²)
    """
    p, z = successes / count, float(norm.ppf((1 + confidence) / 2))
    square = z * z / count
    centre = (p + square / 2) / (1 + square)
    half = z / (1 + square) * np.sqrt(p * (1 - p) / count + square / (4 * count))
    return Share(p, max(centre - half, 0.0), min(centre + half, 1.0))
