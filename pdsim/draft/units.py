"""Units that no name tells, by the range of the numbers.

A machine is recorded between a hertz and some tens of kilohertz; a joint that is measured turns by
less than ten turns a second. Where two units would be possible nothing is guessed.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

# A joint that turns faster [rad/s], by its numbers read as radians, is not in radians.
_FASTEST = 60.0
# Steps of stamps that are no other unit's, shortest and longest [that unit].
_STEPS = (("s", 1e-5, 0.2), ("ms", 0.5, 200.0), ("us", 500.0, 2e5), ("ns", 5e5, 2e8))
# How far an angle that stays within a turn may be beyond it, of the turn.
_ROUNDING = 0.01


class Unit(NamedTuple):
    """A unit and what speaks for it; an empty unit where the numbers do not tell."""

    unit: str
    why: str


def time_unit(stamps: np.ndarray) -> Unit:
    """Guess the unit of time stamps (row,) by their median step."""
    steps = np.abs(np.diff(stamps))
    step = float(np.median(steps[steps > 0])) if (steps > 0).any() else 0.0
    for unit, shortest, longest in _STEPS:
        if shortest <= step <= longest:
            return Unit(unit, f"by its steps of {step:.4g}")
    return Unit("", f"steps of {step:.4g}")


def angle_unit(columns: Sequence[np.ndarray], frame_time: float) -> Unit:
    """Guess the unit of angles (row,) that share one: rad or deg.

    A jump by a turn tells; so does a range that no joint has in one of the two.

    Args:
        frame_time: of the rows, in the median [s].
    """
    seen = [column[np.isfinite(column)] for column in columns]
    lowest, highest = min(c.min() for c in seen), max(c.max() for c in seen)
    range_text = f"from {lowest:.4g} to {highest:.4g}"
    largest = max(-lowest, highest)
    steps = np.concatenate([np.abs(np.diff(c)) for c in seen])
    for unit, turn in (("deg", 360.0), ("rad", 2 * np.pi)):
        within = largest <= turn * (1 + _ROUNDING)
        jumps = steps[(steps > 0.8 * turn) & (steps < 1.01 * turn)]
        if within and len(jumps) and len(jumps) < 0.1 * len(steps):
            return Unit(unit, f"jumps by {jumps.max():.4g}, {range_text}")
    if largest <= np.pi * (1 + _ROUNDING) or (
        lowest >= -_ROUNDING and highest <= 2 * np.pi * (1 + _ROUNDING)
    ):
        return Unit("rad", range_text)
    speed = float(np.quantile(steps, 0.99)) / frame_time
    if speed > _FASTEST:
        return Unit("deg", f"{range_text}, as radians it would turn by {speed:.3g} rad/s")
    return Unit("", f"{range_text}, changes of {speed:.3g} per second")


def length_unit(columns: Sequence[np.ndarray]) -> Unit:
    """Guess the unit of positions (row,) that share one: m or mm, by how far they reach."""
    spread = max(float(np.nanmax(c) - np.nanmin(c)) for c in columns)
    text = f"spread over {spread:.4g}"
    if spread < 5.0:
        return Unit("m", text)
    return Unit("mm" if spread > 50.0 else "", text)
