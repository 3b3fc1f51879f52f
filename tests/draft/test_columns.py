import pytest

from pdsim.draft.columns import EFFORT, OTHER, PLACE, RATE, TIME, kind, ordered, unit_in_name

PENDUBOT = [
    "time", "pos_meas1", "pos_meas2", "vel_meas1", "vel_meas2", "pos_filt1", "pos_filt2",
    "vel_filt1", "vel_filt2", "tau_con1", "tau_con2", "tau_fric1", "tau_fric2", "tau_meas1", "tau_meas2",
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("time", TIME), ("t", TIME), ("Stamp", TIME), ("stamp_ms", TIME), ("x [s]", TIME),
        ("pos_meas1", PLACE), ("theta1", PLACE), ("Arm upper (deg)", PLACE), ("elbow_deg", PLACE),
        ("vel_filt2", RATE), ("dq0", RATE), ("theta_dot_1", RATE), ("q1dot", RATE), ("a [rad/s]", RATE),
        ("tau_con1", EFFORT), ("torque joint 2", EFFORT), ("M2 (N m)", EFFORT), ("elbow_Nm", EFFORT),
        ("ddq1", OTHER), ("motor current", OTHER), ("I1 [A]", OTHER),
        ("shoulder", None), ("Battery V", None), ("note", None),
    ],
)  # fmt: skip
def test_names_tell_what_a_column_holds(name, found):
    assert kind(name) == found


@pytest.mark.parametrize(
    ("name", "wanted", "found"),
    [
        ("Arm upper (deg)", "rad", "deg"), ("elbow_deg", "rad", "deg"), ("a [radians]", "rad", "rad"),
        ("rate_deg_s", "rad/s", "deg/s"), ("stamp_ms", "s", "ms"), ("t [us]", "s", "us"),
        ("elbow_Nm", "N m", "Nm"), ("x (mm)", "m", "mm"), ("speed rpm", "rad/s", "rpm"),
        # A unit of something else is none, and neither is a name that is a unit alone.
        ("pos_m", "rad", None), ("s", "s", None), ("pos_meas1", "rad", None),
    ],
)  # fmt: skip
def test_units_are_read_out_of_names(name, wanted, found):
    assert unit_in_name(name, wanted) == found


def test_measured_columns_come_before_filtered_and_commanded_ones():
    places = [name for name in PENDUBOT if kind(name) == PLACE]
    efforts = [name for name in PENDUBOT if kind(name) == EFFORT]
    assert ordered(["q0", "q1"], places) == ["pos_meas1", "pos_meas2"]
    assert ordered(["torque_1", "torque_2"], efforts) == ["tau_meas1", "tau_meas2"]


def test_the_systems_names_decide_before_order():
    assert ordered(["elbow", "wrist"], ["wrist_pos", "elbow_pos"]) == ["elbow_pos", "wrist_pos"]
    assert ordered(["torque_elbow", "torque_wrist"], ["tau_wrist", "tau_elbow"]) == [
        "tau_elbow", "tau_wrist",
    ]  # fmt: skip
    assert ordered(["q0", "q1"], ["angle_2", "angle_1"]) == ["angle_1", "angle_2"]
    assert ordered(["q0", "q1"], ["upper", "lower"]) == ["upper", "lower"]


@pytest.mark.parametrize("candidates", [[], ["a"], ["a", "b", "c"], ["l1", "l2", "r1", "r2"]])
def test_what_is_not_clear_is_not_guessed(candidates):
    assert ordered(["q0", "q1"], candidates) is None
