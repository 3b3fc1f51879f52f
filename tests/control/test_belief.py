from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tiers import slow

from pdsim.control.belief import (
    Particles,
    Transition,
    Unscented,
    direction,
    kernel_score,
    silverman,
)
from pdsim.control.closed_loop import plant
from pdsim.control.tasks.cart_pole import CartPoleTask
from pdsim.control.tasks.payload import PayloadTask
from pdsim.control.tasks.quadrotor import QuadrotorTask
from pdsim.inference.stein import kernel, stein_direction

TRUTHS = {"quadrotor": np.log([0.7, 1.3]), "cart_pole": np.log([1.06, 0.95])}


def recorded(task, inputs, start):
    """The plant's transitions under some inputs."""
    truth = jnp.asarray(TRUTHS[task.name])

    def advance(x, u):
        after, _, _ = plant(task, x, task.remembered(x), u, truth)
        return after, Transition(x, u, after)

    return jax.lax.scan(advance, jnp.asarray(start), jnp.asarray(inputs))[1]


def excited(task, count=50):
    """Inputs that tell of both parameters, near rest, and what came of them."""
    rng = np.random.default_rng(0)
    spread = 0.3 * np.array(task.exploration)
    inputs = np.array(task.rest_input) + rng.normal(size=(count, len(spread))) @ spread.T
    return recorded(task, inputs, task.start(jax.random.key(0)))


def learnt(belief, transitions):
    """The belief after all of them, and all on the way."""
    first = belief.init(jnp.zeros(2), None)

    def advance(state, one):
        after = belief.learn(state, one)
        return after, after

    return jax.jit(lambda first: jax.lax.scan(advance, first, transitions))(first)


def unmoved(task, count):
    """Transitions that say next to nothing: a plant at rest, for as many steps."""
    rest = np.broadcast_to(task.rest_input, (count, len(task.rest_input)))
    return recorded(task, rest, [1.0, np.pi, 0.0, 0.0])


def test_silverman_s_bandwidth():
    assert silverman(64, 2) == pytest.approx(0.5, abs=1e-12)
    assert silverman(64, 1) == pytest.approx((4 / 3 / 64) ** 0.2)


def test_the_kernels_score_is_the_gradient_of_their_log_density():
    rng = np.random.default_rng(0)
    centres, points, width = rng.normal(size=(12, 2)), rng.normal(size=(5, 2)), np.array([0.4, 0.7])

    def log_density(point):
        return jax.scipy.special.logsumexp(-0.5 * jnp.sum(((centres - point) / width) ** 2, axis=1))

    expected = jax.vmap(jax.grad(log_density))(jnp.asarray(points))
    np.testing.assert_allclose(kernel_score(points, centres, width), expected, rtol=1e-9)


def test_the_direction_is_that_of_the_house():
    rng = np.random.default_rng(1)
    points, score = jnp.asarray(rng.normal(size=(32, 2))), jnp.asarray(rng.normal(size=(32, 2)))
    everyone = jnp.ones(32, bool)
    expected, _ = stein_direction(points, score, everyone)
    found = direction(points, score, kernel(points, everyone)[1])
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_an_observation_that_says_nothing_moves_nothing(precision):
    """Without force, upright and at rest, the masses do not act."""
    task, belief = CartPoleTask(), Particles(CartPoleTask())
    start = belief.init(None, None).astype(precision)
    rest = jnp.array([1.0, np.pi, 0.0, 0.0], precision)
    silent = Transition(rest, jnp.zeros(1, precision), rest)
    after = jax.jit(belief.learn)(start, silent)
    assert np.abs(np.asarray(after - start)).max() < 1e-6
    assert after.dtype == precision
    del task


@pytest.mark.parametrize("task", [QuadrotorTask(), CartPoleTask()], ids=lambda task: task.name)
@pytest.mark.parametrize("kind", [Particles, Unscented])
def test_the_belief_is_near_the_exact_posterior(task, kind, grid_posterior):
    """Means within a deviation of it, deviations within a factor of two."""
    transitions = excited(task)
    mean, deviation = grid_posterior(task, transitions)
    belief = kind(task)
    particles = np.asarray(belief.particles(learnt(belief, transitions)[0]))
    assert np.all(np.abs(particles.mean(axis=0) - mean) < deviation)
    ratio = particles.std(axis=0) / deviation
    assert np.all((ratio > 0.5) & (ratio < 2)), ratio


@pytest.mark.parametrize(
    "density, lowest, highest",
    [slow("silverman", 2.0, np.inf), slow("liu_west", 0.0, 0.5), ("null_drift", 0.5, 2.0)],
)
def test_what_the_densities_do_to_a_parameter_that_is_not_excited(
    density, lowest, highest, grid_posterior
):
    """The pole's mass, with the pole nearly still: exactly, the prior stays."""
    task = CartPoleTask()
    rng = np.random.default_rng(3)
    transitions = recorded(task, 0.3 * rng.normal(size=(200, 1)), [1.0, np.pi, 0.0, 0.0])
    transitions = jax.tree.map(lambda x: x[:200], transitions)
    _, exact = grid_posterior(task, jax.tree.map(lambda x: x[:20], transitions))
    end, _ = learnt(Particles(task, density=density), jax.tree.map(lambda x: x[:100], transitions))
    ratio = float(end[:, 1].std() / exact[1])
    assert lowest < ratio < highest, (ratio, exact)


def test_draws_have_the_mean_and_the_deviation_of_the_belief():
    belief = Particles(QuadrotorTask())
    rng = np.random.default_rng(4)
    state = jnp.asarray(rng.normal(size=(64, 2)) * [0.02, 0.1] + [0.1, -0.2])
    draws = np.asarray(belief.draw(state, jax.random.key(0), 40000))
    np.testing.assert_allclose(draws.mean(axis=0), state.mean(axis=0), atol=2e-3)
    np.testing.assert_allclose(draws.std(axis=0), state.std(axis=0), rtol=0.03)


def test_the_unscented_prior_has_the_moments_of_a_uniform_box():
    task = QuadrotorTask()
    state = Unscented(task).init(None, None)
    rng = np.random.default_rng(5)
    y = np.log(rng.uniform(0.5, 1.5, 400000))
    np.testing.assert_allclose(state.mean, y.mean(), atol=2e-3)
    np.testing.assert_allclose(np.sqrt(np.diag(state.covariance)), y.std(), rtol=5e-3)


def test_a_belief_may_leave_the_prior():
    """A vehicle of twice the nominal mass, above the prior's end at 1.5."""
    task = QuadrotorTask()
    truth = jnp.log(jnp.array([2.0, 1.0]))
    rng = np.random.default_rng(6)
    belief, x = Particles(task), task.start(jax.random.key(0))
    state = belief.init(None, None)
    learn, act = jax.jit(belief.learn), jax.jit(partial(plant, task))
    for u in rng.uniform(0.1, 0.25, (25, 2)):
        after, _, _ = act(x, task.remembered(x), jnp.asarray(u), truth)
        state = learn(state, Transition(x, jnp.asarray(u), after))
        x = after
    assert float(jnp.exp(state[:, 0].mean())) == pytest.approx(2.0, rel=0.03)


@pytest.mark.parametrize("kind", [Particles, Unscented])
def test_no_belief_leaves_limits_that_are_certain(kind):
    """The plant's cable is longer than any can be: what fits best is beyond the limit."""
    task, rng = PayloadTask(damping=False), np.random.default_rng(0)
    truth, inputs = jnp.log(jnp.array([1.5 / 0.6])), rng.normal(size=(90, 3))

    def advance(carry, u):
        x, memory = carry
        after, memory, _ = plant(task, x, memory, u, truth)
        return (after, memory), Transition(x, u, after)

    start = task.start(jax.random.key(0))
    _, transitions = jax.lax.scan(advance, (start, task.remembered(start)), jnp.asarray(inputs))
    belief = kind(task)
    first = belief.init(jnp.zeros(1), None)
    last, _ = jax.jit(
        lambda first: jax.lax.scan(lambda s, t: (belief.learn(s, t), None), first, transitions)
    )(first)
    lengths = 0.6 * np.exp(np.asarray(belief.draw(last, jax.random.key(1), 400)))
    assert lengths.min() >= 0.3 - 1e-9
    assert lengths.max() <= 0.9 + 1e-9
    assert lengths.mean() > 0.65
    # It goes on telling lengths apart.
    assert lengths.std() > 0.01
