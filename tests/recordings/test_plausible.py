"""Numbers that no sensor saw of a motion are found, and motions are left alone."""

import logging

import numpy as np
import pytest

from pdsim.recordings.plausible import check_motion, is_noise, oddities, warn
from pdsim.runtime.errors import PdsimError

TURN = 2 * np.pi
TIME = np.arange(2000) * 0.005
NOISE = 1e-3 * np.random.default_rng(0).normal(size=2000)
SWING = np.sin(3 * TIME) + 0.3 * np.sin(11 * TIME)
MOTIONS = {
    "swing": SWING,
    "noisy": SWING + NOISE,
    "quantised": np.round(500 * SWING) / 500,
    "wrapped": (3 * SWING + np.pi) % TURN - np.pi,
    "many turns, wrapped": (9 * TIME + NOISE) % TURN,
    "at rest, then fast": np.where(TIME < 9, 1.2, 1.2 + 5 * (TIME - 9)),
    "at rest with noise": np.where(TIME < 9, 1.2, 1.2 + 5 * (TIME - 9)) + NOISE,
    "noise across the turn": (np.pi + 10 * NOISE) % TURN,
    "a slower sensor": np.repeat(SWING[::25], 25),
    "bounces": np.abs(np.sin(8 * TIME)) * np.exp(-TIME / 5),
    "a tap": np.where(TIME < 9, 0, np.abs(np.sin(60 * (TIME - 9)))) + NOISE,
    "steps": np.where(TIME < 9, 0, np.sign(np.sin(60 * (TIME - 9)))) + NOISE,
    "gaps": np.where(np.arange(2000) % 400 < 40, np.nan, SWING),
    "nothing": np.full(2000, np.nan),
    "ten rows": SWING[:10],
}


def changed(value, *rows):
    column = SWING + NOISE
    for row in rows:
        column[row] = value
    return column


def frozen(first, last):
    column = SWING.copy()
    column[first:last] = column[first]
    return column


@pytest.mark.parametrize("name", MOTIONS)
def test_nothing_is_said_of_motions(name):
    assert oddities(MOTIONS[name], TURN) == []
    assert not is_noise(MOTIONS[name], angle=True)


@pytest.mark.parametrize(
    ("column", "words", "count", "first"),
    [
        (changed(100.0, 812), "a spike", 1, 812),
        (changed(1.5, 500, 700, 900), "the number {value}, far", 3, 500),
        (changed(-2.0, slice(400, 403)), "the number {value}, far", 3, 400),
        (changed(0.0, slice(100, 150), slice(300, 330)), "the number {value}, far", 80, 100),
        (changed(0.0, slice(37, None, 5)), "the number {value}, far", 393, 37),
        (changed(999.0, slice(100, 105)), "the number {value}, far", 5, 100),
        (frozen(5, 65), "a sensor that freezes", 60, 5),
    ],
    ids=["spike", "three alike", "short", "zeros", "every fifth", "999", "frozen"],
)
def test_rows_that_were_not_measured_are_found(column, words, count, first):
    (found,) = oddities(column)
    assert words in found.text
    assert len(found.rows) == count and found.rows[0] == first


def test_the_message_has_rows_share_value_and_remedy(caplog):
    with caplog.at_level(logging.WARNING):
        warn(changed(0.0, slice(100, 150), 300), "run.csv: column 'a'", "write missing: [{value}]")
        assert caplog.messages == [
            "run.csv: column 'a': the number 0, far from the rows around it, in 51 of 2,000 rows "
            "(2.55 %): row 101, 102, 103, …; if nothing was measured there, write missing: [0]"
        ]


def test_random_numbers_are_no_motion_whatever_their_range(caplog):
    random = np.random.default_rng(1)
    columns = [random.normal(size=300), random.uniform(0, TURN, 300), random.integers(-3, 4, 300)]
    for column in columns:
        assert is_noise(column, angle=True)
    # The noise of a joint at rest, and a single spike in a motion.
    assert not is_noise(1e-2 * columns[0], angle=True)
    assert not is_noise(changed(1e5, 9), angle=True) and not is_noise(changed(1e5, 9), angle=False)
    positions = [("a", columns[0], True), ("b", SWING[:300], True)]
    with caplog.at_level(logging.WARNING):
        check_motion(positions, "run.csv", "mend it")
        assert "run.csv: a: the numbers are random from row to row" in caplog.text
    with pytest.raises(PdsimError, match=r"run\.csv: a: the numbers are random .*; mend it"):
        check_motion(positions[:1], "run.csv", "mend it")
