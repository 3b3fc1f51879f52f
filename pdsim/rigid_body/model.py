"""A robot as a tree: what is joined to what, and every number of it by name.

The structure (bodies, joints, sites, actuators) is fixed. The numbers have names, and any of them
can be estimated:

    body/<body>/mass                      kg
    body/<body>/com/{x,y,z}               m        centre of mass, in the body's frame
    body/<body>/inertia/{xx,…,yz}         kg m^2   about the centre of mass, axes of its frame
    body/<body>/pos/{x,y,z}               m        of the body's frame in its parent's
    body/<body>/turn/{x,y,z}              rad      rotation vector, beyond the file's orientation
    joint/<joint>/pos/{x,y,z}             m        of the anchor, in the body's frame
    joint/<joint>/axis/{x,y,z}            -        in the body's frame
    joint/<joint>/offset                  …        position at which the model is as in the file
    joint/<joint>/damping, friction, armature, stiffness, rest, lower, upper
    joint/<joint>/friction_velocity       …        above it dry friction has its full size
    site/<site>/pos/{x,y,z}               m        in the frame of its body
    actuator/<actuator>/gear, kp, kv
    option/gravity/{x,y,z}                m/s^2
    option/limit_stiffness                …        of all joints' limits
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

AXES = ("x", "y", "z")
INERTIA = ("xx", "yy", "zz", "xy", "xz", "yz")
WORLD = 0

# (positions, velocities) of each kind. Positions of a ball are a quaternion, those of a free joint
# a place and a quaternion; velocities of a ball are those about the axes of its body, those of a
# free joint that of its place, in the world, and then those of a ball.
JOINT_SIZES = {"hinge": (1, 1), "slide": (1, 1), "ball": (4, 3), "free": (7, 6)}


@dataclass(frozen=True)
class Joint:
    """How a body moves against its parent.

    Attributes:
        kind: of ``JOINT_SIZES``.
        limited: whether its limits count.
        first_position, first_velocity: places in the state.
    """

    name: str
    kind: str
    limited: bool
    first_position: int
    first_velocity: int

    @property
    def angular(self) -> bool:
        """Whether its position is an angle."""
        return self.kind == "hinge"

    @property
    def scalar(self) -> bool:
        """Whether it has one position and one velocity."""
        return self.kind in ("hinge", "slide")


@dataclass(frozen=True)
class Body:
    """A rigid body. Body 0 is the world.

    Attributes:
        parent: number of a body before this one; −1 of the world.
        orientation: quaternion of its frame in its parent's, in the file.
        joints: between parent and body, in the order in which they act.
    """

    name: str
    parent: int
    orientation: tuple[float, float, float, float]
    joints: tuple[Joint, ...]


@dataclass(frozen=True)
class Site:
    """A marked point of a body."""

    name: str
    body: int


@dataclass(frozen=True)
class Actuator:
    """A motor on a joint.

    Attributes:
        joint: number.
        kind: "torque" (its input is a force or torque) or "position" (its input is a target).
    """

    name: str
    joint: int
    kind: str


@dataclass(frozen=True)
class Model:
    """A tree of bodies; equal, and hashed, by content.

    Attributes:
        numbers: (name, value) of every number.
    """

    name: str
    bodies: tuple[Body, ...]
    sites: tuple[Site, ...]
    actuators: tuple[Actuator, ...]
    numbers: tuple[tuple[str, float], ...]

    @cached_property
    def joints(self) -> tuple[Joint, ...]:
        """All joints, in the order of the state."""
        return tuple(joint for body in self.bodies for joint in body.joints)

    @cached_property
    def values(self) -> Mapping[str, float]:
        """The numbers of the file."""
        return dict(self.numbers)

    @property
    def position_count(self) -> int:
        """Number of positions."""
        return sum(JOINT_SIZES[joint.kind][0] for joint in self.joints)

    @property
    def velocity_count(self) -> int:
        """Number of velocities, of degrees of freedom."""
        return sum(JOINT_SIZES[joint.kind][1] for joint in self.joints)

    def body(self, name: str) -> int:
        """Number of a body."""
        return [body.name for body in self.bodies].index(name)
