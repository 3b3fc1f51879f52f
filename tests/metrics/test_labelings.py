"""Alike bodies: how draws name them, and what the report says of it."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

from pdsim.metrics.labelings import every_labeling, labelings, remark
from pdsim.parameters import Parameter, ParameterSpace
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
    assert labeling_text(PAIRS, SPACE, both, PLACES) == (
        " Alike bodies can be named in 2 ways; draws by labelings 50 / 50 %."
    )
    assert "1 lost. A complete posterior" in labeling_text(PAIRS, SPACE, both[:1], PLACES)
    assert labeling_text((), SPACE, both, PLACES) == labeling_text(PAIRS, SPACE, both, None) == ""


@pytest.mark.parametrize("count", [100, 7, 1])
def test_draws_of_one_mode_become_those_of_its_mirror_images(count):
    """Each draw has the bodies that it had, and every labeling is as frequent, to within one."""
    random = np.random.default_rng(0)
    bodies = PLACES + 0.01 * random.normal(size=(count, 2, 2))
    coordinates = SPACE.to_coordinates(jnp.asarray(bodies.reshape(count, 4)))
    named = every_labeling(coordinates, PAIRS, SPACE, seed=1)
    found = np.asarray(SPACE.to_physical(named)).reshape(count, 2, 2)
    np.testing.assert_allclose(np.sort(found, axis=1), np.sort(bodies, axis=1), atol=1e-12)
    together = found[:, 0, 0] > 0
    np.testing.assert_allclose(found[together], bodies[together], atol=1e-12)
    np.testing.assert_allclose(found[~together], bodies[~together, ::-1], atol=1e-12)
    assert abs(2 * int(together.sum()) - count) <= 1
    other = every_labeling(coordinates, PAIRS, SPACE, seed=2)
    assert count < 8 or not np.array_equal(named, other)


def test_bodies_that_differ_in_limits_keep_their_names():
    """Their modes are not mirror images within the limits."""
    first, *others = SPACE.parameters
    space = ParameterSpace((replace(first, upper=0.2), *others))
    coordinates = jnp.full((4, 4), 0.4).at[:, 0].set(0.3)
    assert every_labeling(coordinates, PAIRS, space, seed=0) is coordinates
    assert every_labeling(coordinates, (), SPACE, seed=0) is coordinates
