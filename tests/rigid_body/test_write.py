"""A file with other numbers holds these numbers."""

import mujoco
import numpy as np
import pytest

from pdsim.rigid_body.load import load_model
from pdsim.rigid_body.write import to_mjcf, writable
from pdsim.runtime.errors import PdsimError


def changed(model, random):
    """Every number that can be written, moved; inertias of a body all by one factor."""
    factors = {body.name: random.uniform(0.5, 2) for body in model.bodies}
    values = {}
    for name, value in model.values.items():
        if not writable(name) or "/axis/" in name:
            continue
        if "/inertia/" in name:
            values[name] = value * factors[name.split("/")[1]]
        elif "/pos/" in name or "/com/" in name or name.endswith("/rest"):
            values[name] = value + random.normal(0, 0.01)
        else:
            values[name] = value * random.uniform(0.9, 1.1)
    return values


@pytest.mark.parametrize("name", ["panda.xml", "quadruped.xml", "pendubot.urdf"])
def test_a_file_that_was_written_is_read_with_its_numbers(root, tmp_path, name):
    path = root / "data/models" / name
    model = load_model(path, ("contacts",))
    values = changed(model, np.random.default_rng(0))
    assert {name.split("/")[0] for name in values} >= {"body", "joint", "option"}
    written = tmp_path / "robot.xml"
    written.write_text(to_mjcf(path, model, values))
    again = load_model(written, ("contacts",))
    assert set(again.values) == set(model.values)
    for key, value in (model.values | values).items():
        # MuJoCo writes six digits.
        assert again.values[key] == pytest.approx(value, rel=2e-5, abs=2e-6), key


def test_mujoco_s_own_simulation_takes_the_numbers(root, tmp_path):
    path = root / "data/models/pendubot.urdf"
    model = load_model(path, ("contacts",))
    body = model.bodies[-1].name
    text = to_mjcf(path, model, {f"body/{body}/mass": 0.7, "option/gravity/z": -3.7})
    compiled = mujoco.MjModel.from_xml_string(text)
    assert compiled.body(body).mass[0] == pytest.approx(0.7)
    assert compiled.opt.gravity[2] == pytest.approx(-3.7)


def test_numbers_that_no_body_has_are_refused(root):
    path = root / "data/models/panda.xml"
    model = load_model(path)
    values = {"body/link1/inertia/xx": 9.0}
    with pytest.raises(PdsimError, match=r"panda\.xml: MuJoCo refuses it with these numbers: .*"):
        to_mjcf(path, model, values)


def test_bodies_are_found_whatever_they_are_called(tmp_path):
    body = '<body {}><joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>'
    names = ("", 'name="a/b"', 'name="body1"')
    path = tmp_path / "robot.xml"
    bodies = "".join(map(body.format, names))
    path.write_text(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
    model = load_model(path)
    masses = {f"body/{name}/mass": 2.0 + i for i, name in enumerate(("body1_", "a_b", "body1"))}
    text = to_mjcf(path, model, masses | {"joint/joint2/damping": 0.5})
    compiled = mujoco.MjModel.from_xml_string(text)
    np.testing.assert_allclose(compiled.body_mass[1:], [2, 3, 4])
    np.testing.assert_allclose(compiled.dof_damping.reshape(3, -1)[:, 0], [0, 0, 0.5])
