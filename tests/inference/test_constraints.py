"""The pieces of constrained SVGD, each alone: constraints, and what becomes of lost particles."""

import jax.numpy as jnp
import numpy as np
import pytest

from pdsim.inference.divergence import LastFinite, bring_back
from pdsim.inference.mdmm import Constraint, limit_violation, tightened


def test_multipliers_find_the_force_that_keeps_a_constraint():
    """Least ½‖x‖² with x_0 + x_1 = 1 lies at (½, ½), held by λ = −σ/2; two particles."""
    scale, everyone = 0.5, jnp.array([True, True])
    x, multiplier = jnp.array([[2.0, -1.0], [0.3, 0.3]]), jnp.zeros(2)
    for _ in range(2000):
        sum_to_one = Constraint(x.sum(axis=1) - 1, scale, multiplier)
        x = x - 0.05 * (x + sum_to_one.force(damping=1.0)[:, None])
        multiplier = sum_to_one.ascended(0.05, everyone)
    np.testing.assert_allclose(x, 0.5, atol=1e-6)
    np.testing.assert_allclose(multiplier, -scale / 2, atol=1e-6)


def test_multipliers_of_lost_particles_stay():
    constraint = Constraint(jnp.array([1.0, jnp.nan]), 2.0, jnp.array([3.0, 4.0]))
    raised = constraint.ascended(0.1, jnp.array([True, False]))
    np.testing.assert_allclose(raised, [3.05, 4.0])


def test_limits_are_violated_outside_the_box_only():
    x = jnp.array([-0.2, 0.0, 0.7, 1.0, 1.3])
    np.testing.assert_allclose(limit_violation(x), [0.2, 0.0, 0.0, 0.0, -0.3], atol=1e-15)


def test_the_scale_of_a_constraint_tightens_and_stays():
    progress = jnp.array([0.0, 0.25, 0.5, 0.9])
    np.testing.assert_allclose(tightened((1.0, 0.01), 0.5, progress), [1.0, 0.1, 0.01, 0.01])


@pytest.mark.parametrize("poison", [np.nan, np.inf])
def test_a_lost_particle_goes_halfway_to_the_mean_of_the_others(poison):
    x = jnp.array([[0.0, 0.0], [2.0, 4.0], [5.0, 7.0]])
    finite = jnp.array([True, True, False])
    np.testing.assert_array_equal(bring_back(x, finite), [[0, 0], [2, 4], [3, 4.5]])
    # The value of a lost particle reaches nobody else.
    found = bring_back(x.at[2].set(poison), finite)
    np.testing.assert_array_equal(found[:2], x[:2])


def test_a_lost_particle_goes_halfway_to_where_it_was_last_finite():
    last = LastFinite.start(jnp.zeros((3, 1)))
    last = last.remember(jnp.array([[1.0], [3.0], [9.0]]), jnp.array([True, True, False]))
    last = last.remember(jnp.array([[2.0], [7.0], [8.0]]), jnp.array([True, False, False]))
    np.testing.assert_array_equal(last.ever, [True, True, False])
    found = bring_back(jnp.array([[2.0], [7.0], [8.0]]), jnp.array([True, False, False]), last)
    # The second was last finite at 3; the third never was, and the others' mean is 2.5.
    np.testing.assert_array_equal(found, [[2.0], [5.0], [5.25]])
