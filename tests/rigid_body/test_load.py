"""What is read of a robot's file, what is refused, and what can be ignored."""

import os
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


TREE = "<mujoco><worldbody>{}</worldbody>{}</mujoco>"
BODY = """<body {0}><joint {1} axis="0 1 0"/><inertial pos="0 0 -1" mass="{2}"
diaginertia="1 1 1"/></body>"""


def loaded(tmp_path, bodies, more="", **options):
    path = tmp_path / "robot.xml"
    path.write_text(TREE.format(bodies, more))
    return load_model(path, **options)


def test_a_body_without_name_shares_none(tmp_path):
    bodies = "".join(BODY.format(name, "", 5 + i) for i, name in enumerate(("", 'name="body1"')))
    model = loaded(tmp_path, bodies)
    assert [body.name for body in model.bodies] == ["world", "body1_", "body1"]
    assert [model.values[f"body/{name}/mass"] for name in ("body1_", "body1")] == [5, 6]
    assert [joint.name for joint in model.joints] == ["joint0", "joint1"]


def test_what_would_damage_lists_is_escaped(tmp_path):
    model = loaded(tmp_path, BODY.format('name="a/b*c&#10;d\u2028e=f: #g"', 'name="é 1"', 1))
    assert model.bodies[1].name == "a_b_c_d_e_f: #g"
    assert model.joints[0].name == "é 1"


def test_a_pipe_is_not_opened(tmp_path):
    os.mkfifo(tmp_path / "robot.xml")
    with pytest.raises(PdsimError, match=r"robot.xml: is a named pipe.*; name a robot's file"):
        load_model(tmp_path / "robot.xml")
    path = tmp_path / "whole.xml"
    path.write_text('<mujoco><include file="robot.xml"/></mujoco>')
    with pytest.raises(PdsimError, match=r"robot.xml: is a named pipe"):
        load_model(path)


def test_a_large_file_is_not_read(tmp_path):
    with (tmp_path / "robot.xml").open("wb") as file:
        file.truncate(2**30)
    with pytest.raises(PdsimError, match=r"has 1,024 MiB of text, and at most 64 MiB are read"):
        load_model(tmp_path / "robot.xml")


@pytest.mark.parametrize(
    "text", ['<a "' * 10**6, "<mujoco " + "x" * 10**7, "<mujoco " + "x " * 10**6, "<" * 10**7]
)
def test_damaged_text_is_refused_at_once(tmp_path, text):
    (tmp_path / "robot.xml").write_text(text)
    with pytest.raises(PdsimError, match="its XML is damaged at or after line 1"):
        load_model(tmp_path / "robot.xml")


def test_copies_within_bounds_are_made(tmp_path):
    part = tmp_path / "part.xml"
    part.write_text(TREE.format(BODY.format('name="arm"', "", 1) * 1, ""))
    asset = '<asset><model name="part" file="part.xml"/></asset>'
    attached = "".join(f'<attach model="part" body="arm" prefix="{k}"/>' for k in "abc")
    body = BODY.format("", "", 1)
    model = loaded(tmp_path, f'<replicate count="700">{body}</replicate>{attached}', asset)
    assert len(model.bodies) == 704


SWITCHED = '<option><flag {}="disable"/></option>'


@pytest.mark.parametrize("flag", ["limit", "constraint"])
def test_limits_can_be_switched_off(tmp_path, flag):
    body = BODY.format("", 'range="-1 1"', 1)
    assert loaded(tmp_path, body).joints[0].limited
    assert not loaded(tmp_path, body, SWITCHED.format(flag)).joints[0].limited


@pytest.mark.parametrize("flag", ["contact", "constraint"])
def test_what_is_switched_off_is_not_refused(tmp_path, flag):
    path = written(tmp_path, SWITCHED.format(flag))
    assert load_model(path).velocity_count == 2


def test_a_loop_that_is_not_active_is_none(tmp_path):
    loop = '<equality><joint joint1="joint" active="{}"/></equality>'
    body = BODY.format("", 'name="joint"', 1)
    assert loaded(tmp_path, body, loop.format("false")).velocity_count == 1
    with pytest.raises(PdsimError, match=r"equality0 \(joint joint\) close loops"):
        loaded(tmp_path, body, loop.format("true"))
    assert loaded(tmp_path, body, loop.format("true"), ignore=["joint"]).velocity_count == 1


def test_what_drives_a_robot_counts_where_it_acts(tmp_path):
    body = BODY.format("", 'name="j" actuatorfrcrange="-3 3"', 1)
    for actuator in ('ctrlrange="-1 1"', 'forcerange="-1 1"', ""):
        more = f'<actuator><motor name="m" joint="j" {actuator}/></actuator>'
        assert len(loaded(tmp_path, body, more).actuators) == 1
        with pytest.raises(PdsimError, match=r"m have a ctrlrange.*ignore: \[saturation\]"):
            loaded(tmp_path, body, more, motors=True)
        kept = loaded(tmp_path, body, more, motors=True, ignore=["saturation"])
        assert len(kept.actuators) == 1


def test_actuators_of_a_group_that_is_switched_off_do_not_act(tmp_path):
    motors = "".join(f'<motor name="m{i}" joint="j" group="{i}"/>' for i in range(3))
    more = f'<actuator>{motors}</actuator><option actuatorgroupdisable="1"/>'
    model = loaded(tmp_path, BODY.format("", 'name="j"', 1), more)
    assert [actuator.name for actuator in model.actuators] == ["m0", "m2"]


def test_empty_frames_beside_a_robot_are_no_second_robot(tmp_path):
    path = tmp_path / "robot.urdf"
    inertia = "".join(
        f' i{axes}="{int(axes[0] == axes[1])}"' for axes in ("xx", "yy", "zz", "xy", "xz", "yz")
    )
    path.write_text(f"""<robot name="r"><link name="map"/><link name="base"/>
      <link name="arm"><inertial><mass value="1"/><inertia{inertia}/></inertial></link>
      <joint name="turn" type="continuous"><parent link="base"/><child link="arm"/></joint>
      <transmission name="t"><joint name="turn"/></transmission></robot>""")
    assert load_model(path).velocity_count == 1
