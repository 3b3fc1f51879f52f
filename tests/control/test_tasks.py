import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pdsim.control.closed_loop import plant
from pdsim.control.tasks.cart_pole import CartPoleTask
from pdsim.control.tasks.payload import OBSTACLES, PayloadTask
from pdsim.control.tasks.quadrotor import QuadrotorTask
from pdsim.systems.cart_pole import energy
from pdsim.systems.quadrotor_payload import hang

# One-step differences of RK4 at 20 ms and the plant, in the order of the state: a fifth of the
# observation model's deviations, which must swallow them.
MISMATCH = {task.name: np.array(task.deviations) / 5 for task in (CartPoleTask(), QuadrotorTask())}


def cart_pole(state, u, theta):
    """The public benchmark's equations, angle from upright; rates of (p, v, φ, ω)."""
    (_, v, phi, omega), (mc, mp), half, g = state, theta, 0.5, 9.8
    f = (u + mp * half * omega**2 * np.sin(phi)) / (mc + mp)
    share = mp / (mc + mp)
    spin = (g * np.sin(phi) - np.cos(phi) * f) / (half * (4 / 3 - share * np.cos(phi) ** 2))
    return np.array([v, f - share * half * spin * np.cos(phi), omega, spin])


def quadrotor(state, u, theta):
    """Rates of (x, ẋ, z, ż, ϑ, ϑ̇)."""
    (_, dx, _, dz, pitch, rate), (m, inertia) = state, theta
    lift, turn = u.sum() / m, 0.0397 * (u[1] - u[0]) / (np.sqrt(2) * inertia)
    return np.array([dx, np.sin(pitch) * lift, dz, np.cos(pitch) * lift - 9.8, rate, turn])


def rates(task, state, u, theta):
    system = task.system
    prepared = task.prepare(jnp.log(jnp.asarray(theta) / task.nominal))
    return np.array(system.derivative(tuple(state), tuple(np.atleast_1d(u)), 0.0, prepared))


def test_the_cart_pole_is_the_benchmark_s_with_the_angle_from_below():
    rng, task = np.random.default_rng(0), CartPoleTask()
    for _ in range(20):
        p, v, phi, omega = rng.normal(size=4)
        u, theta = rng.uniform(-10, 10), rng.uniform([0.9, 0.09], [1.1, 0.11])
        _, expected_v, expected_phi, expected_omega = cart_pole((p, v, phi, omega), u, theta)
        # a = π − φ, so that its rates have the other sign.
        found = rates(task, (p, np.pi - phi, v, -omega), u, theta)
        expected = [v, -expected_phi, expected_v, -expected_omega]
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_the_quadrotor_is_the_benchmark_s():
    rng, task = np.random.default_rng(1), QuadrotorTask()
    for _ in range(20):
        x, dx, z, dz, pitch, rate = rng.normal(size=6)
        u, theta = rng.uniform(0.06, 0.29, 2), rng.uniform(0.5, 1.5, 2) * task.nominal
        expected = quadrotor((x, dx, z, dz, pitch, rate), u, theta)[[0, 2, 4, 1, 3, 5]]
        found = rates(task, (x, z, pitch, dx, dz, rate), u, theta)
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


def test_the_model_s_step_is_near_the_plant_s(task):
    rng = np.random.default_rng(2)

    @jax.jit
    def both(state, u, truth):
        model = task.system.step(
            task.system.unpack(state), tuple(u), 0.0, task.prepare(truth), task.control_time
        )
        return task.system.pack(model), plant(task, state, task.remembered(state), u, truth)[0]

    for _ in range(20):
        start = np.asarray(task.start(jax.random.key(0)))
        state = start + rng.normal(size=len(start)) * 0.3
        u = rng.uniform(task.lowest_input, task.highest_input)
        truth = task.draw_truth(jax.random.key(rng.integers(1000)))
        model, true = both(jnp.asarray(state), jnp.asarray(u), truth)
        # The plant lags behind by half a millisecond of acceleration, u dt²/2 in position.
        assert np.all(np.abs(model - true) < 2 * MISMATCH[task.name])


def test_the_plant_is_semi_implicit_euler_at_a_kilohertz():
    task = QuadrotorTask()
    state, u = np.array([0.3, 1.1, 0.2, -0.4, 0.5, 1.0]), np.array([0.12, 0.14])
    truth = np.log([1.3, 0.7])
    found, _, _ = plant(task, jnp.asarray(state), jnp.zeros(0), jnp.asarray(u), jnp.asarray(truth))
    order, back = [0, 3, 1, 4, 2, 5], [0, 2, 4, 1, 3, 5]
    x = state[order]
    for _ in range(20):
        rate = quadrotor(x, u, np.exp(truth) * task.nominal)
        x[1::2] += 1e-3 * rate[1::2]
        x[::2] += 1e-3 * x[1::2]
    np.testing.assert_allclose(found, x[back], rtol=1e-9)


def test_the_plant_reports_the_lowest_clearance_of_its_substeps():
    task = QuadrotorTask()
    # Upward at 2 m/s with least thrust: highest within the step for no vehicle, so the end counts.
    state = jnp.array([0.0, 1.35, 0.0, 0.0, 2.0, 0.0])
    after, _, lowest = plant(task, state, jnp.zeros(0), jnp.array([0.0563, 0.0563]), jnp.zeros(2))
    assert float(lowest) == pytest.approx(float(1.4 - after[1]), abs=1e-12)
    assert float(lowest) < 0.02
    # At 0.05 m/s it turns within the step, and the end is not the highest.
    state = jnp.array([0.0, 1.35, 0.0, 0.0, 0.05, 0.0])
    after, _, lowest = plant(task, state, jnp.zeros(0), jnp.array([0.0563, 0.0563]), jnp.zeros(2))
    assert float(lowest) < float(1.4 - after[1])


def test_a_free_cart_pole_keeps_its_energy_in_the_plant():
    task = CartPoleTask()
    state, u = jnp.array([1.2, np.pi - 0.3, 0.2, 0.4]), jnp.zeros(1)
    prepared = task.prepare(jnp.zeros(2))

    def advance(x, _):
        x, _, _ = plant(task, x, jnp.zeros(0), u, jnp.zeros(2))
        return x, energy(task.system.unpack(x), prepared)

    _, energies = jax.lax.scan(advance, state, length=100)
    before = float(energy(task.system.unpack(state), prepared))
    kinetic_scale = 0.1 * 9.8 * 0.5
    assert np.abs(np.asarray(energies) - before).max() < 0.01 * kinetic_scale


def test_the_circle_s_velocity_is_its_derivative():
    task = QuadrotorTask()
    places, speeds = jax.jvp(lambda t: task.reference(t), (1.3,), (1.0,))
    np.testing.assert_allclose(speeds[:2], places[3:5], rtol=1e-6)
    start = np.asarray(task.reference(jnp.zeros(())))[:2]
    np.testing.assert_allclose(start, task.start(jax.random.key(0))[:2], atol=1e-12)


def test_the_clipped_circle_has_the_error_that_the_ceiling_costs():
    task = QuadrotorTask()
    height = np.asarray(task.reference(jnp.linspace(0, 6, 3001)[:-1])[1])
    assert np.sqrt(np.mean(np.maximum(height - 1.4, 0) ** 2)) == pytest.approx(0.143, abs=5e-4)


def test_a_far_ceiling_is_not_seen_but_assumed():
    task = QuadrotorTask(sight=0.4)
    far, near, high = (0.0, 0.5, *[0.0] * 4), (0.0, 1.1, *[0.0] * 4), (0.0, 1.5, *[0.0] * 4)
    assert float(task.seen_clearance(high, None, far)) == np.inf
    assert float(task.seen_clearance(high, None, near)) == pytest.approx(-0.1)
    assert float(task.assumed_clearance((0.0, 0.8, *[0.0] * 4), None, far)) == pytest.approx(0.1)
    assert float(task.assumed_clearance(near, None, near)) == pytest.approx(0.3)


def test_the_tip_of_the_pole_must_stay_on_the_rail_s_safe_side():
    task = CartPoleTask()
    # a < π leans to +x; the pole is 1 m long.
    assert float(task.clearance((0.2, np.pi - 0.1, 0.0, 0.0), None)) == pytest.approx(0.2)
    assert float(task.clearance((0.2, np.pi + 0.1, 0.0, 0.0), None)) == pytest.approx(
        0.2 - np.sin(0.1)
    )


def test_truths_fill_the_prior(task):
    truths = jax.vmap(task.draw_truth)(jax.random.split(jax.random.key(0), 2000))
    theta = np.exp(np.asarray(truths)) * task.nominal
    lower, upper = task.bounds
    assert np.all((theta >= lower) & (theta <= upper))
    share = (theta - lower) / (upper - lower)
    np.testing.assert_allclose(share.mean(axis=0), 0.5, atol=0.03)


def lagrange(q, dq, u, theta):
    """Accelerations of vehicle and load by Euler's and Lagrange's equations, by derivatives."""
    (length, *damping), mass, load, g = theta, 0.0411, 0.023, 9.81

    def lagrangian(q, dq):
        def position(q):
            return jnp.stack(hang(tuple(q), length))

        swung = jax.jvp(position, (q,), (dq,))[1]
        kinetic = 0.5 * mass * (dq[:3] ** 2).sum() + 0.5 * load * (swung**2).sum()
        return kinetic - g * (mass * q[2] + load * position(q)[2])

    matrix = jax.hessian(lagrangian, 1)(q, dq)
    momentum = jax.grad(lagrangian, 1)
    turning = jax.jvp(lambda q: momentum(q, dq), (q,), (dq,))[1]
    push = (mass + load) * (jnp.asarray(u) + jnp.array([0, 0, g]))
    forces = jnp.concatenate([push, -jnp.asarray(damping) * dq[3:]])
    return jnp.linalg.solve(matrix, jax.grad(lagrangian)(q, dq) - turning + forces)


def test_the_load_swings_as_lagrange_says():
    rng, task = np.random.default_rng(3), PayloadTask()
    accelerations = jax.jit(lagrange)
    for _ in range(20):
        q, dq, u = rng.normal(size=5), rng.normal(size=5), rng.uniform(-4, 4, 3)
        theta = (rng.uniform(0.3, 0.9), *rng.uniform(0.005, 0.1, 2))
        expected = accelerations(q, dq, u, theta)
        found = rates(task, (*q, *dq), u, theta)
        np.testing.assert_allclose(found, [*dq, *expected], rtol=1e-9, atol=1e-9)


def test_a_lap_with_a_load_is_a_square_past_three_obstacles():
    task = PayloadTask()
    times = jnp.array([0.0, 1.5, 3.0, 4.5, 7.5, 10.5])
    x, y, z, *rest = task.reference(times)
    np.testing.assert_allclose(x, [-0.75, 0, 0.75, 0.75, 0, -0.75], atol=1e-12)
    np.testing.assert_allclose(y, [-0.75, -0.75, -0.75, 0, 0.75, 0], atol=1e-12)
    assert (np.asarray(z) == 1).all() and float(jnp.abs(rest[2][1])) == 0.5
    # Beam, wall and pillars where the reference passes them; the wall is too high for a long cable.
    assert [box.name for box in OBSTACLES] == ["beam", "wall", "pillar", "pillar"]

    def clearance(time, length):
        theta = jnp.log(jnp.asarray([length, 0.05, 0.05]) / task.nominal)
        return float(task.clearance(task.reference(jnp.asarray(time)), task.prepare(theta)))

    assert clearance(1.5, 0.5) == pytest.approx(0.15 - 0.08)
    assert clearance(4.5, 0.61) == pytest.approx(0.65 - 0.61 - 0.03)
    assert clearance(4.5, 0.65) < 0 < clearance(4.5, 0.5)
    assert clearance(7.5, 0.5) == pytest.approx(0.25 - 0.08)
    # Within a box the distance is that to the nearest side, negative.
    inside = (0.0, -0.75, 1.575, *[0.0] * 7)
    prepared = task.prepare(jnp.zeros(3))
    assert float(task.clearance(inside, prepared)) == pytest.approx(-0.05 - 0.08)


def test_the_plant_with_a_load_has_a_lag_drag_and_damping_that_the_model_has_not():
    task = PayloadTask(damping=False, plant_damping=0.02)
    assert task.names == ("length",) and PayloadTask().names[1:] == ("damping_1", "damping_2")
    model, true = task.prepare(jnp.zeros(1)), task.prepare_plant(jnp.zeros(1))
    assert float(model.drag_a) == 0 < float(true.drag_a)
    state = tuple(jnp.asarray(x) for x in (0.0, 0.0, 1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0))
    memory = jnp.zeros(3)
    for _ in range(100):
        felt, memory = task.felt(state, memory, (1.0, 0.0, 0.0), 1e-3)
    assert float(memory[0]) == pytest.approx(1 - np.exp(-1), rel=1e-6)
    assert float(felt[0]) == pytest.approx(float(memory[0]) - 0.05 * 4)
