import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pdsim.systems.cart_pole import CartPole, accelerations, coefficients, energy
from pdsim.systems.rollout import rollout

PARAMETERS = {
    "mass_cart": 1.2,
    "mass_pole": 0.3,
    "length": 0.45,
    "inertia": 0.021,
    "friction_cart": 0.4,
    "friction_pole": 0.006,
    "gravity": 9.81,
}


def mujoco_model(p):
    """The cart-pole in MuJoCo. Its hinge turns about −y, so that growing angles lead to +x."""
    import mujoco

    inertia = p["inertia"]
    return mujoco.MjModel.from_xml_string(
        f"""<mujoco><compiler boundmass="0" boundinertia="0"/>
        <option gravity="0 0 {-p["gravity"]}"><flag contact="disable"/></option>
        <worldbody><body>
          <joint name="rail" type="slide" axis="1 0 0" damping="{p["friction_cart"]}"/>
          <inertial pos="0 0 0" mass="{p["mass_cart"]}" diaginertia="1 1 1"/>
          <body>
            <joint name="hinge" type="hinge" axis="0 -1 0" damping="{p["friction_pole"]}"/>
            <inertial pos="0 0 {-p["length"]}" mass="{p["mass_pole"]}"
                      diaginertia="{inertia} {inertia} {inertia}"/>
          </body>
        </body></worldbody></mujoco>"""
    )


def test_accelerations_are_those_of_mujoco():
    import mujoco

    model = mujoco_model(PARAMETERS)
    data = mujoco.MjData(model)
    rng = np.random.default_rng(0)
    states = rng.uniform([-2, -np.pi, -5, -15], [2, np.pi, 5, 15], (50, 4))
    forces = rng.uniform(-20, 20, 50)
    expected = []
    for state, force in zip(states, forces, strict=True):
        data.qpos[:], data.qvel[:] = state[:2], state[2:]
        data.qfrc_applied[:] = force, 0.0
        mujoco.mj_forward(model, data)
        expected.append(data.qacc.copy())
    k = coefficients(PARAMETERS)
    found = np.stack(accelerations(tuple(states.T), forces, k), axis=1)
    np.testing.assert_allclose(found, np.array(expected), rtol=1e-9, atol=1e-11)


def roll(parameters, start, *, frames: int, frame_time: float, substeps: int = 1):
    system = CartPole()

    @jax.jit
    def run(start, force):
        channels, _ = rollout(
            system,
            system.prepare(parameters),
            start,
            (force,),
            frames=frames,
            frame_time=frame_time,
            substeps=substeps,
        )
        return channels

    return run(tuple(map(jnp.asarray, start)), jnp.zeros(frames))


FRICTIONLESS = PARAMETERS | {"friction_cart": 0.0, "friction_pole": 0.0}
START = (0.2, 2.5, 0.4, -3.0)


def test_energy_and_momentum_are_conserved_without_friction():
    k = coefficients(FRICTIONLESS)
    states = roll(FRICTIONLESS, START, frames=400, frame_time=0.01, substeps=10)

    def momentum(state):
        return k.S * state[2] + k.H * jnp.cos(state[1]) * state[3]

    for quantity, scale in ((lambda s: energy(s, k), k.G), (momentum, k.S)):
        drift = np.abs(np.asarray(quantity(states)) - float(quantity(START)))
        assert drift.max() < 1e-9 * scale


def test_friction_takes_energy():
    k = coefficients(PARAMETERS)
    values = np.asarray(energy(roll(PARAMETERS, START, frames=400, frame_time=0.01), k))
    assert np.all(np.diff(values) < 0)


def test_angle_zero_hangs():
    at_rest = roll(PARAMETERS, (0.0, 0.0, 0.0, 0.0), frames=10, frame_time=0.01)
    np.testing.assert_array_equal(np.stack(at_rest), 0.0)
    # Pulled to the right, the pole falls back to the left and takes the cart along to the right.
    ddx, dda = accelerations((0.0, 0.1, 0.0, 0.0), 0.0, coefficients(PARAMETERS))
    assert dda < 0 < ddx


@pytest.mark.parametrize("bob", [0.05, 0.3])
def test_a_point_mass_on_a_fixed_cart_swings_as_a_pendulum(bob):
    """With I = 0 and a cart too heavy to move, ä = −g/l sin a."""
    p = FRICTIONLESS | {"inertia": 0.0, "mass_cart": 1e9, "mass_pole": bob}
    _, found = accelerations((0.0, 0.8, 0.0, 2.0), 0.0, coefficients(p))
    assert float(found) == pytest.approx(-9.81 / 0.45 * np.sin(0.8), rel=1e-8)
