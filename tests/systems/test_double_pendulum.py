import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reference import CROOKED, IBM_EQUIVALENT, mujoco_model, random_states

from pdsim.recordings.camera import constrained_accelerations
from pdsim.systems import double_pendulum
from pdsim.systems.double_pendulum import SYSTEM, coefficients, energy, step, tangent_step
from pdsim.systems.rollout import rollout, squared_error


def accelerations(parameters, states):
    """Joint accelerations (n, 2) from one step of the system, (dq' − dq) / dt."""
    dt = 1e-3
    k = coefficients(parameters)
    after = tangent_step(tuple(jnp.asarray(c) for c in states.T), k, dt)
    return np.stack([(after[2] - states[:, 2]) / dt, (after[3] - states[:, 3]) / dt], axis=1)


@pytest.mark.parametrize("parameters", [IBM_EQUIVALENT, CROOKED])
def test_accelerations_are_those_of_mujoco(parameters):
    import mujoco

    model = mujoco_model(parameters)
    data = mujoco.MjData(model)
    states = random_states(50)
    expected = []
    for state in states:
        data.qpos[:], data.qvel[:] = state[:2], state[2:]
        mujoco.mj_forward(model, data)
        expected.append(data.qacc.copy())
    expected = np.array(expected)
    # (dq' − dq)/dt loses 1e-16 · 30 / 1e-3 ≈ 3e-12 of accelerations of order 100 and more.
    np.testing.assert_allclose(accelerations(parameters, states), expected, rtol=1e-9, atol=1e-8)


def test_accelerations_are_those_of_newton_and_euler():
    states = random_states(20, seed=1)
    expected = []
    for q0, q1, v0, v1 in states:
        a, b = constrained_accelerations(np.array([q0, q0 + q1]), np.array([v0, v0 + v1]), CROOKED)
        expected.append([a, b - a])
    np.testing.assert_allclose(accelerations(CROOKED, states), expected, rtol=1e-9, atol=1e-8)


def test_energy_is_conserved_without_friction():
    frictionless = CROOKED | {"friction_1": 0.0, "friction_2": 0.0}
    k = coefficients(frictionless)
    start = tuple(jnp.asarray(x) for x in (1.5, 0.4, 5.0, -3.0))

    def drift(substeps):
        states = rollout(
            SYSTEM, frictionless, start, frames=400, frame_time=1 / 500, substeps=substeps
        )
        values = np.asarray(energy(states, k))
        return np.abs(values - float(energy(start, k))).max()

    scale = 9.81 * (0.5 * 0.0605 + 0.1 * 0.092)
    # Semi-implicit Euler is of first order: halving the step halves the energy error.
    assert drift(16) < 0.01 * scale
    assert drift(32) / drift(16) == pytest.approx(0.5, abs=0.05)


def test_friction_takes_energy():
    k = coefficients(CROOKED)
    states = rollout(
        SYSTEM, CROOKED, tuple(jnp.asarray(x) for x in (1.5, 0.4, 5.0, -3.0)),
        frames=2000, frame_time=1 / 500, substeps=8,
    )  # fmt: skip
    values = np.asarray(energy(states, k))
    assert values[-1] < values[0]


def test_motion_depends_on_ratios_only():
    """Masses, inertias and frictions scale together without any effect (free motion)."""
    scaled = {
        name: value * (3.0 if name.startswith(("mass", "inertia", "friction")) else 1.0)
        for name, value in CROOKED.items()
    }
    start = tuple(jnp.asarray(x) for x in (1.0, 0.4, 2.0, -3.0))
    one, other = (
        np.stack(rollout(SYSTEM, p, start, frames=100, frame_time=1 / 500))
        for p in (CROOKED, scaled)
    )
    np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


def test_base_parameters_of_the_real_pendulum():
    """Units in which time is counted in frames and G1 = 1 (medians over 21 real runs)."""
    k = coefficients(IBM_EQUIVALENT)
    rate = 500.0
    base = {
        "J1": k.J1 * rate**2 / k.G1y,
        "J2": k.J2 * rate**2 / k.G1y,
        "C": k.Cy * rate**2 / k.G1y,
        "G2": k.G2y / k.G1y,
        "f1": k.f1 * rate / k.G1y,
        "f2": k.f2 * rate / k.G1y,
    }
    measured = {"J1": 2306, "J2": 175.0, "C": 238, "G2": 0.1015, "f1": 0.15, "f2": 0.044}
    for name, value in measured.items():
        assert base[name] == pytest.approx(value, rel=0.02), name


def test_the_written_adjoint_is_the_transpose_of_the_step():
    states = tuple(jnp.asarray(c) for c in random_states(30).T)
    k = jax.tree.map(lambda x: jnp.full(30, x), coefficients(CROOKED))
    rng = np.random.default_rng(2)
    cotangent = tuple(jnp.asarray(rng.normal(size=30)) for _ in range(4))
    _, automatic = jax.vjp(lambda s, k: tangent_step(s, k, 1 / 500), states, k)
    _, written = jax.vjp(lambda s, k: step(s, k, 1 / 500), states, k)
    for a, b in zip(
        jax.tree.leaves(automatic(cotangent)), jax.tree.leaves(written(cotangent)), strict=True
    ):
        np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-9 * float(jnp.abs(a).max()))


@pytest.mark.parametrize("substeps", [1, 3])
def test_roll_out_gradients_are_those_of_finite_differences(substeps):
    names = [name for name in SYSTEM.parameters if name != "gravity"]
    values = jnp.array([CROOKED[name] for name in names])
    target = tuple((jnp.full((60,), 0.3), jnp.full((60,), 2.0)) for _ in SYSTEM.channels)

    def cost(scale, start):
        parameters = dict(zip(names, values * scale, strict=True)) | {"gravity": 9.81}
        total, _ = squared_error(
            SYSTEM, parameters, tuple(start), target, frame_time=1 / 500, substeps=substeps
        )
        return total

    scale, start = jnp.ones(len(names)), jnp.array([1.0, 0.4, 2.0, -3.0])
    by_scale, by_start = jax.jit(jax.grad(cost, argnums=(0, 1)))(scale, start)
    value = jax.jit(cost)

    def difference(x, evaluate):
        h = 1e-6
        return np.array(
            [
                (evaluate(x.at[i].add(h)) - evaluate(x.at[i].add(-h))) / (2 * h)
                for i in range(len(x))
            ]
        )

    # Central differences are good to about h² and 1e-16 · cost / h, here 1e-8 relative.
    for found, expected in (
        (by_scale, difference(scale, lambda x: value(x, start))),
        (by_start, difference(start, lambda x: value(scale, x))),
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())


def test_squared_error_is_that_of_the_roll_out():
    rng = np.random.default_rng(0)
    start = tuple(jnp.asarray(rng.normal(size=(3, 2))) for _ in range(4))
    observed = rng.normal(size=(4, 25, 3, 2))
    precision = rng.uniform(0, 2, size=(4, 25, 3, 2))
    states = rollout(SYSTEM, CROOKED, start, frames=25, frame_time=1 / 500, substeps=2)
    expected = ((precision * (np.stack(states) - observed)) ** 2).sum(axis=(0, 1))
    total, end = squared_error(
        SYSTEM,
        CROOKED,
        start,
        tuple(zip(jnp.asarray(observed), jnp.asarray(precision), strict=True)),
        frame_time=1 / 500,
        substeps=2,
    )
    np.testing.assert_allclose(total, expected, rtol=1e-12)
    np.testing.assert_allclose(np.stack(end), np.stack(states)[:, -1], rtol=1e-12)


def test_float32_stays_float32():
    start = tuple(jnp.asarray(x, jnp.float32) for x in (1.0, 0.4, 2.0, -3.0))
    parameters = {name: jnp.asarray(value, jnp.float32) for name, value in CROOKED.items()}
    states = rollout(SYSTEM, parameters, start, frames=10, frame_time=1 / 500)
    assert {state.dtype for state in states} == {np.dtype("float32")}


def test_every_parameter_has_a_unit_and_a_meaning():
    for name, parameter in double_pendulum.SYSTEM.parameters.items():
        assert parameter.unit, name
        assert parameter.meaning, name
