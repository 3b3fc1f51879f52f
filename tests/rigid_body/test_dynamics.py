"""Rigid bodies against MuJoCo, a closed form, energy and differences."""

from functools import partial
from pathlib import Path

import compilation
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rigid_body.conftest import KINDS, Robot, mujoco, random_tree
from tiers import slow

from pdsim.rigid_body.dynamics import forward_dynamics, inverse_dynamics, mass_matrix
from pdsim.rigid_body.forces import passive
from pdsim.rigid_body.kinematics import place
from pdsim.rigid_body.links import links_of
from pdsim.rigid_body.load import load_model
from pdsim.rigid_body.tree import tree_of
from pdsim.systems import articulated, double_pendulum
from pdsim.systems.rollout import rollout

MODELS = Path(__file__).parents[2] / "data" / "models"
SHARED = Path(__file__).parents[3] / "shared" / "data" / "panda"
jit = partial(jax.jit, compiler_options=compilation.OPTIONS)


def agrees(robot: Robot, seed: int) -> None:
    """Kinematics, mass matrix, forward and inverse dynamics of one state."""
    random = np.random.default_rng(seed)
    m, d = robot.theirs, robot.state(random)
    d.qfrc_applied[:] = 5 * random.normal(size=m.nv)
    # Friction, springs and limits are compared on their own.
    m.dof_damping[:] = m.dof_frictionloss[:] = m.jnt_stiffness[:] = 0.0
    m.jnt_limited[:] = 0
    mujoco.mj_forward(m, d)
    q, v, pushed = jnp.array(d.qpos), jnp.array(d.qvel), jnp.array(d.qfrc_applied)
    asked = jnp.array(random.normal(size=m.nv))

    @jit
    def ours(q, v, pushed, asked):
        placed = place(robot.ours, robot.links.cast(q.dtype), q)
        return (
            placed.links.position.T,
            placed.links.rotation.reshape(9, -1).T,
            mass_matrix(robot.ours, robot.links, q),
            forward_dynamics(robot.ours, robot.links, q, v, pushed),
            inverse_dynamics(robot.ours, robot.links, q, v, asked),
        )

    positions, rotations, mass, accelerations, forces = map(np.asarray, ours(q, v, pushed, asked))
    full = np.zeros((m.nv, m.nv))
    mujoco.mj_fullM(m, d, full)
    at = [tree_of(robot.ours).link_of_body[i] for i in range(1, m.nbody)]
    close = partial(np.testing.assert_allclose, rtol=1e-9)
    close(positions[at], d.xpos[1:], atol=1e-9)
    close(rotations[at], d.xmat[1:], atol=1e-9)
    close(mass, full, atol=1e-9 * np.abs(full).max())
    close(accelerations, d.qacc, atol=1e-9 * np.abs(d.qacc).max())
    d.qacc[:] = asked
    mujoco.mj_inverse(m, d)
    close(forces, d.qfrc_inverse, atol=1e-9 * np.abs(d.qfrc_inverse).max())


@pytest.mark.parametrize("seed", [seed if seed < 12 else slow(seed) for seed in range(50)])
def test_a_random_tree_moves_as_in_mujoco(tmp_path, seed):
    """Trees of up to nine bodies with hinges, slides, balls and free joints, or none."""
    random = np.random.default_rng(seed)
    kinds = KINDS if seed % 2 else ("hinge", "slide", "two")
    path = tmp_path / "tree.xml"
    while True:
        path.write_text(random_tree(random, 1 + seed % 9, kinds))
        robot = Robot.of(path)
        # Of fixed bodies alone there is nothing to compare.
        if robot.theirs.nv:
            break
    agrees(robot, seed)


@pytest.mark.parametrize("name", ["panda.xml", "quadruped.xml", "pendubot.urdf"])
def test_our_models_move_as_in_mujoco(name):
    agrees(Robot.of(MODELS / name), 1)


@pytest.mark.parametrize("name", ["panda.urdf", "panda_with_box_single.urdf"])
def test_published_models_move_as_in_mujoco(name):
    path = SHARED / name
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    agrees(Robot.of(path, ["contacts", "equality"]), 2)


def test_the_closed_form_of_the_double_pendulum_is_this_tree():
    """The pendubot's links as a tree and as the system ``double_pendulum``."""
    path = MODELS / "pendubot.urdf"
    model = load_model(path)
    plane = {"mass_1": 0.608, "com_y_1": 0.275, "inertia_1": 0.00874, "length": 0.3}
    plane |= {"mass_2": 0.63, "com_y_2": 0.166, "inertia_2": 0.00786}
    closed = double_pendulum.build(double_pendulum.Options())
    defaults = {k: p.default for k, p in closed.parameters.items()}
    gravity = defaults["gravity"]
    values = dict.fromkeys(defaults, 0.0) | plane | {"gravity": gravity}
    numbers = {**model.values, "option/gravity/z": -gravity}
    links = links_of(model, numbers)
    for q, v in (((0.3, -1.0), (0.5, 2.0)), ((2.0, 1.5), (-3.0, 1.0))):
        # Its angles are those of each link against the vertical or the other link: the
        # conventions at the head of the file say which.
        rates = closed.derivative(
            tuple(map(jnp.asarray, (*q, *v))), (), 0.0, closed.prepare(values)
        )
        found = forward_dynamics(model, links, jnp.array(q), jnp.array(v), jnp.zeros(2))
        np.testing.assert_allclose(found, jnp.stack(rates[2:]), rtol=1e-9)


def energy(robot: Robot, q, v) -> float:
    links = robot.links.cast(q.dtype)
    mass = mass_matrix(robot.ours, links, q)
    placed = place(robot.ours, links, q)
    rotation, position = placed.links
    height = position[2] + (rotation[2] * links["com"]).sum(axis=0)
    return float(0.5 * v @ mass @ v + 9.81 * (links["mass"] * height).sum())


def test_energy_is_kept_without_friction(tmp_path):
    path = tmp_path / "tree.xml"
    path.write_text(random_tree(np.random.default_rng(3), 5, ("hinge", "slide")))
    robot = Robot.of(path)
    robot = robot._replace(links=links_of(robot.ours, robot.ours.values))
    system = articulated.build(articulated.Options(model=str(path)))
    d = robot.state(np.random.default_rng(0))
    start = jnp.array(d.qpos), 0.3 * jnp.array(d.qvel)
    prepared = system.prepare({k: p.default for k, p in system.parameters.items()})
    run = jit(partial(rollout, system, prepared, frames=200, frame_time=2e-3))
    _, (q, v) = run(start)
    before, after = energy(robot, *start), energy(robot, q, v)
    assert after == pytest.approx(before, rel=1e-7)


def test_forces_from_outside_push_as_in_mujoco(tmp_path):
    """At the accelerations that MuJoCo finds under them, the joints' own forces are what is left."""
    path = tmp_path / "tree.xml"
    path.write_text(random_tree(np.random.default_rng(5), 6, ("hinge", "slide", "ball")))
    robot, random = Robot.of(path), np.random.default_rng(1)
    m, d = robot.theirs, robot.state(np.random.default_rng(1))
    d.xfrc_applied[1:] = random.normal(size=(m.nbody - 1, 6))
    d.qfrc_applied[:] = random.normal(size=m.nv)
    mujoco.mj_forward(m, d)
    external = np.zeros((6, len(tree_of(robot.ours).links)))
    for body, link in tree_of(robot.ours).link_of_body.items():
        # MuJoCo's act at the centre of mass.
        push, twist = np.split(d.xfrc_applied[body], 2)
        external[:, link] = *(twist + np.cross(d.xipos[body], push)), *push
    given = (jnp.array(x) for x in (d.qpos, d.qvel, d.qacc))
    found = inverse_dynamics(robot.ours, robot.links, *given, external)
    np.testing.assert_allclose(found, d.qfrc_applied, rtol=1e-9, atol=1e-9)


@pytest.fixture(scope="module")
def arm() -> Robot:
    return Robot.of(Path(__file__).with_name("arm.xml"))


def test_derivatives_are_those_of_differences_and_of_each_other(arm):
    """In every number of the model, positions, velocities and forces."""
    names = [name for name in arm.ours.values if not name.startswith("actuator")]
    values = np.array([arm.ours.values[name] for name in names])
    given = np.concatenate([values, [0.4, 0.05, 1.0, -0.7, 2.0, -1.0]])

    def accelerations(x):
        numbers = {**arm.ours.values, **dict(zip(names, x, strict=False))}
        links, (q, v, tau) = links_of(arm.ours, numbers), x[len(names) :].reshape(3, 2)
        force = tau + passive(arm.ours, links.cast(x.dtype), q, v)
        return forward_dynamics(arm.ours, links, q, v, force)

    forward, reverse = jit(jax.jacfwd(accelerations))(given), jit(jax.jacrev(accelerations))(given)
    np.testing.assert_allclose(forward, reverse, rtol=1e-10, atol=1e-10)
    step = 1e-6
    moved = given + step * np.concatenate([np.eye(len(given)), -np.eye(len(given))])
    ahead, back = np.split(np.asarray(jit(jax.vmap(accelerations))(moved)), 2)
    np.testing.assert_allclose(forward, (ahead - back).T / (2 * step), rtol=1e-5, atol=1e-5)
    assert np.count_nonzero(np.abs(np.asarray(forward)).max(axis=0) > 1e-9) > 30


def test_passive_forces_are_as_in_mujoco(arm):
    m, d = arm.theirs, mujoco.MjData(arm.theirs)
    d.qpos[:], d.qvel[:] = [0.4, 0.1], [1.5, -0.4]
    mujoco.mj_forward(m, d)
    links = arm.links.cast(np.float64)
    found = np.asarray(passive(arm.ours, links, jnp.array(d.qpos), jnp.array(d.qvel)))
    dry = np.array([0.05, 0.0]) * np.tanh(d.qvel / 0.01)
    np.testing.assert_allclose(found, d.qfrc_passive - dry, rtol=1e-12)
    # Within its limits a joint feels nothing of them; beyond, a spring.
    beyond = np.asarray(passive(arm.ours, links, jnp.array([0.0, 0.95]), jnp.zeros(2)))
    np.testing.assert_allclose(beyond, [0.0, -1000 * 0.05], rtol=1e-12)


def test_an_implicit_step_is_mujocos(tmp_path):
    text = random_tree(np.random.default_rng(8), 5, ("hinge", "slide", "ball", "free"))
    path = tmp_path / "tree.xml"
    path.write_text(text.replace("armature=", 'damping="3" armature='))
    robot = Robot.of(path)
    m, d = robot.theirs, robot.state(np.random.default_rng(2))
    m.opt.timestep = 0.01
    system = articulated.build(articulated.Options(model=str(path)))
    system = system.with_integrator("implicit_damping")
    prepared = system.prepare({k: p.default for k, p in system.parameters.items()})
    state = jnp.array(d.qpos), jnp.array(d.qvel)
    step = jit(lambda state: system.step(state, (), 0.0, prepared, 0.01))
    for _ in range(5):
        state = step(state)
        mujoco.mj_step(m, d)
    np.testing.assert_allclose(state[0], d.qpos, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(state[1], d.qvel, rtol=1e-9, atol=1e-9)


def test_single_precision_stays_single(arm):
    q = v = jnp.zeros(2, jnp.float32)
    links = links_of(arm.ours, arm.ours.values)
    assert forward_dynamics(arm.ours, links, q, v, v).dtype == jnp.float32
