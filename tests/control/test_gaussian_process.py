import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tiers import slow

from pdsim.control.belief import Transition
from pdsim.control.closed_loop import advance_all, begin_all, plant
from pdsim.control.config import ControlConfig, ControllerConfig
from pdsim.control.gaussian_process import (
    GaussianProcess,
    Regression,
    amplitudes,
    basis,
    features_along,
    regress,
)
from pdsim.control.tasks.cart_pole import CartPoleTask
from pdsim.control.tasks.quadrotor import QuadrotorTask


def features(x, points, scale):
    grid, turn = basis(points, scale)
    along = jax.vmap(lambda one: features_along(one, grid, jnp.asarray(turn), 1 / scale))
    return np.asarray(jax.jit(along)(jnp.asarray(x)))


def learnt(x, y, noise, points, scale):
    """One function of one input after some observations."""
    state = Regression(jnp.eye(points), jnp.zeros(points), jnp.zeros(()))
    rows = (features(x, points, scale), jnp.asarray(y))

    def advance(state, row):
        return regress(state, *row, noise), None

    return jax.jit(lambda first: jax.lax.scan(advance, first, rows)[0])(state)


def squared_exponential(a, b, scale):
    return np.exp(-0.5 * ((a[:, None] - b) / scale) ** 2)


def test_mean_variance_and_evidence_are_those_of_the_process():
    """Observed on its own grid the feature kernel is the squared exponential one, and the exact
    process is K (K + σ²I)⁻¹ y, with evidence log N(y; 0, K + σ²I)."""
    scale, noise, points = 0.6, 0.2, 6
    rng = np.random.default_rng(0)
    x = np.repeat(np.linspace(-1, 1, points), 2)
    y = np.sin(3 * x) + noise * rng.normal(size=len(x))
    state = learnt(x, y, noise, points, scale)
    whole = squared_exponential(x, x, scale) + noise**2 * np.eye(len(x))
    weights = np.linalg.solve(state.root, state.target)
    # The mean is that of the exact process everywhere, the variance where the grid is.
    new = np.linspace(-1, 1, 23)
    cross = squared_exponential(new, x, scale)
    expected = cross @ np.linalg.solve(whole, y)
    np.testing.assert_allclose(features(new, points, scale) @ weights, expected, atol=1e-8)
    cross = squared_exponential(x, x, scale)
    variance = np.diag(cross - cross @ np.linalg.solve(whole, cross.T))
    across = np.linalg.solve(np.asarray(state.root).T, features(x, points, scale).T)
    np.testing.assert_allclose((across**2).sum(axis=0), variance, atol=1e-8)
    log = np.linalg.slogdet(2 * np.pi * whole)[1]
    assert float(state.evidence) == pytest.approx(-0.5 * (y @ np.linalg.solve(whole, y) + log))


def test_the_features_are_near_the_kernel_between_their_points():
    for scale in (1.0, 2.0, 4.0):
        x = np.linspace(-1, 1, 31)
        shown = features(x, 4, scale)
        np.testing.assert_allclose(
            shown @ shown.T, squared_exponential(x, x, scale), atol=0.02 if scale == 1 else 1e-3
        )


def flown(task, belief, truth, steps):
    """The belief after inputs at random, from tilts at random."""
    rng = np.random.default_rng(0)
    root, kind = np.array(task.exploration), truth.dtype
    inputs = np.array(task.rest_input) + rng.normal(size=(steps, len(root))) @ root.T
    inputs = np.clip(inputs, task.lowest_input, task.highest_input).astype(kind)
    tilts = (0.3 * rng.normal(size=steps)).astype(kind)

    def advance(state, drive):
        u, tilt = drive
        x = jnp.zeros(6, kind).at[2].set(tilt)
        after, _, _ = plant(task, x, task.remembered(x), u, truth)
        return belief.learn(state, Transition(x, u, after)), None

    first = belief.init(truth, None)
    return jax.jit(lambda first: jax.lax.scan(advance, first, (inputs, tilts))[0])(first)


@pytest.mark.parametrize("precision", ["float64", slow("float32")])
def test_it_learns_what_a_heavier_vehicle_lacks(precision):
    """Vertical residual at level: (1/m − 1/m₀)(T1 + T2), with m = 1.3 m₀."""
    task = QuadrotorTask()
    truth = jnp.log(jnp.array([1.3, 0.8], precision))
    belief = GaussianProcess(task)
    state = flown(task, belief, truth, 150)
    assert state.root.dtype == precision
    model, rest = belief.model, jnp.zeros(6, precision)
    prepared = jax.vmap(model.prepare)(belief.draw(state, jax.random.key(1), 200))
    thrusts = jnp.array([0.12, 0.15], precision)

    @jax.jit
    def lifts(one):
        return jnp.stack([model.residual(tuple(rest), (t, t), one)[1] for t in thrusts])

    found = np.asarray(jax.vmap(lifts)(prepared))
    expected = (1 / 1.3 - 1) / task.nominal[0] * 2 * np.asarray(thrusts)
    assert np.all(found.std(axis=0) < 0.1 * amplitudes(task)[1])
    np.testing.assert_allclose(found.mean(axis=0), expected, atol=0.5)
    # A step with the corrected model is nearer to the plant's than the nominal one.
    u = (thrusts[1], thrusts[1])
    after, _, _ = plant(task, rest, task.remembered(rest), jnp.stack(u), truth)
    one = jax.tree.map(lambda leaf: leaf[0], prepared)
    corrected = jnp.stack(model.step(tuple(rest), u, one))
    nominal = jnp.stack(task.system.step(tuple(rest), u, 0.0, one.body, task.control_time))
    assert corrected.dtype == precision
    assert abs(corrected[4] - after[4]) < 0.3 * abs(nominal[4] - after[4])


def test_before_anything_is_seen_its_draws_have_the_prior_s_residuals():
    task = QuadrotorTask()
    belief = GaussianProcess(task)
    draws = belief.draw(belief.init(jnp.zeros(2), None), jax.random.key(0), 3000)
    prepared = jax.vmap(belief.model.prepare)(draws)
    level = tuple(jnp.zeros(6))
    values = jax.vmap(lambda one: jnp.stack(belief.model.residual(level, (0.13, 0.13), one)))(
        prepared
    )
    np.testing.assert_allclose(values.std(axis=0), amplitudes(task), rtol=0.06)
    # At random (T1 + T2)(1/m − 1/m₀) upright or tilted, of the width that ± 50 % of mass gives.
    assert 2 < amplitudes(task)[1] < 10


@pytest.mark.slow
@pytest.mark.parametrize("task", [QuadrotorTask(), CartPoleTask()], ids=lambda task: task.name)
def test_a_controller_with_it_runs_in_closed_loop(task):
    """The process is learnt and used by a controller, from step to step."""
    config = ControllerConfig(name="gp", belief="gp", samples=9, sequences=20, horizon=6, grid=3)
    one = config.build(task)
    _, record = advance_all(one, 0, begin_all(one, 0, 2), jnp.asarray(0), 4)
    assert np.all(np.isfinite(np.asarray(record.state)))
    assert np.all(np.isfinite(np.asarray(record.safety)))


def test_a_task_that_names_no_inputs_of_its_residual_is_told():
    made = {
        "kind": "control",
        "title": "t",
        "task": {"name": "payload"},
        "controllers": [{"name": "process", "belief": "gp"}],
        "budgets": {"smoke": {"simulations": 1, "laps": 1}},
    }
    told = "process has belief gp, and task payload does not say"
    with pytest.raises(ValueError, match=re.escape(told)):
        ControlConfig.model_validate(made)
