"""Process noise of momenta: against a Kalman filter, differences, and the motion itself."""

from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from kalman import kalman
from scipy.linalg import block_diag, expm

from pdsim.calibration.simulate import Generator
from pdsim.likelihood.config import LikelihoodConfig, MarginalConfig
from pdsim.likelihood.marginal_data import marginal_problem
from pdsim.likelihood.momenta import kick, sizes
from pdsim.likelihood.noise import noise_model
from pdsim.likelihood.prediction import predict, prefix_of
from pdsim.likelihood.problem import Position
from pdsim.parameters.space import Parameter, ParameterSpace
from pdsim.runtime.errors import PdsimError
from pdsim.systems.double_pendulum import Options, build
from pdsim.systems.oscillator import Oscillator
from pdsim.systems.simulator import Simulator
from pdsim.systems.system import ContinuousSystem, Quantity, SystemParameter

FRAME_TIME, FRAMES, WINDOWS, START_DEVIATION = 0.02, 41, 5, 3.0
LENGTH = (FRAMES - 1) // WINDOWS
COVARIANCE = np.diag([2e-4, 3e-4, 2e-3, 3e-3])
# Of the pull, the mass, σ (2), q (4) and ρ, unit coordinates.
POINTS = np.array([[0.5, 0.6, 0.4, 0.5, 0.3, 0.4, 0.7, 0.6, 0.7], [0.3, 0.2, 0.6] + [0.5] * 6])


@dataclass(frozen=True)
class Carts(ContinuousSystem):
    """Two carts, the second on the first, pulled so that their masses do not show in the motion."""

    name: ClassVar[str] = "carts"
    second_order: ClassVar[bool] = True

    @property
    def state(self):
        positions = [Quantity(x, "m", "position") for x in ("x", "y")]
        return (*positions, *[Quantity(f"d{x.name}", "m/s", "velocity") for x in positions])

    @property
    def parameters(self):
        return {
            "pull": SystemParameter("1/s^2", 10.0, "pull over mass", "k"),
            "mass": SystemParameter("kg", 1.0, "of the second cart", "m"),
        }

    def derivative(self, state, input, time, prepared):
        x, y, dx, dy = state
        pull = prepared["pull"]
        return dx, dy, -pull * (x - y / 2) - dx / 2, -2 * pull * (y - x / 3) - dy / 3

    def mass_matrix(self, vector, prepared):
        mass = prepared["mass"]
        return jnp.array([[0.5 + mass, mass], [mass, mass]])


SPACE = ParameterSpace(
    (
        Parameter("pull", 8.0, 16.0, "1/s^2", sets=("pull",)),
        Parameter("mass", 0.1, 0.4, "kg", sets=("mass",)),
    )
)
SIMULATOR = Simulator(Carts(integrator="rk4"), SPACE, 20)
MOMENTA = MarginalConfig(process_of="momenta", process=(0.1, 10.0))


def motion(pull):
    """One frame: x ← A x."""
    slope = np.zeros((4, 4))
    slope[:2, 2:] = np.eye(2)
    slope[2:, :2] = -pull * np.array([[1, -0.5], [-2 / 3, 2]])
    slope[2:, 2:] = -np.diag([1 / 2, 1 / 3])
    return expm(slope * FRAME_TIME)


@pytest.fixture(scope="module")
def data(trajectories_of):
    random = np.random.default_rng(3)
    observed, states = [], []
    for _ in range(2):
        rows = [random.normal(size=4) * [0.2, 0.2, 1.0, 1.0]]
        for _ in range(FRAMES - 1):
            rows.append(motion(11.0) @ rows[-1] + random.normal(size=4) * [0, 0, 0.05, 0.08])
        states.append(np.array(rows) + 0.01 * random.normal(size=(FRAMES, 4)))
        observed.append(np.array(rows) + 0.01 * random.normal(size=(FRAMES, 4)))
    made = trajectories_of(Carts(), observed, states, FRAME_TIME)
    made["start_covariance"][:] = COVARIANCE
    made["channel_derived"][:] = [False, False, True, True]
    return made


@pytest.fixture(scope="module")
def problem(data):
    return marginal_problem(
        SIMULATOR,
        data,
        noise_model(MOMENTA, SIMULATOR, data),
        start_deviation=START_DEVIATION,
        window_count=WINDOWS,
        combination="product",
        iterations=1,
    )


def position(problem, points):
    nothing = jnp.zeros((len(points), *problem.start_shooting().shape))
    return Position(jnp.asarray(points), nothing)


def filtered(data, recording, numbers, frames):
    """log p of the first frames of a recording, means and covariances of all."""
    pull, mass, *sigma = numbers[:4]
    inverse = np.linalg.inv([[0.5 + mass, mass], [mass, mass]])
    return kalman(
        data["observed"].values[recording],
        lambda frame: (motion(pull), np.zeros(4)),
        data["start"].values[recording],
        START_DEVIATION**2 * COVARIANCE,
        sigma,
        numbers[4:-1],
        numbers[-1],
        length=LENGTH,
        frames=frames,
        kick=block_diag(np.eye(2), inverse),
    )


def test_on_linear_dynamics_it_is_the_kalman_filter_s(data, problem):
    names = ("process_x", "process_y", "process_p_dx", "process_p_dy", "process_correlation")
    assert problem.space.names[4:] == names
    assert [p.unit for p in problem.noise.process] == ["m", "m", "N s", "N s"]
    found, _ = jax.jit(problem.evaluate)(position(problem, POINTS))
    values = [np.asarray(problem.space.to_physical(jnp.asarray(point))) for point in POINTS]
    expected = [sum(filtered(data, i, x, FRAMES)[0] for i in range(2)) for x in values]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_slopes_are_those_of_differences(problem):
    """But for the pull's, which moves what the states' tangents are."""
    evaluate = jax.jit(lambda points: problem.evaluate(position(problem, points))[0])
    for slopes in (problem.value_and_slope, lambda x: problem.expand(x)[:2]):
        _, slope = jax.jit(slopes)(position(problem, POINTS))
        for i in range(1, POINTS.shape[1]):
            shift = 1e-6 * np.eye(POINTS.shape[1])[i]
            expected = (evaluate(POINTS + shift) - evaluate(POINTS - shift)) / 2e-6
            np.testing.assert_allclose(slope[:, i], expected, rtol=1e-5, atol=1e-5)


def test_predictions_have_the_filter_s_moments(data, problem):
    held_out = data.assign_coords(split=("trajectory", ["train", "test"]))
    prefix = prefix_of(
        SIMULATOR,
        LikelihoodConfig(window_count=WINDOWS, marginal=MOMENTA),
        held_out,
        frames=2 * LENGTH,
        inferred=["sensor_x", "process_x"],
    )
    numbers = np.asarray(problem.space.to_physical(jnp.asarray(POINTS[0])))
    found = predict(prefix, np.tile(numbers, (4000, 1)), seed=0, spread=0.0).channels[0, :, -1]
    _, means, covariances = filtered(data, 1, numbers, 2 * LENGTH)
    mean, covariance = means[-1], covariances[-1]
    deviation = np.sqrt(np.diagonal(covariance))
    np.testing.assert_allclose(found.mean(axis=0), mean, atol=0.06 * deviation.max())
    assert np.all(np.abs(found.mean(axis=0) - mean) < 0.07 * deviation)
    np.testing.assert_allclose(np.cov(found.T) / np.outer(deviation, deviation),
                               covariance / np.outer(deviation, deviation), atol=0.08)  # fmt: skip


def test_simulated_data_are_pushed_as_the_likelihood_says(data):
    """Rates behind the first window scatter as M⁻¹ diag q² M⁻¹."""
    sets = Generator(
        simulator=SIMULATOR,
        likelihood=LikelihoodConfig(window_count=WINDOWS, combination="product", marginal=MOMENTA),
        template=data,
        shooting="marginal",
        smoothing=None,
        precision="float64",
    )
    coordinates = np.concatenate([POINTS[0, :4], [0.0, 0.0, 1.0, 1.0, 0.0]])
    start = data["start"].values
    q = np.asarray(sets.noise.deviations(jnp.asarray(coordinates[2:])).process)
    random = np.random.default_rng(0)
    mass = np.linalg.inv(np.asarray(Carts().mass_matrix(None, {"mass": 0.1 + 0.3 * 0.6})))
    ends = []
    for _ in range(300):
        pushes = np.zeros((WINDOWS, *start.shape))
        pushes[0] = q * random.normal(size=start.shape)
        moved = sets._motion(np.tile(coordinates[:2], (len(start), 1)), start, pushes)[:, LENGTH]
        unmoved = sets._motion(np.tile(coordinates[:2], (len(start), 1)), start, 0 * pushes)[
            :, LENGTH
        ]
        ends.append((moved - unmoved) / FRAME_TIME)
    rates = np.cov(np.array(ends)[:, 0, :2].T)
    expected = mass @ np.diag(q[2:] ** 2) @ mass
    np.testing.assert_allclose(rates, expected, atol=0.2 * expected.max())


def test_a_torque_changes_rates_as_a_push_does():
    system = build(Options(motors=True))
    defaults = {name: p.default for name, p in system.parameters.items()}
    prepared = system.prepare(defaults | {"rotor_inertia_2": 1e-3, "inertia_1": 2e-3})
    vector = jnp.array([0.3, -0.7, 1.0, -2.0])
    rest = jnp.stack(system.derivative(tuple(vector), (0.0, 0.0), 0.0, prepared))
    for joint in range(2):
        torque = tuple(0.02 * np.eye(2)[joint])
        driven = jnp.stack(system.derivative(tuple(vector), torque, 0.0, prepared))
        push = kick(system, vector, prepared) @ jnp.array([0.0, 0.0, *torque])
        np.testing.assert_allclose(push[2:], (driven - rest)[2:], rtol=1e-10)


def test_limits_whose_middle_is_no_system_are_refused():
    space = ParameterSpace((Parameter("mass", -2.0, 1.0, "kg", sets=("mass",)),), (("pull", 9.0),))
    with pytest.raises(PdsimError, match=r"process_of: momenta: in the middle of the limits"):
        sizes(Simulator(Carts(), space, 1), np.zeros((2, 4)))


def test_a_system_without_masses_is_refused(trajectories_of):
    space = ParameterSpace((Parameter("stiffness", 8.0, 16.0, "N/m", sets=("stiffness",)),))
    rows = np.random.default_rng(0).normal(size=(31, 2))
    made = trajectories_of(Oscillator(), [rows], [rows], FRAME_TIME, inputs=[np.zeros((31, 1))])
    with pytest.raises(PdsimError, match=r"process_of: momenta: oscillator has no mass matrix"):
        noise_model(MOMENTA, Simulator(Oscillator(), space, 1), made)
