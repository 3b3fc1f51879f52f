"""A robot from its file, as an experiment names it."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rigid_body.conftest import mujoco

from pdsim.parameters.space import Parameter, ParameterSpace
from pdsim.runtime.errors import PdsimError
from pdsim.systems.articulated import Options, build
from pdsim.systems.config import SimulatorConfig
from pdsim.systems.simulator import build_simulator, check_parameters

ARM = Path(__file__).parents[1] / "rigid_body" / "arm.xml"
STATE = np.array([0.4, 0.1, 1.0, -0.5])


def robot(**options):
    return build(Options.model_validate({"model": str(ARM), **options}))


def defaults(system) -> dict[str, float]:
    return {name: parameter.default for name, parameter in system.parameters.items()}


def rates(system, inputs=(), **changed):
    prepared = system.prepare(defaults(system) | changed)
    state = system.unpack(jnp.array(STATE))
    return np.asarray(system.derivative(state, inputs, 0.0, prepared)[1])


def observed(system, **changed):
    prepared = system.prepare(defaults(system) | changed)
    return np.array(system.observe(system.unpack(jnp.array(STATE)), prepared))


def test_torques_motors_and_controllers_push_alike():
    """The same force by three ways, and that of MuJoCo's own motors."""
    free = rates(robot())
    torque = rates(robot(actuation="torque"), (jnp.array(3.0), jnp.array(-2.0)))
    assert np.abs(torque - free).min() > 0.1
    by_target = robot(actuation="pd")
    gains = {"pd/swing/kp": 10.0, "pd/swing/kd": 0.0, "pd/reach/kp": 20.0, "pd/reach/kd": 0.0}
    targets = tuple(jnp.array(x) for x in (STATE[0] + 0.3, STATE[1] - 0.1))
    np.testing.assert_allclose(rates(by_target, targets, **gains), torque, rtol=1e-12)
    motors = robot(actuation="motors")
    assert [q.name for q in motors.inputs] == ["push", "hold"]
    m = mujoco.MjModel.from_xml_path(str(ARM))
    # Dry friction is smooth here and a constraint there.
    m.dof_frictionloss[:] = 0
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:], d.ctrl[:] = STATE[:2], STATE[2:], [-1.0, 0.6]
    mujoco.mj_forward(m, d)
    smooth = {"joint/swing/friction": 0.0}
    found = rates(motors, (jnp.array(-1.0), jnp.array(0.6)), **smooth)
    np.testing.assert_allclose(found, d.qacc, rtol=1e-9)


def test_what_a_torque_sensor_shows_too_little_is_added():
    system = robot(actuation="torque")
    shown = rates(system, (jnp.array(2.0), jnp.array(-2.5)), **{"torque/swing/offset": 1.0,
                                                               "torque/reach/offset": 0.5})  # fmt: skip
    np.testing.assert_allclose(shown, rates(system, (jnp.array(3.0), jnp.array(-2.0))), rtol=1e-12)
    assert system.parameters["torque/swing/offset"].unit == "N m"
    assert system.parameters["torque/reach/offset"].unit == "N"


def test_an_implicit_step_holds_stiff_dry_friction():
    """A step a hundred times too long for an explicit one: the joint stops, and does not turn back."""
    system = robot().with_integrator("implicit_damping")
    values = {"joint/swing/friction": 50.0, "joint/reach/friction": 50.0}
    prepared = system.prepare(defaults(system) | values | {"option/gravity/z": 0.0})
    stepped = jax.jit(lambda state, dt: system.step(state, (), 0.0, prepared, dt))
    state, speeds = system.unpack(jnp.array(STATE)), []
    for _ in range(60):
        state = stepped(state, 0.01)
        speeds.append(np.array(state[1]))
    # What is left is the creep of smooth friction under the spring, 0.01 · 0.2 / 50 rad/s.
    assert (np.diff(np.abs(speeds), axis=0) < 5e-5).all() and np.abs(speeds[-1]).max() < 5e-5
    # Short steps are those of the derivative.
    state = system.unpack(jnp.array(STATE))
    slope = (np.array(stepped(state, 1e-7)[1]) - STATE[2:]) / 1e-7
    np.testing.assert_allclose(slope, system.derivative(state, (), 0.0, prepared)[1], rtol=1e-3)


def test_leapfrog_is_of_second_order_where_forces_are_those_of_places():
    """One joint under gravity and a spring; the other held by its gear."""
    held = {"joint/swing/damping": 0.0, "joint/swing/friction": 0.0, "joint/reach/armature": 1e9}

    def stepper(integrator):
        system = robot().with_integrator(integrator)
        prepared = system.prepare(defaults(system) | held)
        return jax.jit(lambda state, dt: system.step(state, (), 0.0, prepared, dt))

    steppers = {name: stepper(name) for name in ("rk4", "leapfrog", "implicit_damping")}

    def swung(integrator, steps):
        state = robot().unpack(jnp.array([0.4, 0.0, 1.0, 0.0]))
        for _ in range(steps):
            state = steppers[integrator](state, 1.0 / steps)
        return np.array(state[0][0])

    exact = swung("rk4", 200)
    errors = [abs(swung("leapfrog", steps) - exact) for steps in (20, 40, 80)]
    np.testing.assert_allclose(np.log2(errors[:-1]) - np.log2(errors[1:]), 2, atol=0.1)
    assert errors[0] < 0.2 * abs(swung("implicit_damping", 20) - exact)


def test_sites_points_and_frames_are_seen_where_mujoco_has_them():
    point = {"body": "rod", "at": (0.1, 0.2, 0.3)}
    system = robot(
        observe={"positions": [], "velocities": ["reach"], "sites": ["tip"],
                 "points": {"corner": point}, "frames": {"hand": "rod"}}
    )  # fmt: skip
    names = [channel.name for channel in system.channels]
    assert names[:7] == ["dreach", "tip_x", "tip_y", "tip_z", "corner_x", "corner_y", "corner_z"]
    assert names[7:10] == ["hand_o_x", "hand_o_y", "hand_o_z"] and len(names) == 19
    m = mujoco.MjModel.from_xml_path(str(ARM))
    d = mujoco.MjData(m)
    d.qpos[:] = STATE[:2]
    mujoco.mj_forward(m, d)
    rod, turn = d.body("rod").xpos, d.body("rod").xmat.reshape(3, 3)
    expected = [[-0.5], d.site("tip").xpos, rod + turn @ [0.1, 0.2, 0.3], rod, *(rod + turn.T)]
    np.testing.assert_allclose(observed(system), np.concatenate(expected), atol=1e-12)


def test_a_delay_shows_where_the_robot_was():
    late = observed(robot(), **{"sensor/delay": 0.01})
    np.testing.assert_allclose(late, STATE - 0.01 * np.array([1.0, -0.5, 0, 0]), rtol=1e-12)


def simulator(parameters, **options):
    section = {
        "system": "articulated",
        "options": {"model": str(ARM), **options},
        "parameters": parameters,
    }
    return SimulatorConfig.model_validate(section)


def test_one_value_for_several_numbers():
    config = simulator(
        {"f": {"lower": 0.1, "upper": 1.0, "unit": "N m", "sets": ["joint/*/friction"]}}
    )
    with pytest.raises(PdsimError, match=r"joint/reach/friction is in 'N' \(got 'N m'\)"):
        check_parameters(config, robot())
    config = simulator({"m": {"lower": 0.5, "upper": 2.0, "unit": "kg", "sets": ["body/*/mass"]}})
    check_parameters(config, robot())
    assert build_simulator(config).space.parameters[0].sets == ("body/upper/mass", "body/rod/mass")
    config = simulator({"m": {"lower": 0.5, "upper": 2.0, "unit": "kg", "sets": ["link/*/mass"]}})
    with pytest.raises(PdsimError, match="no parameter of articulated is like 'link/"):
        check_parameters(config, robot())


def test_numbers_that_nothing_moves_are_constants_and_change_nothing():
    config = simulator({"m": {"lower": 0.5, "upper": 2.0, "unit": "kg", "sets": ["body/rod/mass"]}})
    found = build_simulator(config)
    values = found.space.system_parameters(jnp.array([0.25]))
    state = found.system.unpack(jnp.array(STATE))
    constant = found.system.derivative(state, (), 0.0, found.system.prepare(values))
    traced = robot().derivative(state, (), 0.0, robot().prepare(values))
    np.testing.assert_allclose(constant[1], traced[1], rtol=1e-12)
    assert np.abs(constant[1] - rates(robot())).max() > 1e-2


def test_inertias_that_cannot_be_do_not_move():
    assert np.isnan(rates(robot(), **{"body/rod/inertia/zz": jnp.array(1.0)})).all()
    assert np.isfinite(rates(robot(), **{"body/rod/inertia/zz": jnp.array(0.006)})).all()


def test_consistent_inertias_start_from_those_of_the_file():
    system = robot(consistent=["rod"])
    assert "body/rod/mass" not in system.parameters
    assert "body/rod/cholesky/alpha" in system.parameters
    moved = {"body/rod/cholesky/d1": jnp.array(system.parameters["body/rod/cholesky/d1"].default)}
    np.testing.assert_allclose(rates(system, **moved), rates(robot()), rtol=1e-9)
    np.testing.assert_allclose(rates(system), rates(robot()), rtol=1e-12)
    # α fixed at another value is another mass, not that of the file.
    alpha = system.parameters["body/rod/cholesky/alpha"].default + 0.1
    heavier = rates(system, **{"body/rod/cholesky/alpha": alpha})
    assert np.abs(heavier - rates(robot())).max() > 1e-2


def test_linear_coordinates_are_those_of_the_equation_of_motion():
    system = robot(linear=["rod"])
    assert {"body/rod/mass", "body/rod/moment/x"} < set(system.parameters)
    assert "body/rod/com/x" not in system.parameters
    np.testing.assert_allclose(rates(system), rates(robot()), rtol=1e-12)
    # At given accelerations the torques are linear: the middle of two bodies takes the middle.
    inertia, moment = "body/rod/origin_inertia/yy", "body/rod/moment/z"
    start = {name: system.parameters[name].default for name in (inertia, moment)}

    def masses(share):
        moved = {
            k: jnp.array(v * (1 + share * f))
            for (k, v), f in zip(start.items(), (0.3, 0.2), strict=True)
        }
        return system.mass_matrix(jnp.array(STATE), system.prepare(defaults(system) | moved))

    np.testing.assert_allclose(masses(0.5), (masses(0.0) + masses(1.0)) / 2, rtol=1e-12)
    assert np.abs(masses(1.0) - masses(0.0)).max() > 1e-4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"observe": {"sites": ["top"]}},
            "simulator.options.observe.sites: .* has nothing called 'top'",
        ),
        ({"actuation": "torque", "joints": ["sving"]}, "'sving'; did you mean 'swing'"),
        ({"consistent": ["world"]}, "nothing called 'world'"),
        ({"linear": ["worl"]}, "simulator.options.linear: .* nothing called 'worl'"),
        (
            {"linear": ["rod"], "consistent": ["rod"]},
            "simulator.options.linear: rod is already in consistent",
        ),
        ({"model": "nowhere.urdf"}, "nowhere.urdf: no such file"),
        (
            {"observe": {"points": {"tip": {"body": "rod"}}, "sites": ["tip"]}},
            "called 'tip_x'; rename it in simulator.options.observe",
        ),
    ],
)
def test_names_that_are_not_there_are_told(options, message):
    with pytest.raises(PdsimError, match=message):
        robot(**options)


def test_a_space_of_fixed_numbers_alone_is_whole():
    system = robot()
    space = ParameterSpace(
        (Parameter(name="m", lower=0.5, upper=1.0, unit="kg", scale="linear", prior="uniform",
                   mean=0.0, standard_deviation=1.0, sets=("body/rod/mass",), label="m"),),
        tuple((k, v) for k, v in defaults(system).items() if k != "body/rod/mass"),
    )  # fmt: skip
    assert set(space.system_parameters(jnp.array([0.5]))) == set(system.parameters)


def test_a_payload_can_be_a_point(tmp_path):
    """A frame without mass whose mass is sought is a point, not an impossible body."""
    text = ARM.read_text().replace('<site name="tip"', '<body name="hand"/><site name="tip"', 1)
    (tmp_path / "arm.xml").write_text(text)
    system = build(Options(model=str(tmp_path / "arm.xml")))
    assert np.isfinite(rates(system)).all()
    loaded = rates(system, **{"body/hand/mass": jnp.array(0.5)})
    assert np.isfinite(loaded).all() and np.abs(loaded - rates(system)).max() > 1e-3
    assert not np.isfinite(rates(system, **{"body/hand/mass": jnp.array(-0.5)})).any()


def test_a_star_stands_for_any_name_and_nothing_else_does(tmp_path):
    (tmp_path / "arm.xml").write_text(ARM.read_text().replace('"swing"', '"s[w]ing"'))
    entry = {"lower": 0.01, "upper": 0.1, "unit": "N m s"}
    simulator = build_simulator(
        SimulatorConfig.model_validate(
            {
                "system": "articulated",
                "options": {"model": str(tmp_path / "arm.xml")},
                "parameters": {"d": entry | {"sets": ["joint/s[w]i*/damping"]}},
            }
        )
    )
    assert simulator.space.parameters[0].sets == ("joint/s[w]ing/damping",)
