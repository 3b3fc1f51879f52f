"""Numbers and models that several tests compare with."""

import numpy as np
from scipy.linalg import expm

# One SI parameter set equivalent to the base parameters measured on the 21 real runs at 500 Hz.
IBM_EQUIVALENT = {
    "mass_1": 0.5,
    "inertia_1": 8.94e-4,
    "com_x_1": 0.0,
    "com_y_1": 0.0605,
    "friction_1": 1.16e-4,
    "length": 0.092,
    "mass_2": 0.1,
    "inertia_2": 1.1e-4,
    "com_x_2": 0.0,
    "com_y_2": 0.04,
    "friction_2": 3.4e-5,
    "gravity": 9.81,
}

# The same with centres of mass off the links' axes, so that no term of the equations vanishes.
CROOKED = IBM_EQUIVALENT | {"com_x_1": 0.02, "com_x_2": -0.015}
# What motors add.
MOTORS = {
    "rotor_inertia_1": 2e-4,
    "rotor_inertia_2": 5e-5,
    "dry_friction_1": 3e-3,
    "dry_friction_2": 1e-3,
}
# What the air does.
DRAG = {"drag_1": 2e-5, "drag_2": 3e-5, "drag_arm": 0.08}


def mujoco_model(p):
    """The double pendulum in MuJoCo: the independent oracle of the dynamics.

    Hinges turn about −y, so that positive angles move a hanging link towards +x; the link's own y
    axis is −z and its x axis is +x.
    """
    import mujoco

    def body(i, inner):
        # Only the inertia about the hinge acts; the others make the tensor physical.
        inertia = p[f"inertia_{i}"]
        return f"""
          <joint name="j{i}" type="hinge" axis="0 -1 0" damping="{p[f"friction_{i}"]}"/>
          <inertial pos="{p[f"com_x_{i}"]} 0 {-p[f"com_y_{i}"]}" mass="{p[f"mass_{i}"]}"
                    diaginertia="{inertia} {inertia} {inertia}"/>
          {inner}"""

    second = f'<body pos="0 0 {-p["length"]}">{body(2, "")}</body>'
    return mujoco.MjModel.from_xml_string(
        f"""<mujoco><compiler boundmass="0" boundinertia="0"/>
        <option gravity="0 0 {-p["gravity"]}"><flag contact="disable"/></option>
        <worldbody><body>{body(1, second)}</body></worldbody></mujoco>"""
    )


def random_states(count: int, seed: int = 0) -> np.ndarray:
    """States (count, 4) over all angles and at rates of the real recordings."""
    rng = np.random.default_rng(seed)
    return np.concatenate(
        [rng.uniform(-np.pi, np.pi, (count, 2)), rng.uniform(-30, 30, (count, 2))], axis=1
    )


def driven_oscillator(p, start, force, frame_time: float = 0.02) -> np.ndarray:
    """Motion (frame, 2) of the oscillator from exp(t A) of the state with a 1 appended.

    Args:
        p: parameters by name, ``rest`` and ``gain`` with defaults 0.
        start: position and velocity; the first row.
        force: (frame − 1,) [N], held from frame to frame.
    """
    rest, gain = p.get("rest", 0.0), p.get("gain", 0.0)
    x, motion = np.array([*start, 1.0]), [np.array(start)]
    for u in force:
        push = (gain * u + p["stiffness"] * rest) / p["mass"]
        A = np.array(
            [[0, 1, 0], [-p["stiffness"] / p["mass"], -p["damping"] / p["mass"], push], [0, 0, 0]]
        )
        x = expm(A * frame_time) @ x
        motion.append(x[:2])
    return np.array(motion)


def oscillator_responses(p, start, force) -> tuple[np.ndarray, np.ndarray]:
    """The motion without rest and gain, and (frame, 2, 2) that of one unit of each from rest at 0.

    The motion is their sum: it is linear in rest and gain.
    """
    units = [driven_oscillator(p | unit, (0.0, 0.0), force) for unit in ({"rest": 1}, {"gain": 1})]
    return driven_oscillator(p, start, force), np.stack(units, axis=-1)[1:]


def hanging_arm(elbow_axis: str) -> str:
    """MJCF of an arm whose first joint is to be controlled and whose second hangs.

    Args:
        elbow_axis: of the second joint; the first turns about y.
    """
    return f"""
    <mujoco>
      <worldbody>
        <body name="upper" pos="0 0 1">
          <inertial pos="0 0 -0.2" mass="1" fullinertia="0.02 0.02 0.01 0 0 0"/>
          <joint name="shoulder" axis="0 1 0" damping="0.1"/>
          <body name="lower" pos="0 0 -0.4">
            <inertial pos="0 0 -0.1" mass="0.5" fullinertia="0.01 0.01 0.01 0 0 0"/>
            <joint name="elbow" axis="{elbow_axis}" damping="0.01"/>
          </body>
        </body>
      </worldbody>
    </mujoco>
    """


# Where the states of that arm are sought: at the controller's target, and hanging.
NEAR_HANGING = {
    "shoulder": {"input": "target_shoulder", "deviation": 0.05},
    "elbow": {"value": 0.0, "deviation": 1.0},
}
