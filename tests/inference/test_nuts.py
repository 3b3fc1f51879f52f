"""What chains of the No-U-Turn sampler adapt, and when they wait for each other."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from inference.targets import build, gaussian

from pdsim.inference import tree
from pdsim.inference.fitted_chains import Gaussian

PROBLEM = gaussian([0.4, 0.6], np.diag([4e-3, 2e-3]))


@pytest.fixture(scope="module")
def pooled():
    """An estimator with a warm-up of 600 evaluations, and chains that have begun."""
    estimator = build("nuts", particles=20, iterations=100, settings={"chain_count": 10})
    z = jnp.asarray(np.random.default_rng(0).normal(size=(10, 2)))
    return estimator, estimator.begin(PROBLEM, z, Gaussian(z[0], jnp.eye(2)))


def test_a_step_size_is_held_before_the_first_update(pooled):
    """That of the start, and not the one that a new average of logarithms stands for."""
    _, state = pooled
    dual = state.dual_averaging
    assert dual.log_step_size_avg == dual.log_step_size == pytest.approx(np.log(0.5))


def test_the_mass_matrix_changes_at_the_end_of_a_window_but_not_of_the_warm_up(pooled):
    estimator, state = pooled
    draws = state.draw.z
    full = state.moments._replace(total=state.window - 1.0, squares=100 * jnp.eye(2))
    state = state._replace(moments=full)

    def adapted(spent):
        return estimator._adapted(state, state.draw, jnp.asarray(0.9), jnp.array(spent))

    dual, moments, root, window = adapted(500)
    assert window == 2 * state.window and moments.total == 0
    assert not np.allclose(root, state.root)
    assert dual.log_step_size_avg == pytest.approx(float(dual.log_step_size))
    dual, moments, root, window = adapted(560)
    assert window == state.window and moments.total == full.total + len(draws)
    np.testing.assert_array_equal(root, state.root)
    assert dual.step == state.dual_averaging.step + 1


def ahead(state, count, by):
    """Draws of chains, the first of them ahead."""
    return jnp.zeros(count, int).at[0].set(by)


@pytest.mark.parametrize("by", (tree.LEAD, tree.LEAD + 1))
@pytest.mark.parametrize("name", ("nuts", "nuts_separate"))
def test_a_chain_waits_that_is_far_ahead(name, by):
    """It costs nothing then, and stays as it is."""
    estimator = build(name, particles=20, iterations=100, settings={"chain_count": 5})
    sampler = estimator.init(PROBLEM, 0).sampler
    if name == "nuts":
        sampler = sampler.sampler
        sampler = sampler._replace(draws=ahead(sampler, 5, by), spent=jnp.array(1000))
    else:
        adaptation = sampler.adaptation._replace(draws=ahead(sampler, 5, by))
        sampler = sampler._replace(adaptation=adaptation)
    new, info = jax.jit(estimator.step)(jax.random.key(0), PROBLEM, sampler)
    waits = by > tree.LEAD
    assert info.evaluations == 5 - waits
    steps = np.asarray(new.trees.steps) + np.asarray(new.moved)
    assert (steps[1:] == 1).all() and steps[0] == 1 - waits


def test_in_the_warm_up_chains_wait_until_all_have_a_draw(pooled):
    estimator, state = pooled
    step, costs, rows = jax.jit(estimator.step), [], []
    for number in range(60):
        state, info = step(jax.random.key(number), PROBLEM, state)
        costs.append(int(info.evaluations))
        rows.append(np.asarray(state.draws))
    apart = np.ptp(rows, axis=1)
    assert set(apart) == {0, 1} and rows[-1].min() > 3
    assert min(costs) < 10 == max(costs)
    assert state.dual_averaging.step == rows[-1].min() + 1
