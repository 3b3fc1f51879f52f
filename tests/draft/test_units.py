import numpy as np
import pytest

from pdsim.draft.units import angle_unit, length_unit, time_unit

TIMES = np.arange(0, 4, 0.01)
WAVE = np.sin(2 * np.pi * TIMES)


@pytest.mark.parametrize(("unit", "factor"), [("s", 1), ("ms", 1e3), ("us", 1e6), ("ns", 1e9)])
@pytest.mark.parametrize("rate", [20.0, 100.0, 1000.0])
def test_stamps_of_any_usual_rate(unit, factor, rate):
    stamps = 1.7e9 + factor * np.arange(500) / rate
    assert time_unit(stamps).unit == unit


def test_a_step_of_two_meanings_is_not_guessed():
    assert time_unit(np.arange(500) * 0.3).unit == ""


@pytest.mark.parametrize(
    ("columns", "unit"),
    [
        ([2.0 * WAVE, 0.1 * WAVE], "rad"),
        ([90.0 * WAVE, 3.0 * WAVE], "deg"),  # one of two is enough
        ([np.mod(2.0 * TIMES, 2 * np.pi)], "rad"),
        ([np.mod(700 * TIMES + 180, 360) - 180], "deg"),
        ([np.mod(10 * TIMES + np.pi, 2 * np.pi) - np.pi], "rad"),
        ([np.where(WAVE > 0, 30 * WAVE, np.nan)], "deg"),
        # Ten degrees slowly, or turns: nobody knows.
        ([10.0 * np.sin(2 * TIMES)], ""),
    ],
)
def test_angles_by_their_range_and_jumps(columns, unit):
    assert angle_unit(columns, 0.01).unit == unit


@pytest.mark.parametrize(("spread", "unit"), [(0.5, "m"), (400.0, "mm"), (12.0, "")])
def test_lengths_by_their_spread(spread, unit):
    assert length_unit([spread * TIMES / 4]).unit == unit
