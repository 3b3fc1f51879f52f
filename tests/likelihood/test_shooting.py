from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from reference import CROOKED
from scipy import stats
from tiers import slow
from whole import Whole, slope
from windows import FRAMES, RATE, at, linearisation_is_reverse_mode, loose, simulate

from pdsim.inference.gradients import value_and_gradient
from pdsim.inference.profile import lagrangian, profile
from pdsim.likelihood.problem import Position, combine_trajectories
from pdsim.likelihood.shooting import shooting_problem
from pdsim.likelihood.shooting_sizes import in_turn, linearised, segment
from pdsim.parameters.space import Parameter, ParameterSpace
from pdsim.systems.double_pendulum import DoublePendulum, Options
from pdsim.systems.simulator import Simulator

SYSTEM = DoublePendulum(integrator="semi_implicit_euler")
NOISE = np.array([0.05, 0.1, 0.8, 1.5])
SPACE = ParameterSpace(
    (
        Parameter("length", 0.05, 0.2, "m", sets=("length",)),
        Parameter("friction_1", 1e-6, 1e-2, "N m s", "log", "log_uniform", sets=("friction_1",)),
    ),
    tuple((n, v) for n, v in CROOKED.items() if n not in ("length", "friction_1")),
)

reduced = jax.jit(profile)


@pytest.fixture(scope="module")
def truth():
    starts = [(1.0, 0.4, 2.0, -3.0), (-0.5, 1.0, 0.0, 4.0)]
    return np.stack([simulate(SYSTEM, CROOKED, start) for start in starts])


@pytest.fixture(scope="module")
def problem(trajectories_of):
    """Build a problem of true states (frame, state) and what is observed of each."""

    def build(truth, window_count, combination="product", observed=None):
        data = trajectories_of(SYSTEM, truth if observed is None else observed, truth, 1 / RATE)
        return Whole(
            shooting_problem(
                Simulator(SYSTEM, SPACE, 1),
                data,
                NOISE,
                window_count=window_count,
                combination=combination,
            )
        )

    return build


@pytest.mark.parametrize("window_count", [1, 4])
def test_particles_in_blocks_are_linearised_as_all_at_once(
    problem, truth, window_count, monkeypatch
):
    """In blocks of three, of which the last two overlap; single shooting has no shooting variables."""
    values = {"length": np.linspace(0.08, 0.14, 7), "friction_1": np.geomspace(1e-5, 1e-3, 7)}
    physical = np.stack([values[name] for name in SPACE.names], axis=1)
    p = problem(truth, window_count)
    position = at(p, physical)
    whole = p.linearise(position)
    for name, value in {"LINEARISED": 3, "FRAMES": 3 * p.targets[0].size}.items():
        monkeypatch.setattr(f"pdsim.likelihood.shooting_sizes._{name}", value)
    monkeypatch.setattr("pdsim.xla.blocks._GPU", 1)
    program = jax.jit(lambda position: p._problem.linearise(position))
    # A loop over the blocks, which there is none of elsewhere.
    assert "length=3" in str(jax.make_jaxpr(lambda x: p._problem.linearise(x))(position)).split()
    for found, expected in zip(*map(jax.tree.leaves, (program(position), whole)), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("window_count", "turns"), [(1, False), (4, False), (4, True)])
def test_gradients_are_taken_in_blocks_as_all_at_once(
    problem, truth, window_count, turns, monkeypatch
):
    """In turn also with few states kept, of a recording and of the next in one part."""
    p = problem(truth, window_count)
    position = at(p, [[0.08, 1e-5], [0.1, 1e-4], [0.12, 1e-3], [0.13, 1e-3], [0.11, 1e-4]])
    position = loose(p, position.parameters, np.random.default_rng(0))

    def function(problem, position):
        log_likelihood, defects = problem.evaluate(position)
        return log_likelihood - (defects**2).sum(axis=(1, 2, 3)), defects

    expected = slope(lambda q: function(p._problem, q)[0].sum(), position)
    sizes = {"KEPT": 0, "MOST": 2} | ({"IN_TURN": 1, "FEWEST": 1} if turns else {})
    for name, value in sizes.items():
        monkeypatch.setattr(f"pdsim.likelihood.shooting_sizes._{name}", value)
    monkeypatch.setattr(jax, "default_backend", lambda: "cpu")
    program = jax.jit(partial(value_and_gradient, function))
    # A loop over three blocks of two.
    assert "length=3" in str(jax.make_jaxpr(program)(p._problem, position)).split()
    found = program(p._problem, position)
    for a, b in zip(
        found, (*function(p, position)[:1], expected, p.evaluate(position)[1]), strict=True
    ):
        jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, rtol=1e-11, atol=1e-11), a, b)


@pytest.fixture
def resting(trajectories_of):
    """Build a problem of a pendulum at rest."""

    def build(integrator, frames, windows):
        states = np.zeros((1, frames + 1, 4))
        data = trajectories_of(SYSTEM, states, states, 1 / RATE)
        simulator = Simulator(SYSTEM.with_integrator(integrator), SPACE, 1)
        return shooting_problem(simulator, data, NOISE, window_count=windows, combination="sum")

    return build


@pytest.mark.parametrize(
    ("integrator", "frames", "block", "kept"),
    [
        ("semi_implicit_euler", 400, 128, None),
        ("semi_implicit_euler", 1_000, 52, None),
        ("semi_implicit_euler", 2_000, 128, 400),
        ("rk4", 100, 128, None),
        ("rk4", 400, 52, None),
        ("rk4", 997, 128, 164),
    ],
)
def test_gradients_keep_as_much_as_a_cache_holds(resting, integrator, frames, block, kept):
    """Of so many particles at a time, or of parts: of equal length, if the frames are no prime.

    RK4 evaluates the motion four times in each step.
    """
    for windows in (1, 10):
        problem = resting(integrator, frames if windows == 1 else frames // 10 * 10, windows)
        if windows == 1 or frames % 10 == 0:
            assert problem.gradient_block == block
            assert segment(problem.shape, block) == kept


@pytest.mark.parametrize(("frames", "cpu", "gpu"), [(400, 8, 20), (2_000, 4, 4), (10_000, 1, 1)])
def test_as_many_particles_are_linearised_as_frames_allow(resting, frames, cpu, gpu, monkeypatch):
    """On a CPU a vector at most; blocks of a GPU are a multiple of these."""
    problem = resting("semi_implicit_euler", frames, 1)
    for backend, particles in (("cpu", cpu), ("gpu", gpu)):
        monkeypatch.setattr(jax, "default_backend", lambda backend=backend: backend)
        assert linearised(problem.shape) == particles


@pytest.mark.parametrize(
    ("integrator", "particles", "turns"),
    [("semi_implicit_euler", 55, False), ("semi_implicit_euler", 56, True), ("rk4", 24, True)],
)
def test_windows_of_many_particles_are_simulated_in_turn(
    resting, integrator, particles, turns, monkeypatch
):
    """On a GPU they are all side by side."""
    problem = resting(integrator, 400, 10)
    monkeypatch.setattr(jax, "default_backend", lambda: "cpu")
    assert in_turn(problem.shape, particles) == turns
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    assert not in_turn(problem.shape, particles)


def test_single_shooting_is_the_gaussian_density(problem, truth):
    """Eq. 2 and 3, against scipy's density of every residual."""
    guess = {"length": 0.11, "friction_1": 1e-3}
    observed = truth + np.random.default_rng(0).normal(size=truth.shape) * NOISE
    simulated = np.stack([simulate(SYSTEM, CROOKED | guess, start) for start in truth[:, 0]])
    expected = stats.norm.logpdf(observed[:, 1:], simulated[:, 1:], NOISE).sum()
    p = problem(truth, 1, observed=observed)
    value, defects = p.evaluate(at(p, [0.11, 1e-3]))
    assert float(value[0]) == pytest.approx(expected, rel=1e-10)
    assert defects.shape == (1, 2, 0, 4)


@pytest.mark.parametrize("window_count", [2, 7, 10])
def test_windows_without_defects_are_one_trajectory(problem, truth, window_count):
    """At the truth the windows join, and multiple shooting is single shooting."""
    physical = [CROOKED["length"], CROOKED["friction_1"]]
    observed = truth + np.random.default_rng(1).normal(size=truth.shape) * NOISE
    single, multiple = (problem(truth, n, observed=observed) for n in (1, window_count))
    one, _ = single.evaluate(at(single, physical))
    many, defects = multiple.evaluate(at(multiple, physical))
    assert float(many[0]) == pytest.approx(float(one[0]), rel=1e-9)
    assert np.abs(defects).max() < 1e-9


def test_a_defect_is_the_gap_in_scaled_units(problem, truth):
    p = problem(truth, 5)
    moved = p.start_shooting().at[1, 2, 3].add(0.25)
    _, defects = p.evaluate(at(p, [CROOKED["length"], CROOKED["friction_1"]], moved))
    assert float(defects[0, 1, 2, 3]) == pytest.approx(0.25, abs=1e-9)
    # The window that starts there now ends elsewhere; every earlier one is as it was.
    assert np.abs(defects[0, 1, :2]).max() < 1e-9
    assert np.abs(defects[0, 1, 3]).max() > 1e-3
    assert np.abs(defects[0, 0]).max() < 1e-9


def test_what_was_not_observed_does_not_count(problem, truth):
    observed = truth.copy()
    observed[0, 30:60, 2] = np.nan
    guess = {"length": 0.11, "friction_1": 1e-3}
    simulated = np.stack([simulate(SYSTEM, CROOKED | guess, start) for start in truth[:, 0]])
    density = stats.norm.logpdf(observed[:, 1:], simulated[:, 1:], NOISE)
    p = problem(truth, 1, observed=observed)
    value, _ = p.evaluate(at(p, [0.11, 1e-3]))
    assert float(value[0]) == pytest.approx(np.nansum(density), rel=1e-10)


def test_sum_and_product_of_trajectories():
    values = jnp.array([[-3.0, -1000.0], [-5000.0, -5000.0]])
    product = combine_trajectories(values, "product")
    np.testing.assert_allclose(product, [-1003.0, -10000.0])
    mixture = combine_trajectories(values, "sum")
    np.testing.assert_allclose(mixture, [-3.0 - np.log(2), -5000.0])


def test_gradients_are_those_of_finite_differences(problem, truth):
    observed = truth + np.random.default_rng(0).normal(size=truth.shape) * NOISE
    p = problem(truth, 4, "sum", observed)
    position = at(p, [[0.11, 1e-3]])

    def value(position):
        log_likelihood, defects = p.evaluate(position)
        return (log_likelihood + (defects**2).sum(axis=(1, 2, 3))).sum()

    gradient = slope(value, position)
    flat, rebuild = ravel_pytree(position)
    evaluate = jax.jit(lambda x: value(rebuild(x)))
    h = 1e-6
    numeric = np.array(
        [
            (evaluate(flat.at[i].add(h)) - evaluate(flat.at[i].add(-h))) / (2 * h)
            for i in range(len(flat))
        ]
    )
    found, _ = ravel_pytree(gradient)
    np.testing.assert_allclose(found, numeric, rtol=1e-5, atol=1e-6 * np.abs(numeric).max())


@pytest.mark.parametrize("combination", ["sum", "product"])
@pytest.mark.parametrize("windows", [slow(1), 5])
def test_linearisation_agrees_with_reverse_differentiation(problem, truth, combination, windows):
    """Tangents of residuals and gaps give the gradients that the adjoint sweep gives."""
    rng = np.random.default_rng(2)
    noisy = truth + rng.normal(size=truth.shape) * NOISE
    noisy[0, 3, 1] = np.nan
    p = problem(truth, windows, combination, noisy)
    position = loose(p, jnp.asarray(rng.uniform(0.2, 0.8, size=(3, 2))), rng)
    linearisation_is_reverse_mode(p, position, rng)


@pytest.mark.parametrize("combination", ["sum", "product"])
def test_profile_of_closed_windows_is_that_of_one_long_roll_out(problem, truth, combination):
    """With σ → 0 eliminating the windows' starts leaves the likelihood of single shooting."""
    rng = np.random.default_rng(2)
    noisy = truth + rng.normal(size=truth.shape) * NOISE
    single, multiple = (problem(truth, n, combination, noisy) for n in (1, 5))
    unit = jnp.asarray(rng.uniform(0.2, 0.8, size=(3, 2)))
    position = Position(unit, jnp.broadcast_to(multiple.start_shooting(), (3, 2, 4, 4)))
    for _ in range(4):  # each pass closes the gap after one more window
        position = position._replace(shooting=position.shooting - multiple.evaluate(position)[1])
    whole = single.linearise(Position(unit, jnp.zeros((3, 2, 0, 4))))
    undamped = jnp.zeros(3)
    one = reduced(whole, jnp.zeros((3, 2, 0, 4)), 1.0, undamped)
    other = reduced(multiple.linearise(position), jnp.zeros_like(position.shooting), 1e-6, undamped)
    np.testing.assert_allclose(other.lagrangian, one.lagrangian, rtol=1e-6)
    np.testing.assert_allclose(other.slope, one.slope, rtol=1e-4)
    np.testing.assert_allclose(other.information, one.information, rtol=1e-4)
    count = one.feature_slopes.shape[1]
    found = np.sort(np.linalg.norm(other.feature_slopes[:, :count], axis=2), axis=1)
    expected = np.sort(np.linalg.norm(one.feature_slopes, axis=2), axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.slow
def test_profile_shifts_to_the_minimum_over_the_starts(problem, truth):
    """At fixed θ the step of the windows' starts leaves no slope of the linearised Lagrangian."""
    rng = np.random.default_rng(3)
    p = problem(truth, 4, "product", truth + rng.normal(size=truth.shape) * NOISE)
    position = loose(p, jnp.array([[0.4, 0.4]]), rng)
    force = jnp.asarray(rng.normal(size=position.shooting.shape))
    sigma = 0.05

    def value(shooting):
        log_likelihood, defects = p.evaluate(Position(position.parameters, shooting))
        return lagrangian(log_likelihood, defects, force, sigma).sum()

    before = np.abs(slope(value, position.shooting)).max()
    for _ in range(8):
        form = reduced(p.linearise(position), force, sigma, jnp.zeros(1))
        moved = position.shooting + form.shift.reshape(position.shooting.shape)
        position = position._replace(shooting=moved)
    assert np.abs(slope(value, position.shooting)).max() < 1e-5 * before


def test_torques_of_motors_enter(trajectories_of):
    """The double pendulum with torques: at the truth nothing is left of its own motion."""
    system = DoublePendulum(integrator="semi_implicit_euler", options=Options(motors=True))
    motors = {f"{what}_{i}": 1e-5 for what in ("rotor_inertia", "dry_friction") for i in (1, 2)}
    parameters = CROOKED | motors
    torque = 0.02 * np.random.default_rng(7).normal(size=(FRAMES, 2))
    states = simulate(system, parameters, (1.0, 0.4, 2.0, -3.0), torque)
    space = ParameterSpace(
        SPACE.parameters,
        tuple((n, v) for n, v in parameters.items() if n not in ("length", "friction_1")),
    )

    def value(torque):
        data = trajectories_of(system, [states], [states], 1 / RATE, inputs=[torque])
        p = shooting_problem(
            Simulator(system, space, 1), data, NOISE, window_count=1, combination="product"
        )
        found, _ = p.evaluate(at(p, [CROOKED["length"], CROOKED["friction_1"]]))
        return float(found[0])

    best = -(FRAMES - 1) * np.log(NOISE * np.sqrt(2 * np.pi)).sum()
    assert value(torque) == pytest.approx(best, rel=1e-9)
    assert value(0 * torque) < best - 1
