"""Least squares against scipy's, on problems with curvature, limits and more than one optimum."""

from dataclasses import dataclass, field

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from inference.targets import build, gaussian
from scipy import optimize

from pdsim.inference.runner import run
from pdsim.likelihood.problem import Linearisation, Position
from pdsim.likelihood.shooting import shooting_problem
from pdsim.parameters.space import Parameter, ParameterSpace
from pdsim.recordings.recording import unsmoothed
from pdsim.recordings.trajectories import trajectory_set
from pdsim.systems.oscillator import Oscillator
from pdsim.systems.simulator import Simulator

NOISE, FRAMES = np.array([0.01, 0.05]), 60


def space(highest_stiffness=20.0):
    return ParameterSpace(
        (
            Parameter("stiffness", 5.0, highest_stiffness, "N/m", sets=("stiffness",)),
            Parameter("damping", 0.05, 2.0, "N s/m", scale="log", sets=("damping",)),
            Parameter("gain", 0.5, 2.0, "-", prior="normal", mean=1.2, standard_deviation=0.1,
                      sets=("gain",)),
        ),
        (("mass", 0.7), ("rest", 0.05)),
    )  # fmt: skip


def oscillator(windows=1, highest_stiffness=20.0):
    """The problem of a driven oscillator with white noise, seen through its own simulator."""
    system, random = Oscillator(integrator="rk4"), np.random.default_rng(0)
    force = np.repeat(random.uniform(-5, 5, FRAMES // 5), 5)
    silent = unsmoothed("0", 0.02, np.zeros((FRAMES, 2)), force[:, None], 2)
    data = trajectory_set(system, [silent], ["train"], {})
    data["start"][:] = data["states"][:] = np.array([0.3, -0.8])
    simulator = Simulator(system, space(), 2)
    truth = space().to_coordinates(np.array([12.0, 0.4, 1.3]))[None]
    options = {"combination": "product"}
    flat = shooting_problem(simulator, data, np.ones(2), window_count=1, **options)
    motion = flat.linearise(Position(truth, jnp.zeros((1, 1, 0, 2)))).residuals
    motion = np.asarray(motion).reshape(2, FRAMES - 1).T
    data["states"][0, 1:] = motion
    data["observed"][0, 1:] = motion + NOISE * random.normal(size=motion.shape)
    return shooting_problem(
        Simulator(system, space(highest_stiffness), 2), data, NOISE, window_count=windows, **options
    )


def minimise(problem, settings=None, iterations=2000, particles=20, seed=0):
    estimator = build(
        "least_squares", particles=particles, iterations=iterations, settings=settings
    )
    return estimator, run(estimator, problem, seed=seed, chunk_size=iterations)


def scipy_s(problem):
    """Optimum and covariance of the same residuals; those of the prior are whatever they are."""
    nothing = jnp.zeros((1, *problem.start_shooting().shape))
    prior = problem.space.parameters[2]

    @jax.jit
    def residuals(x):
        found = problem.linearise(Position(x[None], nothing))
        gain = (prior.to_physical(x[2]) - prior.mean) / prior.standard_deviation
        # A uniform prior under a logarithmic scale leans to the upper end: exp(u log(b/a)).
        lean = jnp.sqrt(2 * (1 - x[1]) * jnp.log(2.0 / 0.05))
        return jnp.concatenate([found.residuals.ravel(), gain[None], lean[None]])

    found = optimize.least_squares(
        lambda x: np.asarray(residuals(jnp.asarray(x))),
        np.full(3, 0.5),
        jac=lambda x: np.asarray(jax.jacfwd(residuals)(jnp.asarray(x))),
        bounds=(0, 1), xtol=1e-15, ftol=1e-15, gtol=1e-12, max_nfev=1000,
    )  # fmt: skip
    # The lean is linear in the log density: it has a slope and no curvature.
    slopes = found.jac[:-1]
    return found.x, np.linalg.inv(slopes.T @ slopes)


def test_the_optimum_and_its_covariance_are_scipy_s():
    problem = oscillator()
    estimator, result = minimise(problem)
    found = estimator.laplace(result.state)
    optimum, covariance = scipy_s(problem)
    np.testing.assert_allclose(found.optimum, optimum, rtol=1e-6)
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-4)
    np.testing.assert_allclose(found.mean, found.optimum, rtol=1e-6)
    assert result.ended == "converged"
    assert result.history["agreeing"][-1] == 1.0
    assert (np.diff(result.history["objective"]) <= 0).all()


def test_what_is_reported_is_in_the_parameters_units():
    problem = oscillator()
    estimator, result = minimise(problem)
    told = estimator.convergence(problem, result.state)
    np.testing.assert_allclose(told["optimum"], [12.0, 0.4, 1.3], rtol=0.1)
    draws = problem.space.to_physical(estimator.draws(problem, result.state).parameters)
    assert draws.shape == (20, 3)
    many, result = minimise(problem, particles=2000, iterations=20)
    draws = problem.space.to_physical(many.draws(problem, result.state).parameters)
    np.testing.assert_allclose(np.std(draws, axis=0), told["deviation"], rtol=0.06)


def test_an_optimum_at_a_limit_is_the_best_one_there():
    """The true stiffness of 12 N/m lies outside; draws crowd at the limit as its slope says."""
    problem = oscillator(highest_stiffness=11.0)
    estimator, result = minimise(problem, particles=2000, iterations=20)
    found = estimator.laplace(result.state)
    assert found.optimum[0] == 1.0
    assert found.mean[0] > 1.0
    # Scipy's steps end inside, next to the limit.
    np.testing.assert_allclose(found.optimum, scipy_s(problem)[0], rtol=1e-4)
    x = np.asarray(estimator.draws(problem, result.state).parameters)
    assert x.min() >= 0
    assert x.max() <= 1
    # The distance to the limit falls off exponentially, by the slope there.
    pull = np.linalg.solve(found.covariance, found.mean - found.optimum)[0]
    assert np.mean(1 - x[:, 0]) == pytest.approx(1 / pull, rel=0.15)


def test_closed_windows_have_the_optimum_of_the_whole_roll_out():
    tight = {"defect_deviation": 1e-5}
    (one, whole), (other, windows) = (
        minimise(oscillator()),
        minimise(oscillator(windows=3), tight),
    )
    one, other = one.laplace(whole.state), other.laplace(windows.state)
    deviation = np.sqrt(np.diag(one.covariance))
    assert (np.abs(one.optimum - other.optimum) < 0.01 * deviation).all()
    np.testing.assert_allclose(other.covariance, one.covariance, rtol=0.01)
    assert windows.ended == "converged"
    assert windows.history["max_defect"][-1] < 1e-4
    # The starts of the windows follow the parameters.
    assert other.response.shape == (1, 2 * 2, 3)


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class ToneProblem:
    """sin(2π f t) with noise: the likelihood of its frequency has an optimum every few tenths."""

    recorded: jax.Array
    space: ParameterSpace = field(metadata={"static": True})
    rollout_count: int = field(default=1, metadata={"static": True})
    tangent_count: int = field(default=1, metadata={"static": True})

    def residuals(self, x):
        time = jnp.arange(len(self.recorded)) / 50
        frequency = self.space.to_physical(x)[0]
        return (jnp.sin(2 * jnp.pi * frequency * time) - self.recorded) / 0.1

    def start_shooting(self):
        return jnp.zeros((1, 0, 1))

    def evaluate(self, position: Position):
        residuals = jax.vmap(self.residuals)(position.parameters)
        return -0.5 * (residuals**2).sum(axis=1), position.shooting

    def linearise(self, position: Position):
        value, defects = self.evaluate(position)
        x, k = position.parameters, len(self.recorded)
        return Linearisation(
            log_likelihood=value,
            weights=jnp.ones((len(x), 1)),
            residuals=jax.vmap(self.residuals)(x)[:, None, None],
            residual_parameters=jax.vmap(jax.jacfwd(self.residuals))(x)[:, None, None],
            residual_start=jnp.zeros((len(x), 1, 0, k, 1)),
            defects=defects,
            end_parameters=jnp.zeros((len(x), 1, 0, 1, 1)),
            end_start=jnp.zeros((len(x), 1, 0, 1, 1)),
        )


@pytest.fixture(scope="module")
def tone():
    frequency = Parameter("frequency", 0.5, 4.5, "Hz")
    time = np.arange(100) / 50
    noise = 0.1 * np.random.default_rng(0).normal(size=100)
    return ToneProblem(
        jnp.asarray(np.sin(2 * np.pi * 1.6 * time) + noise), ParameterSpace((frequency,))
    )


def test_many_starts_leave_a_local_optimum_that_one_does_not(tone):
    one, alone = minimise(tone, {"start_count": 1})
    many, result = minimise(tone)
    assert alone.ended == result.ended == "converged"
    stuck, found = (e.convergence(tone, r.state) for e, r in ((one, alone), (many, result)))
    assert abs(stuck["optimum"][0] - 1.6) > 0.3
    assert abs(found["optimum"][0] - 1.6) < 4 * found["deviation"][0]
    # Alone it agrees with itself; of the many, the history says that they found different optima.
    assert alone.history["agreeing"][-1] == 1.0
    assert 0 < result.history["agreeing"][-1] < 1


@pytest.mark.parametrize("count", [1, 2])
def test_a_start_that_is_given_is_one_of_them(tone, count):
    """From 1.5 Hz the optimum at 1.6 Hz is found, which the centre, and the corner beside it, do not find."""
    settings = {"start_count": count, "start": {"frequency": 1.5}}
    told, plain = (
        estimator.convergence(tone, result.state)["optimum"][0]
        for estimator, result in (minimise(tone, settings), minimise(tone, {"start_count": count}))
    )
    assert abs(told - 1.6) < 0.01
    assert abs(plain - 1.6) > 0.3


def test_the_end_does_not_depend_on_the_chunks(tone):
    estimator = build("least_squares", particles=20, iterations=500)
    one, other = (run(estimator, tone, seed=2, chunk_size=size) for size in (3, 500))
    assert one.ended == other.ended == "converged"
    assert one.history["rollouts"][-1] == other.history["rollouts"][-1] < 20 * 500
    np.testing.assert_array_equal(
        *(estimator.draws(tone, r.state).parameters for r in (one, other))
    )


def test_a_budget_can_end_it_first(tone):
    estimator, result = minimise(tone, iterations=5)
    assert result.ended == "budget"
    assert np.isfinite(estimator.draws(tone, result.state).parameters).all()


class Cosh:
    """As ``GaussianProblem``, with log density −Σ log cosh((x − mean)/s): its squares are not."""

    def __init__(self, mean, scale):
        self.around = gaussian(mean, np.diag(scale) ** 2)
        self.space, self.rollout_count = self.around.space, 1
        self.tangent_count = self.around.tangent_count

    def start_shooting(self):
        return self.around.start_shooting()

    def evaluate(self, position):
        z = (position.parameters - self.around.mean) * jnp.sqrt(jnp.diag(self.around.precision))
        return -jnp.log(jnp.cosh(z)).sum(axis=1), position.shooting

    def linearise(self, position):
        """Pseudo-residuals with the slope of the log density and the information 1/s²."""
        root = jnp.sqrt(jnp.diag(self.around.precision))
        z = (position.parameters - self.around.mean) * root
        value, _ = self.evaluate(position)
        linear = self.around.linearise(position)
        return linear._replace(log_likelihood=value, residuals=jnp.tanh(z)[:, None, None])


def test_values_are_the_log_likelihood_and_not_the_squares():
    mean, scale = np.array([0.3, 0.6]), np.array([0.05, 0.1])
    problem = Cosh(mean, scale)
    jax.tree_util.register_static(Cosh)
    estimator, result = minimise(problem)
    found = estimator.laplace(result.state)
    assert result.ended == "converged"
    np.testing.assert_allclose(found.optimum, mean, atol=1e-4 * scale.min())
    np.testing.assert_allclose(np.sqrt(np.diag(found.covariance)), scale, rtol=1e-4)
    assert result.history["objective"][-1] == pytest.approx(0.0, abs=1e-8)
