"""The marginal likelihood against a Kalman filter written frame by frame, and dense algebra."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from driven_oscillator import (
    COVARIANCE,
    POINTS,
    SPACE,
    START_DEVIATION,
    WINDOWS,
    evaluate,
    linearise,
    log_likelihood,
    position,
    problem_of,
    recordings,
    slope,
)

from pdsim.likelihood import motion
from pdsim.likelihood.config import MarginalConfig
from pdsim.likelihood.marginal_data import marginal_problem
from pdsim.likelihood.noise import noise_model
from pdsim.likelihood.shooting import shooting_problem
from pdsim.parameters.space import Parameter, ParameterSpace
from pdsim.systems.double_pendulum import DoublePendulum
from pdsim.systems.oscillator import Oscillator
from pdsim.systems.simulator import Simulator


@pytest.fixture(scope="module")
def data(trajectories_of):
    return recordings(trajectories_of)


def test_on_linear_dynamics_it_is_the_kalman_filter_s(data):
    problem = problem_of(data)
    assert problem.space.names == (
        "stiffness",
        "rest",
        "sensor_x",
        "process_x",
        "process_dx",
        "process_correlation",
    )
    found, _ = evaluate(problem, position(problem, POINTS))
    expected = [log_likelihood(data, point, problem.space) for point in POINTS]
    # Twenty steps of RK4 in a frame err by less than 1e-12.
    np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_process_noise_is_half_cauchy_about_the_error_of_the_start(data):
    """Or, if asked for, alike in every decade; that of the sensors always is."""
    space = problem_of(data).space
    by_name = {parameter.name: parameter for parameter in space.parameters}
    error = np.sqrt(np.diagonal(data["start_covariance"].values[0]))
    for name, expected in zip(("process_x", "process_dx"), error, strict=True):
        assert by_name[name].prior == "half_cauchy"
        assert by_name[name].median == pytest.approx(expected)
    assert by_name["sensor_x"].prior == "log_uniform"
    plain = problem_of(data, process_prior="log_uniform").space
    assert {p.prior for p in plain.parameters if p.name.startswith("process_")} == {
        "log_uniform",
        "uniform",
    }


def test_the_states_are_those_of_the_dense_least_squares_problem(data):
    """One joint Gaussian over all window starts, solved without any recursion."""
    problem = problem_of(data, correlation=None)
    point = position(problem, POINTS[:1, :5])
    starts, filtered = problem.smoothed(point)

    def residuals(states):
        """All terms of the log joint of recording 0 as squares, (residual,)."""
        states = states.reshape(1, 1, WINDOWS, 2)
        both = jnp.concatenate([states, starts[:, 1:]], axis=1)
        coordinates = jnp.broadcast_to(point.parameters[:, None, None, :2], (*both.shape[:3], 2))
        r, end = motion.residuals(problem, coordinates, both, problem.system)
        noise = problem._deviations(point)
        root = np.linalg.inv(np.linalg.cholesky(START_DEVIATION**2 * COVARIANCE))
        first = (states[0, 0, 0] * problem.state_scale) - problem.start[0]
        gaps = (states[0, 0, 1:] - end[:, :-1, 0, 0].T) / noise.process[:, 0]
        return jnp.concatenate(
            [(r[..., 0, 0] / noise.sensor[0, 0]).ravel(), root @ first, gaps.ravel()]
        )

    guess = jnp.asarray(np.random.default_rng(0).normal(size=2 * WINDOWS))
    slopes = jax.jacfwd(residuals)(guess)
    solved = guess - np.linalg.lstsq(slopes, residuals(guess))[0]
    np.testing.assert_allclose(starts[0, 0].ravel(), solved, atol=1e-9)
    covariance = np.linalg.inv(slopes.T @ slopes)
    np.testing.assert_allclose(filtered.after.covariance[0, 0, -1], covariance[-2:, -2:], rtol=1e-7)


def test_slopes_and_information_are_those_of_the_kalman_filter(data):
    problem = problem_of(data, correlation=(0.0, 0.95))
    point = position(problem, POINTS[:1])
    step = 1e-5
    sides = [
        (
            log_likelihood(data, POINTS[0] + step * row, problem.space)
            - log_likelihood(data, POINTS[0] - step * row, problem.space)
        )
        / (2 * step)
        for row in np.eye(6)
    ]
    found = slope(point.parameters, problem, point)[0]
    linear = linearise(problem, point)
    root, residual = linear.residual_parameters[0, 0, 0], linear.residuals[0, 0, 0]
    np.testing.assert_allclose(found, -(root.T @ residual), rtol=1e-9, atol=1e-9)
    # The stiffness moves the log determinant, which its slope leaves out; the others are exact.
    np.testing.assert_allclose(found[1:], sides[1:], rtol=1e-6, atol=1e-4)
    assert found[0] == pytest.approx(sides[0], abs=0.1 * np.sqrt((root.T @ root)[0, 0]))
    # Where the rest position stands the log likelihood is a parabola, and the noise's curvature is
    # that of log p.

    def bent(i, j):
        """Second derivative of −log p by differences of the filter's."""
        a, b = step * 20 * np.eye(6)[[i, j]]
        around = [
            log_likelihood(data, POINTS[0] + one * a + other * b, problem.space) * one * other
            for one in (1, -1)
            for other in (1, -1)
        ]
        return -sum(around) / (4 * (20 * step) ** 2)

    information = root.T @ root
    assert information[1, 1] == pytest.approx(bent(1, 1), rel=1e-4)
    expected = np.array([[bent(i, j) for j in range(2, 6)] for i in range(2, 6)])
    assert (np.linalg.eigvalsh(expected) > 0).all()
    np.testing.assert_allclose(information[2:, 2:], expected, rtol=1e-3, atol=0.02)


@pytest.mark.parametrize("kinds", [{}, {"sensor": None}, {"process": None}])
def test_slopes_along_tangents_are_those_pulled_back(data, kinds):
    """And the noise's are there, whichever kinds of it are inferred, with two channels."""
    both = data.assign(channel_derived=data["channel_derived"] & False)
    problem = problem_of(both, **kinds)
    assert len(problem.noise.channels) == 2
    count = problem.space.dimension
    point = position(problem, 0.4 * np.ones((2, count)))
    expanded = jax.jit(lambda problem, point: problem.expand(point))(problem, point)
    value, pulled = jax.jit(lambda problem, point: problem.value_and_slope(point))(problem, point)
    assert [x.shape for x in expanded] == [(2,), (2, count), (2, count, count)]
    np.testing.assert_allclose(expanded[0], value, rtol=1e-12)
    np.testing.assert_allclose(expanded[1], pulled, rtol=1e-9)
    step = 1e-5 * jnp.eye(count)[-1]
    sides = [evaluate(problem, point._replace(parameters=point.parameters + s * step))[0]
             for s in (1, -1)]  # fmt: skip
    np.testing.assert_allclose(pulled[:, -1], (sides[0] - sides[1]) / 2e-5, rtol=1e-5)


def test_particles_in_blocks_are_evaluated_as_all_at_once(data, monkeypatch):
    """Seven in blocks of three, of which the last two overlap: log p, slopes and curvature."""
    problem = problem_of(data)
    at = position(problem, np.concatenate([s * POINTS for s in (1, 0.95, 0.9, 0.8)])[:7])

    def program(problem, at):
        return problem.marginal(at), problem.value_and_slope(at), problem.expand(at)

    whole = jax.jit(program)(problem, at)
    for name in ("_EVALUATED", "_EXPANDED"):
        monkeypatch.setattr(f"pdsim.likelihood.marginal.{name}", 3 * problem.targets[0].size)
    monkeypatch.setattr(jax, "default_backend", lambda: "cpu")
    # A loop over the blocks, which there is none of elsewhere.
    again = jax.jit(lambda problem, at: program(problem, at))
    assert str(jax.make_jaxpr(again)(problem, at)).split().count("length=3") >= 3
    found = again(problem, at)
    for a, b in zip(*map(jax.tree.leaves, (found, whole)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11)


def test_without_process_noise_and_with_a_known_start_it_is_single_shooting(data):
    problem = problem_of(data, start=0.0, process=None, sensor=None)
    assert problem.space.names == ("stiffness", "rest")
    single = shooting_problem(
        problem.simulator,
        # The derived channel is not compared.
        data.assign(observed=data["observed"].where([True, False])),
        np.array([problem.noise.sensor[0], 1.0]),
        window_count=1,
        combination="product",
    )
    points = POINTS[:, :2]
    found, _ = evaluate(problem, position(problem, points))
    expected, _ = evaluate(single, position(single, points))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.slow
def test_a_mixture_of_recordings(data):
    """Eq. 9: each recording's marginal likelihood enters the sum."""
    whole = problem_of(data)
    parts = [problem_of(data.isel(trajectory=[i])) for i in range(2)]
    # The noise's limits and the scales are taken from all recordings.
    shared = {x: getattr(whole, x) for x in ("noise", "noise_scale", "state_scale")}
    parts = [replace(part, **shared) for part in parts]
    values = [evaluate(part, position(part, POINTS))[0] for part in parts]
    mixed = replace(whole, combination="sum")
    found, _ = evaluate(mixed, position(mixed, POINTS))
    np.testing.assert_allclose(found, np.logaddexp(*values) - np.log(2), rtol=1e-10)
    linear = linearise(mixed, position(mixed, POINTS))
    found = -jnp.einsum(
        "pki,pk->pi", linear.residual_parameters[:, 0, 0], linear.residuals[:, 0, 0]
    )
    np.testing.assert_allclose(
        found[:, 1:],
        slope(jnp.asarray(POINTS), mixed, position(mixed, POINTS))[:, 1:],
        rtol=1e-6,
        atol=1e-4,
    )


@pytest.mark.slow
def test_the_pendulum_s_states_settle_and_its_slopes_agree(trajectories_of):
    """Nonlinear: two Gauss–Newton steps settle, and slopes are those of finite differences."""
    space = ParameterSpace(
        (
            Parameter("length", 0.5, 2.5, "m", sets=("length", "com_y_1")),
            Parameter("com_y_2", 1.0, 3.0, "m", sets=("com_y_2",)),
        ),
        tuple(
            {"mass_1": 1.0, "mass_2": 1.0, "inertia_1": 0.0, "inertia_2": 0.0, "gravity": 9.81,
             "com_x_1": 0.0, "com_x_2": 0.0, "friction_1": 0.0, "friction_2": 0.0}.items()
        ),
    )  # fmt: skip
    system = DoublePendulum()
    simulator = Simulator(system, space, 1)
    from pdsim.systems.ensemble import simulate_each

    truth, start = np.array([[0.5, 0.5]]), np.array([[1.2, 0.4, 0.0, 0.0]])
    states = np.concatenate(
        [start, simulate_each(simulator, truth, start, np.zeros((1, 200, 0)), frame_time=0.01,
                              precision="float64")[0]]
    )  # fmt: skip
    random = np.random.default_rng(0)
    observed = states + np.array([1e-3, 1e-3, 0.1, 0.1]) * random.normal(size=states.shape)
    guesses = states + np.array([1e-3, 1e-3, 0.05, 0.05]) * random.normal(size=states.shape)
    data = trajectories_of(system, [observed], [guesses], 0.01)
    data["start_covariance"][:] = np.diag([1e-3, 1e-3, 0.05, 0.05]) ** 2
    data["channel_derived"][:] = [False, False, True, True]
    problems = [
        marginal_problem(
            simulator, data, noise_model(MarginalConfig(), simulator, data), start_deviation=3.0,
            window_count=5, combination="product", iterations=count,
        )
        for count in (2, 8)
    ]  # fmt: skip
    points = np.array([[0.5, 0.5, 0.35, 0.35, 0.3, 0.3, 0.3, 0.3, 0.5]])
    point = position(problems[0], points)
    values = [evaluate(problem, point)[0][0] for problem in problems]
    assert abs(values[0] - values[1]) < 1e-4

    def value(x):
        return evaluate(problems[1], point._replace(parameters=jnp.asarray(x)))[0]

    found = slope(point.parameters, problems[1], point)[0]
    steps = 1e-5 * np.eye(9)[None]
    sides = [(value(points + s)[0] - value(points - s)[0]) / 2e-5 for s in steps[0]]
    scale = np.sqrt(
        np.square(linearise(problems[1], point).residual_parameters[0, 0, 0]).sum(axis=0)
    )
    # What the log determinant gains by the states' moving is left out: small beside a deviation.
    assert np.abs((found - np.array(sides)) / scale).max() < 1e-3


def test_process_noise_where_the_start_is_known_exactly(data):
    """A recording that begins at rest has no error of its first rate; the model still errs later."""
    at_rest = data.copy(deep=True)
    at_rest["start_covariance"][:] = np.diag([2e-4, 0.0])
    simulator = Simulator(Oscillator(integrator="rk4"), SPACE, 20)
    entries = noise_model(MarginalConfig(), simulator, at_rest).parameters
    (rate,) = (p for p in entries if p.name == "process_dx")
    spread = float(at_rest["states"].isel(state=1).std())
    assert rate.lower < 1e-3 * spread < 0.1 * spread <= rate.upper * (1 + 1e-9)
