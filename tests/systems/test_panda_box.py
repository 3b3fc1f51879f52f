"""The arm with the box of config/experiments/panda_box_*.yaml."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest
import yaml

from pdsim.systems import articulated

MASSES = {"body/weight1/mass": 0.5, "body/weight2/mass": 0.5}
WEIGHTS = {
    "body/weight1/pos/x": 0.11, "body/weight1/pos/y": 0.03,
    "body/weight2/pos/x": -0.05, "body/weight2/pos/y": -0.06,
}  # fmt: skip
SWAPPED = {
    name.replace("1", "#").replace("2", "1").replace("#", "2"): value
    for name, value in WEIGHTS.items()
}


@pytest.fixture(scope="module")
def path(root):
    return root / "data/models/panda_box.xml"


@pytest.fixture(scope="module")
def system(path):
    observe = {"positions": [], "velocities": [], "frames": {"box": "box"}}
    joints = tuple(f"joint{i}" for i in range(1, 8))
    return articulated.build(
        articulated.Options(model=str(path), actuation="pd", joints=joints, observe=observe)
    )


@pytest.fixture(scope="module")
def motion(system):
    """Accelerations and markers, of a state, targets and the weights' places."""
    numbers = {name: parameter.default for name, parameter in system.parameters.items()}
    numbers |= MASSES

    @jax.jit
    def found(q, v, targets, weights):
        prepared = system.prepare(numbers | weights)
        _, a = system.derivative((q, v), tuple(targets), 0.0, prepared)
        return a, jnp.stack(system.observe((q, v), prepared))

    return found


def state(seed):
    random = np.random.default_rng(seed)
    q = np.array([0.1, -0.8, 0.2, -2.3, 0.1, 1.6, 0.3, 0.2, -0.3]) + 0.1 * random.normal(size=9)
    return q, 0.5 * random.normal(size=9), q[:7] + 0.01 * random.normal(size=7)


def test_accelerations_and_markers_with_weights_are_those_of_mujoco(path, motion):
    spec = mujoco.MjSpec.from_file(str(path))
    for weight in ("weight1", "weight2"):
        spec.body(weight).mass = MASSES[f"body/{weight}/mass"]
        for i, axis in enumerate("xy"):
            spec.body(weight).pos[i] = WEIGHTS[f"body/{weight}/pos/{axis}"]
    model = spec.compile()
    data = mujoco.MjData(model)
    for seed in range(3):
        q, v, targets = state(seed)
        data.qpos[:], data.qvel[:] = q, v
        data.qfrc_applied[:7] = 100.0 * (targets - q[:7]) - 10.0 * v[:7]
        mujoco.mj_forward(model, data)
        a, markers = motion(q, v, targets, WEIGHTS)
        np.testing.assert_allclose(a, data.qacc, rtol=1e-9, atol=1e-9 * np.abs(data.qacc).max())
        origin, axes = data.body("box").xpos, data.body("box").xmat.reshape(3, 3).T
        expected = np.concatenate([origin, (origin + axes).ravel()])
        np.testing.assert_allclose(markers, expected, atol=1e-12)


def test_swapping_the_weights_leaves_the_motion_unchanged(motion):
    for seed in range(3):
        one, other = (motion(*state(seed), weights)[0] for weights in (WEIGHTS, SWAPPED))
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
        moved = WEIGHTS | {"body/weight1/pos/x": 0.0}
        assert np.abs(motion(*state(seed), moved)[0] - one).max() > 1e-3


def test_the_lid_s_place_moves_the_markers_and_not_the_motion(path):
    observe = {"positions": [], "velocities": [], "frames": {"box": "box", "lid": "lid"}}
    joints = tuple(f"joint{i}" for i in range(1, 8))
    system = articulated.build(
        articulated.Options(model=str(path), actuation="pd", joints=joints, observe=observe)
    )
    numbers = {name: parameter.default for name, parameter in system.parameters.items()}
    q, v, targets = state(0)
    aside = np.array([0.0012, -0.0016])
    moved = numbers | {"body/lid/pos/x": aside[0], "body/lid/pos/y": aside[1]}
    one, other = (system.prepare(values) for values in (numbers, moved))
    before, after = (
        system.derivative((q, v), tuple(targets), 0.0, prepared)[1] for prepared in (one, other)
    )
    np.testing.assert_array_equal(before, after)
    shown = np.reshape(system.observe((q, v), other), (2, 4, 3))
    axes = (shown[0, 1:3] - shown[0, 0]).T
    np.testing.assert_allclose(shown[1], shown[0] + axes @ aside, atol=1e-12)


def test_the_axes_of_the_universal_joint_cross_at_right_angles(path):
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    data.qpos[:7] = state(0)[0][:7]
    mujoco.mj_forward(model, data)
    first, second = (model.joint(name).id for name in ("u1", "u2"))
    assert data.xaxis[first] @ data.xaxis[second] == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(data.xanchor[first], data.xanchor[second], atol=1e-12)
    flange, box = data.body("link7"), data.body("box")
    down = flange.xmat.reshape(3, 3)[:, 2]
    np.testing.assert_allclose(box.xpos - flange.xpos, (0.107 + 2 * 0.04) * down, atol=1e-9)
    np.testing.assert_allclose(box.xmat.reshape(3, 3)[:, 2], down, atol=1e-9)


def test_the_box_holds_the_weights_limits_and_both_files_share_the_kinematics(root, path):
    model = mujoco.MjModel.from_xml_path(str(path))
    stand_in = mujoco.MjModel.from_xml_path(str(root / "data/models/panda_box_stand_in.xml"))
    experiment = yaml.safe_load((root / "config/experiments/panda_box_weights.yaml").read_text())
    half = model.geom("walls").size
    for name, limits in experiment["simulator"]["parameters"].items():
        assert limits["upper"] < half["xy".index(name[-1])]
    at = model.body("box").id
    np.testing.assert_array_equal(model.body_pos[:at], stand_in.body_pos[:at])
    np.testing.assert_array_equal(model.body_quat[: at + 1], stand_in.body_quat[: at + 1])
    lid = model.body_pos[at] - stand_in.body_pos[at]
    assert np.linalg.norm(lid) == pytest.approx(0.002, rel=1e-3)
