"""The right arm of Rethink Robotics' Baxter: seven hinges, each about the z axis of its own frame.

Numbers are those that the manufacturer publishes for the robot (baxter_description, BSD licence);
frames of a camera and sensors, 0.1 g each, are left out. World frame: the robot's torso.
"""

from typing import NamedTuple

import numpy as np

HALF = np.pi / 2


class Link(NamedTuple):
    """One link and the hinge that carries it.

    Attributes:
        name: of the hinge.
        place: of the hinge in the frame of the link before [m].
        turn: roll, pitch, yaw about the fixed axes of that frame [rad].
        mass: [kg].
        centre: of mass, in the link's frame [m].
        inertia: about the centre, in the link's axes: xx, xy, xz, yy, yz, zz [kg m²].
    """

    name: str
    place: tuple[float, float, float]
    turn: tuple[float, float, float]
    mass: float
    centre: tuple[float, float, float]
    inertia: tuple[float, float, float, float, float, float]


MOUNT = ((0.024645, -0.219645, 0.118588), (0.0, 0.0, -0.7854))

LINKS = (
    Link(
        "s0",
        (0.055695, 0.0, 0.011038),
        (0.0, 0.0, 0.0),
        5.70044,
        (0.01783, 0.00086, 0.19127),
        (0.04709102262, 0.00012787556, 0.00614870039, 0.03766976455, 0.00078086899, 0.03595988478),
    ),
    Link(
        "s1",
        (0.069, 0.0, 0.27035),
        (-HALF, 0.0, 0.0),
        3.22698,
        (0.06845, 0.00269, -0.00529),
        (0.01175209419, -0.00030096398, 0.00207675762, 0.0278859752, -0.00018821993, 0.02078749298),
    ),
    Link(
        "e0",
        (0.102, 0.0, 0.0),
        (HALF, 0.0, HALF),
        4.31272,
        (-0.00276, 0.00132, 0.18086),
        (0.02661733557, 0.00029270634, 0.00392189887, 0.02844355207, 0.0010838933, 0.01248008322),
    ),
    Link(
        "e1",
        (0.069, 0.0, 0.26242),
        (-HALF, -HALF, 0.0),
        2.07206,
        (0.02611, 0.00159, -0.01117),
        (0.00711582686, 0.00036036173, 0.0007459496, 0.01318227876, -0.00019663418, 0.00926852064),
    ),
    Link(
        "w0",
        (0.10359, 0.0, 0.0),
        (HALF, 0.0, HALF),
        2.24665,
        (-0.00168, 0.0046, 0.13952),
        (0.01667742825, 0.00018403705, 0.00018657629, 0.01675457264, -0.00064732352, 0.0037463115),
    ),
    Link(
        "w1",
        (0.01, 0.0, 0.2707),
        (-HALF, -HALF, 0.0),
        1.60979,
        (0.06041, 0.00697, 0.006),
        (0.00387607152, -0.00044384784, -0.00021115038, 0.00700537914, 0.00015348067, 0.0055275524),
    ),
    Link(
        "w2",
        (0.115975, 0.0, 0.0),
        (HALF, 0.0, HALF),
        0.35093,
        (0.00198, 0.00125, 0.01855),
        (0.00025289155, 5.75311e-06, -1.59345e-06, 0.0002688601, -5.19818e-06, 0.0003074118),
    ),
)
# Fixed to the last link.
HAND = Link(
    "hand",
    (0.0, 0.0, 0.11355),
    (0.0, 0.0, 0.0),
    0.19125,
    (0.01093, 0.00042, -0.01532),
    (0.00017588, 1.47073e-06, 2.43633e-05, 0.00021166377, 1.72689e-06, 0.00023745397),
)
# What the gripper holds, in the frame of the last link [m].
GRIP = (0.0, 0.0, 0.11355 + 0.025)


def symmetric(inertia) -> np.ndarray:
    """The matrix (3, 3) of xx, xy, xz, yy, yz, zz."""
    xx, xy, xz, yy, yz, zz = inertia
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def rotation(turn) -> np.ndarray:
    """Rotation (3, 3) of roll, pitch and yaw about fixed axes: Rz(yaw) Ry(pitch) Rx(roll)."""
    (cr, sr), (cp, sp), (cy, sy) = ((np.cos(x), np.sin(x)) for x in turn)
    roll = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    pitch = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    yaw = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    return yaw @ pitch @ roll
