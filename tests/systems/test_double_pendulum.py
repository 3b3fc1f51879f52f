from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reference import CROOKED, DRAG, IBM_EQUIVALENT, MOTORS, mujoco_model, random_states
from scipy.integrate import solve_ivp

from pdsim.recordings.camera import constrained_accelerations
from pdsim.systems.double_pendulum import DoublePendulum, Options, coefficients
from pdsim.systems.pendulum_links import base_parameters
from pdsim.systems.pendulum_motion import energy
from pdsim.systems.rollout import rollout

FREE = DoublePendulum()
DRIVEN = DoublePendulum(options=Options(motors=True, friction_velocity=0.3))
DRY = DoublePendulum(options=Options(dry_friction=True, friction_velocity=0.3))
AIR = DoublePendulum(options=Options(air_drag=True))
SYSTEMS = {"free": FREE, "motors": DRIVEN, "dry": DRY, "air": AIR}
START = (1.0, 0.4, 2.0, -3.0)
WILD = (1.5, 0.4, 5.0, -3.0)


def accelerations(parameters, states, torques=()):
    """Joint accelerations (n, 2) of states (n, 4), and of torques (n, 2) where there are motors."""
    system = DRIVEN if len(torques) else FREE
    rates = system.derivative(
        tuple(states.T), tuple(np.asarray(torques).T), 0.0, system.prepare(parameters)
    )
    return np.stack(rates[2:], axis=1)


def roll(parameters, start, system=FREE, **timing):
    """Channels of the free pendulum."""
    start = tuple(jnp.asarray(x) for x in start)
    channels, _ = rollout(system, system.prepare(parameters), start, **timing)
    return channels


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
    np.testing.assert_allclose(
        accelerations(parameters, states), np.array(expected), rtol=1e-9, atol=1e-8
    )


def test_accelerations_with_motors_are_those_of_mujoco():
    """Rotors are MuJoCo's armature; torques less dry friction act in its joints."""
    import mujoco

    model = mujoco_model(CROOKED)
    model.dof_armature[:] = MOTORS["rotor_inertia_1"], MOTORS["rotor_inertia_2"]
    data = mujoco.MjData(model)
    states = random_states(50)
    # Half of the joints turn slowly, where dry friction is not at its full size.
    states[::2, 2:] /= 100
    torques = np.random.default_rng(3).uniform(-0.5, 0.5, (50, 2))
    dry = np.array([MOTORS["dry_friction_1"], MOTORS["dry_friction_2"]])
    expected = []
    for state, torque in zip(states, torques, strict=True):
        data.qpos[:], data.qvel[:] = state[:2], state[2:]
        data.qfrc_applied[:] = torque - dry * np.tanh(state[2:] / 0.3)
        mujoco.mj_forward(model, data)
        expected.append(data.qacc.copy())
    np.testing.assert_allclose(
        accelerations(CROOKED | MOTORS, states, torques), np.array(expected), rtol=1e-9, atol=1e-8
    )


def test_drag_of_air_is_a_force_against_the_speed_of_a_point_of_each_link():
    """As forces that MuJoCo applies to the bodies, at points whose speed is MuJoCo's too."""
    import mujoco

    model = mujoco_model(CROOKED)
    data = mujoco.MjData(model)
    states = random_states(50)
    first, second, arm = DRAG["drag_1"], DRAG["drag_2"], DRAG["drag_arm"]
    expected = []
    for state in states:
        data.qpos[:], data.qvel[:] = state[:2], state[2:]
        mujoco.mj_forward(model, data)
        data.qfrc_applied[:] = 0
        for body, at, c in ((1, CROOKED["length"], first), (2, arm, second)):
            point = data.xpos[body] + data.xmat[body].reshape(3, 3) @ (0, 0, -at)
            jacobian = np.zeros((3, 2))
            mujoco.mj_jac(model, data, jacobian, None, point, body)
            velocity = jacobian @ data.qvel
            # A torque of c over the square of the rate, where the joint is at rest.
            force = -c / at**3 * np.linalg.norm(velocity) * velocity
            data.qfrc_applied[:] += jacobian.T @ force
        mujoco.mj_forward(model, data)
        expected.append(data.qacc.copy())
    rates = AIR.derivative(tuple(states.T), (), 0.0, AIR.prepare(CROOKED | DRAG))
    found = np.stack(rates[2:], axis=1)
    np.testing.assert_allclose(found, np.array(expected), rtol=1e-9, atol=1e-8)
    assert np.abs(found - accelerations(CROOKED, states)).max() > 0.01


def test_motors_of_no_size_change_nothing():
    states = random_states(20)
    absent = dict.fromkeys(MOTORS, 0.0)
    # Operation by operation: programs contract products and sums, each in its own way.
    with jax.disable_jit():
        np.testing.assert_array_equal(
            accelerations(CROOKED | absent, states, np.zeros((20, 2))),
            accelerations(CROOKED, states),
        )


def test_dry_friction_is_that_of_motors_without_torques_and_rotors():
    states = random_states(20)
    states[::2, 2:] /= 100
    parameters = CROOKED | MOTORS | {"rotor_inertia_1": 0.0, "rotor_inertia_2": 0.0}
    assert DRY.inputs == ()
    prepared, motors = DRY.prepare(parameters), DRIVEN.prepare(parameters)
    columns, none = tuple(jnp.asarray(states).T), (0.0, 0.0)
    np.testing.assert_allclose(
        DRY.derivative(columns, (), 0.0, prepared),
        DRIVEN.derivative(columns, none, 0.0, motors),
        rtol=1e-14,
    )


def test_parameters_may_be_whole_numbers():
    states, torques = random_states(20) / 100, np.zeros((20, 2))
    whole, real = (MOTORS | {"rotor_inertia_2": zero} for zero in (0, 0.0))
    np.testing.assert_array_equal(
        accelerations(CROOKED | whole, states, torques),
        accelerations(CROOKED | real, states, torques),
    )


def test_accelerations_are_those_of_newton_and_euler():
    states = random_states(20, seed=1)
    expected = []
    for q0, q1, v0, v1 in states:
        a, b = constrained_accelerations(np.array([q0, q0 + q1]), np.array([v0, v0 + v1]), CROOKED)
        expected.append([a, b - a])
    np.testing.assert_allclose(accelerations(CROOKED, states), expected, rtol=1e-9, atol=1e-8)


@pytest.mark.parametrize(
    ("kind", "factor"),
    [
        ("free", 1.0),
        ("free", 0.07),
        ("dry", 1.0),
        ("dry", 0.07),
        ("air", 1.0),
        ("air", 0.07),
        ("motors", 1.0),
    ],
)
def test_base_parameters_move_as_their_links_do(kind, factor):
    """Free motion at any common factor of masses and inertias; driven, at the true one."""
    dry = {name: MOTORS[name] for name in ("dry_friction_1", "dry_friction_2")}
    own = {"free": {}, "motors": MOTORS, "dry": dry, "air": DRAG}[kind]
    base = {
        name: value * (1 if name in ("length", "gravity", "drag_arm") else factor)
        for name, value in base_parameters(CROOKED | own).items()
    }
    links, motors = SYSTEMS[kind], kind == "motors"
    system = replace(links, options=links.options.model_copy(update={"parameters": "base"}))
    assert set(base) == set(system.parameters)
    torques = np.random.default_rng(4).uniform(-0.01, 0.01, (2, 100)) if motors else ()

    def motion(system, parameters):
        start = tuple(jnp.asarray(x) for x in START)
        channels, _ = rollout(
            system,
            system.prepare(parameters),
            start,
            tuple(torques),
            frames=100,
            frame_time=1 / 500,
        )
        return channels

    # No chaos within a fifth of a second: rounding stays rounding.
    np.testing.assert_allclose(
        motion(system, base), motion(links, CROOKED | MOTORS | DRAG), rtol=1e-12, atol=1e-12
    )
    found = system.combinations(base)
    if motors:
        # Base parameters are what the motion determines; J1 has one meaning there.
        assert found == {}
        return
    for name, (value, unit) in links.combinations(CROOKED | MOTORS | DRAG).items():
        assert found[name] == (pytest.approx(float(value), rel=1e-12), unit)


def test_default_base_parameters_are_those_of_default_links():
    system = DoublePendulum(options=Options(parameters="base"))
    links = {name: parameter.default for name, parameter in FREE.parameters.items()}
    base = base_parameters(links)
    for name, parameter in system.parameters.items():
        # What has a mass in it is over S1y; friction is 0.
        scale = base["S1y"] if parameter.unit in ("kg m", "kg m^2") else 1.0
        assert parameter.default == pytest.approx(base[name] / scale, rel=1e-12), name


def test_base_parameters_of_no_pendulum_are_nan():
    """Where l |S2| reaches the root of J1 J2, whatever the state; and never for links."""
    system = DoublePendulum(options=Options(parameters="base"))
    base = base_parameters(CROOKED)
    edge = base["length"] ** 2 * (base["S2x"] ** 2 + base["S2y"] ** 2) / base["J1"]
    states = tuple(random_states(50).T)

    def moves(**changed):
        rates = system.derivative(states, (), 0.0, system.prepare(base | changed))
        finite = np.isfinite(np.stack(rates[2:]))
        assert finite.all() or not finite.any()
        return finite.all()

    assert moves(J2=1.0001 * edge)
    assert not moves(J2=0.9999 * edge)
    assert not moves(J2=-base["J2"], J1=-base["J1"])
    rng = np.random.default_rng(0)
    for _ in range(20):
        links = {
            name: value * rng.uniform(0.01, 3) if value else value
            for name, value in CROOKED.items()
        }
        points = links | {"inertia_1": 0.0, "inertia_2": 0.0}
        assert np.isfinite(system.prepare(base_parameters(points)).J1)


def test_energy_is_conserved_without_friction():
    frictionless = CROOKED | {"friction_1": 0.0, "friction_2": 0.0}
    k = coefficients(frictionless, Options())

    def drift(integrator, substeps):
        states = roll(
            frictionless,
            WILD,
            DoublePendulum(integrator=integrator),
            frames=400,
            frame_time=1 / 500,
            substeps=substeps,
        )
        values = np.asarray(energy(states, k))
        return np.abs(values - float(energy(WILD, k))).max()

    scale = 9.81 * (0.5 * 0.0605 + 0.1 * 0.092)
    # Semi-implicit Euler is of first order: halving the step halves the energy error.
    assert drift("semi_implicit_euler", 16) < 0.01 * scale
    assert drift("semi_implicit_euler", 32) / drift("semi_implicit_euler", 16) == pytest.approx(
        0.5, abs=0.05
    )
    assert drift("rk4", 1) < 1e-6 * scale
    assert drift("rk4", 4) < 1e-9 * scale


def test_friction_takes_energy():
    k = coefficients(CROOKED, Options())
    euler = DoublePendulum(integrator="semi_implicit_euler")
    states = roll(CROOKED, WILD, euler, frames=2000, frame_time=1 / 500, substeps=8)
    values = np.asarray(energy(states, k))
    assert values[-1] < values[0]
    # Without the energy error of Euler it falls from frame to frame.
    states = roll(CROOKED, WILD, frames=2000, frame_time=1 / 500)
    assert np.all(np.diff(energy(states, k)) < 0)


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
def test_motion_depends_on_ratios_only(integrator):
    """Masses, inertias and frictions scale together without any effect (free motion)."""
    scaled = {
        name: value * (3.0 if name.startswith(("mass", "inertia", "friction")) else 1.0)
        for name, value in CROOKED.items()
    }
    system = DoublePendulum(integrator=integrator)
    one, other = (
        np.stack(roll(p, START, system, frames=100, frame_time=1 / 500)) for p in (CROOKED, scaled)
    )
    np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)
    for name, (value, unit) in system.combinations(CROOKED).items():
        assert system.combinations(scaled)[name] == (pytest.approx(float(value), rel=1e-12), unit)


def test_base_parameters_of_the_real_pendulum():
    """Units in which time is counted in frames and G1 = 1 (medians over 21 real runs)."""
    k = coefficients(IBM_EQUIVALENT, Options())
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


def test_rk4_at_2_ms_is_worth_far_more_than_euler_at_half_a_millisecond():
    """The real pendulum, let go at full energy; largest error of an angle within a time.

    The motion is chaotic: within one second the errors of the two integrators grow from about
    3e-3 and 1e-9 rad (0.1 s) to 0.1 and 2e-6 rad in the median, and to 3 and 2e-5 rad at worst.
    """
    starts = np.array(
        [(q0, q1, 0.0, 0.0) for q0 in np.linspace(1.5, 3.0, 7) for q1 in np.linspace(-3, 3, 13)]
    )

    def angles(integrator, substeps):
        system = DoublePendulum(integrator=integrator)

        @jax.jit
        @jax.vmap
        def motion(start):
            timing = {"frames": 500, "frame_time": 1 / 500, "substeps": substeps}
            channels, _ = rollout(
                system, system.prepare(IBM_EQUIVALENT), system.unpack(start), **timing
            )
            return jnp.stack(channels[:2], axis=1)

        return np.asarray(motion(starts))

    reference = angles("rk4", 20)

    def by_dop853(q0, q1):
        def derivative(_, y):
            return np.concatenate([y[2:], constrained_accelerations(y[:2], y[2:], IBM_EQUIVALENT)])

        absolute = np.array([q0, q0 + q1, 0.0, 0.0])
        result = solve_ivp(
            derivative, (0, 1), absolute, "DOP853", np.arange(1, 501) / 500, rtol=1e-12, atol=1e-12
        )
        return np.stack([result.y[0], result.y[1] - result.y[0]], axis=1)

    for n in (0, 45):
        np.testing.assert_allclose(reference[n], by_dop853(*starts[n, :2]), rtol=0, atol=1e-8)

    euler, rk4 = (
        np.abs(angles(*choice) - reference).max(axis=2)
        for choice in (("semi_implicit_euler", 4), ("rk4", 1))
    )
    # Within the first fifth of a second chaos has not yet set in.
    assert 0.01 < euler[:, :100].max() < 0.02
    assert rk4[:, :100].max() < 1e-6
    assert np.median(euler.max(axis=1)) > 0.05
    assert np.median(rk4.max(axis=1)) < 1e-5
    assert rk4.max() < 1e-4
    # From every start, at a quarter of the steps.
    assert np.all(rk4.max(axis=1) < 1e-3 * euler.max(axis=1))


def test_float32_stays_float32():
    start = tuple(jnp.asarray(x, jnp.float32) for x in START)
    parameters = {name: jnp.asarray(value, jnp.float32) for name, value in CROOKED.items()}
    states = roll(parameters, start, frames=10, frame_time=1 / 500)
    assert {state.dtype for state in states} == {np.dtype("float32")}


def test_every_parameter_has_a_unit_and_a_meaning():
    for name, parameter in DRIVEN.parameters.items():
        assert parameter.unit, name
        assert parameter.meaning, name
