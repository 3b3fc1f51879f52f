"""Alike bodies: how draws name them, and what the report says of it."""

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from pdsim.parameters.joint_prior import JointPrior
from pdsim.parameters.labelings import (
    every_labeling,
    interchangeable,
    labelings,
    named_alike,
    remark,
)
from pdsim.parameters.space import Parameter, ParameterSpace
from pdsim.recordings.trajectories import true_places
from pdsim.stages.report import labeling_text

PAIRS = (("weight1_x", "weight1_y"), ("weight2_x", "weight2_y"))
PLACES = np.array([[0.1, 0.0], [-0.1, 0.0]])
SPACE = ParameterSpace(
    tuple(Parameter(name, -0.14, 0.14, "m", sets=(name,)) for pair in PAIRS for name in pair)
)


def test_draws_are_counted_by_the_labeling_they_are_nearest_to():
    near = PLACES + 0.01
    draws = np.stack([near, near, near[::-1], near])
    assert labelings(draws, PLACES).tolist() == [0.75, 0.25]
    assert remark(np.array([0.75, 0.25])) == "labelings 75 / 25 %"
    assert remark(np.array([1.0, 0.0])) == "labelings 100 / 0 %, 1 lost"


def test_the_report_says_when_a_labeling_is_lost():
    both = np.stack([PLACES.ravel(), PLACES[::-1].ravel()])
    told = " In the table alike bodies have one naming in all draws."
    assert labeling_text(PAIRS, SPACE, both, PLACES) == (
        f"{told} They can be named in 2 ways; draws by labelings 50 / 50 %."
    )
    assert "mirror images" in labeling_text(PAIRS, SPACE, both, PLACES, filled_in=True)
    assert "1 lost. A complete posterior" in labeling_text(PAIRS, SPACE, both[:1], PLACES)
    assert labeling_text(PAIRS, SPACE, both, None) == told
    assert labeling_text((), SPACE, both, PLACES) == ""


@pytest.mark.parametrize("known", [True, False])
def test_draws_can_be_named_alike(known):
    """As the truth names the bodies, or else as the first draw does."""
    random = np.random.default_rng(0)
    bodies = PLACES + 0.03 * random.normal(size=(50, 2, 2))
    mixed = np.where((np.arange(50) % 2 == 1)[:, None, None], bodies, bodies[:, ::-1])
    named = named_alike(mixed.reshape(50, 4), PAIRS, SPACE.names, PLACES if known else None)
    expected = bodies if known else bodies[:, ::-1]
    np.testing.assert_array_equal(named.reshape(50, 2, 2), expected)
    assert named_alike(mixed.reshape(50, 4), (), SPACE.names) is not None


def test_true_places_are_known_whatever_else_is_not():
    """A parameter without a truth does not hide where the bodies are."""
    other = Parameter("mass", 0.1, 1.0, "kg", sets=("mass",))
    space = ParameterSpace((other, *SPACE.parameters))
    data = xr.Dataset(
        {
            "truth": (("trajectory", "system_parameter"), PLACES.reshape(1, 4)),
            "split": ("trajectory", ["train"]),
            "length": ("trajectory", [10]),
            "observed": (("trajectory", "time"), np.zeros((1, 10))),
        },
        coords={"system_parameter": list(SPACE.names)},
    )
    np.testing.assert_array_equal(true_places(data, space, PAIRS), PLACES)
    assert true_places(data, space, ()) is None
    assert true_places(data.drop_vars("truth"), space, PAIRS) is None


@pytest.mark.parametrize("count", [100, 7, 1])
def test_draws_of_one_mode_become_those_of_its_mirror_images(count):
    """Each draw has the bodies that it had, and every labeling is as frequent, to within one."""
    random = np.random.default_rng(0)
    bodies = PLACES + 0.01 * random.normal(size=(count, 2, 2))
    coordinates = np.asarray(SPACE.to_coordinates(bodies.reshape(count, 4)))
    named = every_labeling(coordinates, PAIRS, SPACE, seed=1)
    found = np.asarray(SPACE.to_physical(named)).reshape(count, 2, 2)
    np.testing.assert_allclose(np.sort(found, axis=1), np.sort(bodies, axis=1), atol=1e-12)
    together = found[:, 0, 0] > 0
    np.testing.assert_allclose(found[together], bodies[together], atol=1e-12)
    np.testing.assert_allclose(found[~together], bodies[~together, ::-1], atol=1e-12)
    assert abs(2 * int(together.sum()) - count) <= 1
    other = every_labeling(coordinates, PAIRS, SPACE, seed=2)
    assert count < 8 or not np.array_equal(named, other)


def test_bodies_whose_modes_differ_are_not_interchangeable():
    """Modes are mirror images with equal limits and priors alone, and no prior that joins them."""
    first, *others = SPACE.parameters
    joint = JointPrior.fitted(
        [first.name], np.array([[0.2], [0.4], [0.5], [0.6]]), np.zeros(1), np.ones(1)
    )
    assert interchangeable(PAIRS, SPACE)
    assert not interchangeable((), SPACE)
    assert not interchangeable(PAIRS, ParameterSpace((replace(first, upper=0.2), *others)))
    *rest, last = SPACE.parameters
    assert not interchangeable(PAIRS, ParameterSpace((*rest, replace(last, lower=-0.2))))
    assert not interchangeable(PAIRS, ParameterSpace((replace(first, prior="normal"), *others)))
    assert not interchangeable(PAIRS, ParameterSpace(SPACE.parameters, joint=joint))


def test_three_bodies_have_six_namings():
    """Pairs that lie between other parameters, in single precision."""
    pairs = tuple((f"x{i}", f"y{i}") for i in range(3))
    names = ["x0", "a", "y0", "x1", "x2", "y2", "y1", "b"]
    space = ParameterSpace(tuple(Parameter(n, 0.0, 1.0, "m", sets=(n,)) for n in names))
    columns = [[names.index(name) for name in pair] for pair in pairs]
    bodies = np.array([[0.1, 0.2], [0.5, 0.6], [0.8, 0.9]], np.float32)
    one = np.full(8, 0.3, np.float32)
    one[np.array(columns)] = bodies
    named = every_labeling(np.tile(one, (14, 1)), pairs, space, seed=0)
    assert named.dtype == np.float32
    np.testing.assert_array_equal(named[:, [1, 7]], np.float32(0.3) + np.zeros((14, 2), np.float32))
    shares = 14 * labelings(named[:, columns], bodies)
    assert shares.min() >= 2
    assert shares.max() <= 3
    np.testing.assert_array_equal(
        named_alike(named, pairs, space.names, bodies), np.tile(one, (14, 1))
    )
