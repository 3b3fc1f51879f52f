"""A draft for a robot from its URDF file: two arms side by side, each moved by its own motor."""

import numpy as np
import pytest
import yaml
from scipy.integrate import solve_ivp

from pdsim.cli.main import main
from pdsim.draft.matching import Motion
from pdsim.draft.robot_limits import candidates_of
from pdsim.systems.articulated import Options, build

TIME = np.arange(0.0, 3.0, 0.01)
# Of each arm: mass [kg], centre of mass below the joint [m], inertia about it [kg m^2], damping.
ARMS = {"left": (0.5, 0.2, 0.004, 0.02), "right": (0.8, 0.15, 0.006, 0.03)}
FILE_DAMPING = 0.001


def urdf(tools=True):
    """Two arms, each with a frame without mass at its end."""
    tool = """<link name="{0}_tool"/><joint name="{0}_flange" type="fixed">
        <parent link="{0}_arm"/><child link="{0}_tool"/></joint>"""
    bodies = "".join(
        f"""<link name="{name}_arm"><inertial><origin xyz="0 0 {-reach}"/><mass value="{mass}"/>
        <inertia ixx="{inertia}" iyy="{inertia}" izz="{inertia}" ixy="0" ixz="0" iyz="0"/>
        </inertial></link>{tool.format(name) if tools else ""}<joint name="{name}" type="continuous"><parent link="base"/>
        <child link="{name}_arm"/><axis xyz="0 1 0"/><dynamics damping="{FILE_DAMPING}"/></joint>"""
        for name, (mass, reach, inertia, _) in ARMS.items()
    )
    return f'<robot name="two_arms"><link name="base"/>{bodies}</robot>'


def torque(name, time, phase):
    return 0.5 * np.sin((3.0 if name == "left" else 4.3) * time + phase)


def moved(name, start, phase):
    """Angle of one arm under its torque, 0 hanging [rad]."""
    mass, reach, inertia, damping = ARMS[name]

    def rates(t, x):
        push = torque(name, t, phase) - damping * x[1] - 9.81 * mass * reach * np.sin(x[0])
        return [x[1], push / (inertia + mass * reach**2)]

    exact = solve_ivp(rates, (0, TIME[-1]), [start, 0], t_eval=TIME, rtol=1e-8, atol=1e-9)
    return exact.y[0]


def candidates(tmp_path, text):
    """What could be sought of a robot that swings."""
    (tmp_path / "robot.urdf").write_text(text)
    robot = build(Options(model=str(tmp_path / "robot.urdf"), actuation="torque"))
    rows = np.ones((5, 2 * len(robot.inputs)))
    return candidates_of(robot, Motion(rows, rows[:, ::2], rows[:, ::2], 1.0))


def test_a_frame_without_mass_changes_nothing(tmp_path):
    found = candidates(tmp_path, urdf())
    assert found.keys() >= {"left_arm_mass", "right_arm_mass", "left_damping"}
    assert found == candidates(tmp_path, urdf(tools=False))


def test_a_point_of_mass_has_a_mass_alone(tmp_path):
    zeros = "".join(f' i{axes}="0"' for axes in ("xx", "yy", "zz", "xy", "xz", "yz"))
    point = f'<inertial><mass value="1e-9"/><inertia{zeros}/></inertial>'
    text = urdf().replace('<link name="left_tool"/>', f'<link name="left_tool">{point}</link>')
    found = candidates(tmp_path, text)
    assert [name for name in found if "tool" in name] == ["left_tool_mass"]
    assert found["left_tool_mass"]["lower"] == pytest.approx(0.5e-9)


def test_keys_are_names_whatever_a_link_is_called(tmp_path):
    text = urdf().replace("left_arm", "l: #1").replace("right_arm", "l* \u2028 1")
    found = candidates(tmp_path, text)
    masses = {name: entry["sets"] for name, entry in found.items() if name.endswith("mass")}
    assert masses == {"l___1_mass": ["body/l: #1/mass"], "l____1_mass": ["body/l_ _ 1/mass"]}
    both = urdf().replace("left_arm", "a 1").replace("right_arm", "a_1")
    found = candidates(tmp_path, both)
    assert found["a_1_mass"]["sets"] == ["body/a 1/mass"]
    assert found["a_1_mass_2"]["sets"] == ["body/a_1/mass"]


@pytest.mark.slow
def test_joints_and_torques_are_matched_by_their_names(tmp_path, capsys):
    """`pdsim new --model` finds which column is which joint of a URDF, and drafts its friction."""
    rng = np.random.default_rng(0)
    (tmp_path / "arms.urdf").write_text(urdf())
    for number, start in enumerate((0.6, -0.4)):
        columns = {"t": TIME}
        # In another order than the file's, and in degrees.
        for name in ("right", "left"):
            angle = np.degrees(moved(name, start, number)) + 0.01 * rng.normal(size=len(TIME))
            columns[f"{name}_deg"] = angle
        for name in ("right", "left"):
            columns[f"tau_{name}"] = torque(name, TIME, number)
        rows = np.stack(list(columns.values()), axis=1)
        text = "\n".join(",".join(f"{value:.7g}" for value in row) for row in rows)
        (tmp_path / f"swing_{number}.csv").write_text(f"{','.join(columns)}\n{text}\n")
    tables = [str(path) for path in sorted(tmp_path.glob("*.csv"))]
    output = tmp_path / "mine.yaml"
    arguments = ["--model", str(tmp_path / "arms.urdf"), "--output", str(output)]
    assert main(["new", *tables, *arguments]) == 0
    assert main(["check", str(output)]) == 0
    values = yaml.safe_load(output.read_text())
    assert values["simulator"]["system"] == "articulated"
    assert values["simulator"]["options"] == {"model": "arms.urdf", "actuation": "torque"}
    recording = values["recording"]
    assert recording["channels"] == {
        name: {"column": f"{name}_deg", "unit": "deg"} for name in ("left", "right")
    }
    assert recording["inputs"] == {
        f"torque_{name}": {"column": f"tau_{name}", "unit": "N m"} for name in ("left", "right")
    }
    assert "torque_left: column 'tau_left' in N m" in capsys.readouterr().out
    assert values["runs"][0]["settings"] == {"start_count": 8, "tolerance": 0.001}
    # What is not told apart is named where the report begins.
    assert values["description"].startswith("Held at the numbers of the robot's file: ")
    sought = values["simulator"]["parameters"]
    for name, (*_, damping) in ARMS.items():
        # The file is wrong by a factor of twenty and more.
        entry = sought[f"{name}_damping"]
        assert entry["sets"] == [f"joint/{name}/damping"]
        assert entry["lower"] < damping < entry["upper"]
    for entry in sought.values():
        assert entry["upper"] == pytest.approx(float(f"{entry['upper']:.3g}"), rel=1e-12)
