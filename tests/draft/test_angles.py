"""Angles that a table counts in another way than the system, found by its motion."""

import numpy as np
import pytest

from pdsim.draft.angles import Way, choose_way, read_as, with_way
from pdsim.draft.limits import misses
from pdsim.draft.matching import motion_of
from pdsim.draft.stretches import positions_of
from pdsim.draft.tables import Asked, Guessed
from pdsim.systems.double_pendulum import Options, build

SYSTEM = build(Options())
ABSOLUTE = np.array([[1.0, 0.0], [1.0, 1.0]])
WAYS = {
    Way("relative", "hanging"): (np.eye(2), 0.0),
    Way("absolute", "upright"): (ABSOLUTE, np.array([np.pi, np.pi])),
    Way("mirrored", "hanging"): (np.diag([1.0, -1.0]), 0.0),
    Way("relative", "upright"): (np.eye(2), np.array([np.pi, 0.0])),
}


@pytest.fixture(scope="module")
def motion(runs):
    recordings = list(runs.values())
    return motion_of(recordings, [positions_of(run, SYSTEM) for run in recordings], 1.0)


@pytest.fixture(scope="module")
def share_of(motion):
    return misses(SYSTEM, {}, motion)


def counted(motion, way):
    """A motion of the system as a table would have it that counts angles in a way."""
    change, shift = WAYS[way]
    positions, rates = np.split(motion.states, 2, axis=1)
    return motion._replace(
        states=np.hstack([positions @ change.T - shift, rates @ change.T]),
        accelerations=motion.accelerations @ change.T,
    )


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.words)
def test_the_motion_tells_how_angles_are_counted(motion, share_of, way):
    table = counted(motion, way)
    back = read_as(table, [0, 1], way)
    np.testing.assert_allclose(back.states[:, 2:], motion.states[:, 2:], atol=1e-12)
    np.testing.assert_allclose(np.sin(back.states), np.sin(motion.states), atol=1e-9)
    chosen, why = choose_way(SYSTEM, table, Asked(), lambda: share_of)
    assert chosen == way
    assert f"read {way.words}: " in why


def test_what_the_user_says_is_not_weighed(motion):
    chosen, why = choose_way(SYSTEM, motion, Asked(absolute=True, zero="upright"), lambda: None)
    assert chosen == Way("absolute", "upright")
    assert why == "as asked for"


def test_a_way_is_written_with_the_keys_of_channels():
    plain = Guessed(
        {"q0": {"column": "a", "unit": "deg"}, "q1": {"column": "b", "unit": "deg"}}, {}
    )
    written = with_way(plain, SYSTEM, Way("absolute", "upright")).values
    assert written["q0"] == {"column": "a", "unit": "deg", "offset": 180.0}
    assert written["q1"] == {"column": "b", "unit": "deg", "minus": "q0", "offset": 180.0}
    assert with_way(plain, SYSTEM, Way("mirrored", "hanging")).values["q1"]["sign"] == -1
