"""What is read of a robot's file, what is refused, and what can be ignored."""

from pathlib import Path

import numpy as np
import pytest
from rigid_body.conftest import mujoco

from pdsim.rigid_body.load import load_model
from pdsim.runtime.errors import PdsimError

ARM = Path(__file__).with_name("arm.xml")
TWO = """<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>
    <body name="a"><joint name="hip"/><geom name="ball" size="0.1"/>
      <body name="b" pos="0 0 1"><joint name="knee"/><geom name="stick" size="0.1" mass="2"/></body>
    </body>
  </worldbody>
  {more}
</mujoco>"""


def written(tmp_path, more: str = "") -> Path:
    path = tmp_path / "robot.xml"
    path.write_text(TWO.replace("{more}", more))
    return path


def test_every_number_has_a_name():
    model = load_model(ARM)
    assert model.values["body/rod/mass"] == 0.6
    assert model.values["joint/swing/damping"] == 0.2
    assert model.values["joint/swing/friction"] == 0.05
    assert model.values["joint/reach/upper"] == pytest.approx(0.9)
    assert model.values["site/tip/pos/z"] == -0.25
    assert model.values["option/gravity/z"] == -9.81
    assert model.values["actuator/push/gear"] == 2.0
    assert model.values["actuator/hold/kp"] == 30.0
    inertia = [
        model.values[f"body/upper/inertia/{e}"] for e in ("xx", "yy", "zz", "xy", "xz", "yz")
    ]
    np.testing.assert_allclose(inertia, [0.03, 0.028, 0.02, 0.001, 0.002, -0.001], rtol=1e-12)
    assert model == load_model(ARM) and hash(model) == hash(load_model(ARM))


def test_links_fixed_to_their_parent_keep_their_numbers(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text("""<robot name="r"><link name="base"/>
      <link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
        <visual><geometry><mesh filename="not_here.stl"/></geometry></visual></link>
      <link name="tool"><inertial><mass value="0.2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="turn" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint>
      <joint name="held" type="fixed"><parent link="arm"/><child link="tool"/><origin xyz="0 0 0.3"/></joint>
    </robot>""")
    model = load_model(path)
    assert model.values["body/tool/mass"] == 0.2
    assert model.values["body/tool/pos/z"] == 0.3
    assert model.velocity_count == 1


@pytest.mark.parametrize(
    ("more", "ignore", "message"),
    [
        ("", [], "ball, floor, stick can touch, and contacts are not simulated"),
        ("", ["ball"], "floor, stick can touch"),
        ("<equality><joint name='loop' joint1='hip' joint2='knee'/></equality>", ["contacts"],
         r"loop close loops in the tree. To simulate the tree without, write options.ignore: \[equality\]"),
        ("<tendon><fixed name='rope'><joint joint='hip' coef='1'/></fixed></tendon>", ["contacts"], "rope are tendons"),
        ("<actuator><muscle name='calf' joint='knee' lengthrange='0 1'/></actuator>", ["contacts"],
         "calf are not simple motors"),
        ("<option density='1.2'/>", ["contacts"], "fluid"),
        ("", ["contact"], "nothing here is called 'contact'"),
    ],
)  # fmt: skip
def test_what_a_tree_has_not_is_refused_by_name(tmp_path, more, ignore, message):
    with pytest.raises(PdsimError, match=message):
        load_model(written(tmp_path, more), ignore)


@pytest.mark.parametrize("ignore", [["contacts"], ["floor", "ball", "stick"], ["floor", "stick"]])
def test_what_is_named_is_ignored(tmp_path, ignore):
    assert load_model(written(tmp_path), ignore).velocity_count == 2


def test_parents_and_excluded_pairs_do_not_touch(tmp_path):
    path = tmp_path / "robot.xml"
    path.write_text(
        TWO.replace("{more}", "").replace('<geom name="floor" type="plane" size="1 1 1"/>', "")
    )
    assert load_model(path).velocity_count == 2


def test_files_that_are_none_say_so(tmp_path):
    with pytest.raises(PdsimError, match="no such file"):
        load_model(tmp_path / "nothing.xml")
    path = tmp_path / "broken.xml"
    path.write_text("<mujoco><worldbody><body></worldbody></mujoco>")
    with pytest.raises(PdsimError, match=r"broken.xml: MuJoCo cannot read this model"):
        load_model(path)


def test_masses_of_geoms_are_those_of_mujoco(tmp_path):
    path = written(tmp_path)
    theirs = mujoco.MjModel.from_xml_path(str(path))
    assert load_model(path, ["contacts"]).values["body/a/mass"] == theirs.body_mass[1]
