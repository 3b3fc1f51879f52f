"""The plant against a simulator that others wrote, and a lap flown in it: PyBullet, in which the
public benchmark safe-control-gym simulates both systems, at the benchmark's 1 kHz and without its
damping."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pdsim.control import closed_loop
from pdsim.control.closed_loop import begin, plant
from pdsim.control.config import ControllerConfig
from pdsim.control.metrics import rmse
from pdsim.control.tasks.cart_pole import CartPoleTask
from pdsim.control.tasks.quadrotor import QuadrotorTask

bullet = pytest.importorskip(
    "pybullet", reason="PyBullet is not installed; pip install 'pdsim[benchmark]' (Python 3.11)"
)
pytestmark = pytest.mark.benchmark

FREE = {"linearDamping": 0, "angularDamping": 0, "jointDamping": 0}


@pytest.fixture
def client():
    number = bullet.connect(bullet.DIRECT)
    bullet.setTimeStep(1e-3, physicsClientId=number)
    bullet.setGravity(0, 0, -9.8, physicsClientId=number)
    yield number
    bullet.disconnect(number)


def quadrotor(client, task, theta):
    """Function of state (6,) and input (2,): the state 20 ms later, by PyBullet.

    A list ``heights``, if given, gets the height after every millisecond.
    """
    known = task.system_parameters(theta)
    body = bullet.createMultiBody(baseMass=known["mass"], physicsClientId=client)
    bullet.changeDynamics(
        body, -1, localInertiaDiagonal=[known["inertia"]] * 3, physicsClientId=client, **FREE
    )
    arm = known["arm"] / np.sqrt(2)

    def step(state, thrusts, heights=None):
        x, z, pitch, dx, dz, dpitch = map(float, state)
        turned = bullet.getQuaternionFromEuler([0, pitch, 0])
        bullet.resetBasePositionAndOrientation(body, [x, 0, z], turned, physicsClientId=client)
        bullet.resetBaseVelocity(body, [dx, 0, dz], [0, dpitch, 0], physicsClientId=client)
        for _ in range(task.substeps):
            for thrust, place in zip(thrusts, (arm, -arm), strict=True):
                bullet.applyExternalForce(
                    body, -1, [0, 0, float(thrust)], [place, 0, 0], bullet.LINK_FRAME,
                    physicsClientId=client,
                )  # fmt: skip
            bullet.stepSimulation(physicsClientId=client)
            if heights is not None:
                heights.append(
                    bullet.getBasePositionAndOrientation(body, physicsClientId=client)[0][2]
                )
        place, turned = bullet.getBasePositionAndOrientation(body, physicsClientId=client)
        speed, turning = bullet.getBaseVelocity(body, physicsClientId=client)
        assert abs(place[1]) < 1e-9
        pitch = 2 * np.arctan2(turned[1], turned[3])
        return np.array([place[0], place[2], pitch, speed[0], speed[2], turning[1]])

    return step


def cart_pole(client, task, theta):
    """As ``quadrotor``; the pole's angle is π − φ, with φ about +y from upright."""
    known = task.system_parameters(theta)
    straight, here = [[0, 0, 0, 1]] * 2, [[0, 0, 0]] * 2
    body = bullet.createMultiBody(
        baseMass=0,
        linkMasses=[known["mass_cart"], known["mass_pole"]],
        linkCollisionShapeIndices=[-1, -1],
        linkVisualShapeIndices=[-1, -1],
        linkPositions=here,
        linkOrientations=straight,
        linkInertialFramePositions=[[0, 0, 0], [0, 0, known["length"]]],
        linkInertialFrameOrientations=straight,
        linkParentIndices=[0, 1],
        linkJointTypes=[bullet.JOINT_PRISMATIC, bullet.JOINT_REVOLUTE],
        linkJointAxis=[[1, 0, 0], [0, 1, 0]],
        physicsClientId=client,
    )
    for link in (0, 1):
        inertia = [known["inertia"]] * 3
        bullet.changeDynamics(
            body, link, localInertiaDiagonal=inertia, physicsClientId=client, **FREE
        )
        bullet.setJointMotorControl2(
            body, link, bullet.VELOCITY_CONTROL, force=0, physicsClientId=client
        )

    def step(state, force):
        x, angle, dx, dangle = map(float, state)
        bullet.resetJointState(body, 0, x, dx, physicsClientId=client)
        bullet.resetJointState(body, 1, np.pi - angle, -dangle, physicsClientId=client)
        for _ in range(task.substeps):
            bullet.setJointMotorControl2(
                body, 0, bullet.TORQUE_CONTROL, force=float(force[0]), physicsClientId=client
            )
            bullet.stepSimulation(physicsClientId=client)
        (x, dx, *_), (tilt, dtilt, *_) = (
            bullet.getJointState(body, link, physicsClientId=client) for link in (0, 1)
        )
        return np.array([x, np.pi - tilt, dx, -dtilt])

    return step


def drawn(task, count):
    """States about the start and inputs at random."""
    rng = np.random.default_rng(0)
    widths = {"quadrotor": [1, 1, 0.5, 1, 1, 2], "cart_pole": [1, 0.3, 1, 1]}[task.name]
    middle = np.asarray(task.start(jax.random.key(0)))
    states = middle + rng.uniform(-1, 1, (count, len(middle))) * np.array(widths)
    low, high = np.array(task.lowest_input), np.array(task.highest_input)
    return states, rng.uniform(low, high, (count, len(low)))


@pytest.mark.parametrize(
    "task, build, theta",
    [(QuadrotorTask(), quadrotor, (0.64, 1.45)), (CartPoleTask(), cart_pole, (1.06, 0.95))],
    ids=["quadrotor", "cart_pole"],
)
def test_a_control_step_of_the_plant_is_that_of_pybullet(client, task, build, theta):
    """To rounding: both are semi-implicit Euler at 1 kHz, of equations derived twice."""
    step = build(client, task, tuple(float(x) for x in np.array(theta) * task.nominal))
    truth = jnp.log(jnp.array(theta))
    ours = jax.jit(lambda x, u: plant(task, x, task.remembered(x), u, truth)[0])
    gaps, moves = [], []
    for state, u in zip(*drawn(task, 30), strict=True):
        theirs = step(state, u)
        gaps.append(np.asarray(ours(jnp.asarray(state), jnp.asarray(u))) - theirs)
        moves.append(theirs - state)
    assert np.all(np.abs(moves).max(axis=0) > 1e-3)
    np.testing.assert_allclose(gaps, 0.0, atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("theta", [(0.64, 1.45), (1.4, 0.6)], ids=["light", "heavy"])
def test_a_lap_in_pybullet_is_safe_and_learns_the_vehicle(client, monkeypatch, theta):
    """The shipped controller, whose plant is replaced; it knows the equations and not PyBullet."""
    task = QuadrotorTask()
    fly = quadrotor(client, task, tuple(float(x) for x in np.array(theta) * task.nominal))
    heights = []

    def flown(task, state, memory, input, truth):
        del truth

        def call(state, input):
            heights.clear()
            after = fly(state, input, heights)
            return np.append(after, task.ceiling - max(heights)).astype(state.dtype)

        shape = jax.ShapeDtypeStruct((len(state) + 1,), state.dtype)
        found = jax.pure_callback(call, shape, state, input)
        return found[:-1], memory, found[-1]

    monkeypatch.setattr(closed_loop, "plant", flown)
    one = ControllerConfig(name="one", belief="svgd", samples=10).build(task)
    truth = jnp.log(jnp.array(theta))
    simulation = begin(one, 0, jnp.asarray(0))._replace(truth=truth)
    step = jax.jit(lambda simulation, number: closed_loop.step(one, 0, simulation, number))
    records = []
    for number in range(task.lap_steps):
        simulation, record = step(simulation, jnp.asarray(number))
        records.append(record)
    states = np.stack([record.state for record in records])
    assert not any(record.crashed for record in records)
    assert min(record.clearance for record in records) > 0
    times = task.control_time * np.arange(1, task.lap_steps + 1)
    wanted = np.stack(jax.vmap(task.reference)(times), axis=-1)
    assert rmse(states[None], wanted, task.scored)[0] < 0.22
    np.testing.assert_allclose(records[-1].mean, np.array(theta) * task.nominal, rtol=0.03)
