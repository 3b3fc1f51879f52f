from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pdsim.control.mppi import (
    Outcome,
    Plan,
    Planner,
    control_step,
    evaluate,
    first_plan,
    nominal_cost,
    references,
    shifted,
    weights,
)
from pdsim.control.tasks.quadrotor import QuadrotorTask

SMALL = Planner(QuadrotorTask(), sequences=40, horizon=8)
STATE = jnp.array([0.75, 1.0, 0.0, 0.0, 0.0, 0.0])
DRAWS = jnp.log(jnp.array([[1.0, 1.0], [0.8, 1.2], [1.3, 0.9]]))


@pytest.fixture(scope="module")
def decide():
    """The compiled control step of some planners."""
    return partial(jax.jit, static_argnums=0)(control_step)


def decided(decide, planner, state=STATE, plan=None, key=0):
    plan = first_plan(planner, state.dtype) if plan is None else plan
    return decide(planner, plan, state, jnp.zeros(()), DRAWS, DRAWS, jax.random.key(key))


def test_weights_are_those_of_costs_up_to_a_constant():
    cost = jnp.array([3.0, 1.0, 2.0, 1e6])
    found = np.asarray(weights(cost, 0.5))
    assert found.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(found, weights(cost + 1e5, 0.5), rtol=1e-9)
    assert found[1] / found[2] == pytest.approx(np.exp(2))


def test_weights_are_a_number_where_all_is_unsafe_and_in_single_precision():
    found = np.asarray(weights(jnp.full(4, 1e5 + 1e6, jnp.float32), 0.01))
    np.testing.assert_allclose(found, 0.25, rtol=1e-6)


def test_a_controller_may_have_a_temperature_of_its_own(decide):
    """Of nearly nothing it takes the cheapest sequence, of very much the mean of all."""
    task = SMALL.task
    noise = jax.random.normal(jax.random.key(0), (40, 8, 2)) @ jnp.asarray(task.exploration).T
    rest = first_plan(SMALL, STATE.dtype).nominal
    sequences = jnp.clip(rest + noise, jnp.array(task.lowest_input), jnp.array(task.highest_input))
    ahead = references(SMALL, jnp.zeros(()))
    cost, _ = nominal_cost(
        replace(SMALL, risk=0.4), evaluate(SMALL, tuple(STATE), ahead, DRAWS, sequences)
    )
    for temperature, expected in ((1e-9, sequences[cost.argmin()]), (1e9, sequences.mean(axis=0))):
        planner = replace(SMALL, risk=0.4, robust=False, temperature=temperature)
        plan, _ = decided(decide, planner)
        np.testing.assert_allclose(plan.nominal, expected, atol=1e-7)


def test_a_plan_moves_on_by_a_step():
    sequence = jnp.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(shifted(sequence), [[2, 3], [4, 5], [4, 5]])


def test_a_plan_begins_at_rest_and_not_at_zero_thrust():
    plan = first_plan(SMALL, jnp.float64)
    task = SMALL.task
    np.testing.assert_allclose(plan.nominal, np.broadcast_to(task.rest_input, (8, 2)))
    assert np.all(np.asarray(plan.robust) > task.lowest_input)


def test_an_outcome_is_that_of_a_plain_simulation():
    """Costs and clearances of two sequences and three parameters, by loops in NumPy."""
    task = SMALL.task
    rng = np.random.default_rng(0)
    sequences = rng.uniform(0.06, 0.29, (2, 8, 2))
    time = jnp.asarray(0.4)
    found = evaluate(SMALL, tuple(STATE), references(SMALL, time), DRAWS, jnp.asarray(sequences))

    def rates(x, u, theta):
        lift, turn = u.sum() / theta[0], 0.0397 * (u[1] - u[0]) / (np.sqrt(2) * theta[1])
        return np.array([*x[3:], np.sin(x[2]) * lift, np.cos(x[2]) * lift - 9.8, turn])

    for m in range(2):
        for p in range(3):
            theta, x, cost = np.exp(DRAWS[p]) * task.nominal, np.array(STATE), 0.0
            heights = [x[1]]
            for k in range(8):
                u = sequences[m, k]
                k1 = rates(x, u, theta)
                k2 = rates(x + 0.01 * k1, u, theta)
                k3 = rates(x + 0.01 * k2, u, theta)
                k4 = rates(x + 0.02 * k3, u, theta)
                x = x + 0.02 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
                goal = np.array(task.reference(0.4 + 0.02 * (k + 1)))
                cost += np.sum(np.array(task.state_weights) * (x - goal) ** 2)
                cost += 0.1 * np.sum((u - 0.1323) ** 2)
                heights.append(x[1])
            assert float(found.cost[m, p]) == pytest.approx(cost, rel=1e-9)
            assert float(found.clearance[m, p]) == pytest.approx(1.4 - max(heights), abs=1e-9)
            assert float(found.assumed[m, p]) == pytest.approx(1.4 - max(heights), abs=1e-9)


def test_the_robust_minimum_may_leave_out_the_present():
    """Sinking away from the ceiling: the present is the tightest point."""
    planner = replace(SMALL, robust_min_from=1)
    falling = (*STATE[:4], jnp.asarray(-1.0), STATE[5])
    rest = first_plan(planner, STATE.dtype).nominal[None]
    ahead = references(planner, jnp.zeros(()))
    found = evaluate(planner, falling, ahead, DRAWS[:1], rest)
    assert float(found.clearance[0, 0]) == pytest.approx(0.4)
    assert float(found.assumed[0, 0]) == pytest.approx(0.42, abs=1e-6)


def test_roll_outs_that_are_not_finite_are_dear_and_unsafe():
    planner = replace(SMALL, risk=0.4)
    rest = first_plan(planner, STATE.dtype).nominal[None]
    ahead = references(planner, jnp.zeros(()))
    # Not finite in x alone, which is no matter of safety, and in the height.
    for place, expected in ((0, 1e6), (1, 1e6 + 1e5)):
        lost = tuple(STATE.at[place].set(np.nan))
        cost, safety = nominal_cost(planner, evaluate(planner, lost, ahead, DRAWS, rest))
        assert float(cost[0]) == pytest.approx(expected)
        assert (float(safety[0]) == -1e6) == (place == 1)


def test_a_sequence_that_is_not_safe_pays_the_penalty():
    outcome = Outcome(
        cost=jnp.array([[1.0, 3.0], [1.0, 3.0]]),
        clearance=jnp.array([[0.1, 0.2], [0.1, -0.01]]),
        assumed=jnp.zeros((2, 2)),
    )
    cost, safety = nominal_cost(replace(SMALL, risk=1 / 3), outcome)
    np.testing.assert_allclose(cost, [2.0, 2.0 + 1e5])
    np.testing.assert_allclose(safety, [0.1, -0.01])


def test_the_same_key_decides_the_same_and_another_does_not(decide):
    planner = replace(SMALL, risk=0.4)
    one, two, three = (decided(decide, planner, key=key)[1].input for key in (0, 0, 1))
    np.testing.assert_array_equal(one, two)
    assert np.any(np.asarray(one) != np.asarray(three))
    low, high = planner.task.lowest_input, planner.task.highest_input
    assert np.all((np.asarray(one) >= low) & (np.asarray(one) <= high))


def test_the_robust_plan_is_applied_where_the_nominal_one_is_not_safe(decide):
    """Rising fast below the ceiling, no sequence of 0.16 s stays below it."""
    planner = replace(SMALL, risk=0.4)
    plan, decision = decided(decide, planner)
    assert not bool(decision.fallback)
    assert float(decision.safety) > 0
    assert np.any(np.asarray(plan.nominal) != np.asarray(plan.robust))
    rising = STATE.at[1].set(1.38).at[4].set(1.5)
    plan, decision = decided(decide, planner, rising)
    assert bool(decision.fallback)
    assert float(decision.safety) <= 0
    np.testing.assert_array_equal(plan.nominal, plan.robust)
    np.testing.assert_array_equal(decision.input, plan.robust[0])


def test_the_robust_plan_moves_away_from_the_unsafe_set(decide):
    """From rest near the ceiling it has less thrust than the nominal one, which climbs to 1.75 m."""
    planner = replace(SMALL, risk=0.4, robust_min_from=1)
    state = STATE.at[1].set(1.3)
    climbing = Plan(
        *(jnp.broadcast_to(jnp.asarray(planner.task.rest_input), (8, 2)) for _ in range(2))
    )
    for key in range(3):
        climbing, decision = decided(decide, planner, state, climbing, key)
    assert not bool(decision.fallback)
    assert float(climbing.robust.sum()) < float(climbing.nominal.sum())


def test_too_few_samples_for_the_risk_are_never_safe(decide):
    _, decision = decided(decide, SMALL)  # three draws at δ = 0.1
    assert bool(decision.fallback)


def test_without_a_robust_plan_the_nominal_one_is_always_applied(decide):
    planner = replace(SMALL, robust=False, risk=0.4)
    rising = STATE.at[1].set(1.38).at[4].set(1.5)
    plan, decision = decided(decide, planner, rising)
    assert not bool(decision.fallback)
    np.testing.assert_array_equal(decision.input, plan.nominal[0])
