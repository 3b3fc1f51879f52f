"""The result of a metric: a number, or the reason why there is none."""

from typing import NamedTuple

import numpy as np


class Score(NamedTuple):
    """A metric's value; NaN with a reason where it is undefined."""

    value: float
    reason: str = ""


def undefined(reason: str) -> Score:
    """Return the score of a metric that has no value."""
    return Score(float("nan"), reason)


def finite_rows(samples: np.ndarray) -> np.ndarray:
    """Return the samples (n, d) without those that hold a number that is not finite."""
    return samples[np.isfinite(samples).all(axis=1)]
