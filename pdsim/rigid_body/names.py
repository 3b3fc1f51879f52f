"""What the numbers of a robot are: their units and meanings, by name."""

import re
from collections.abc import Container

from pdsim.rigid_body.model import INERTIA, Model

_UNITS = {
    "mass": "kg", "com": "m", "inertia": "kg m^2", "moment": "kg m",
    "origin_inertia": "kg m^2", "pos": "m", "turn": "rad", "axis": "-",
    "gear": "-", "gravity": "m/s^2", "delay": "s",
}  # fmt: skip
_JOINT_UNITS = {
    # of hinges and other rotations, of slides
    "offset": ("rad", "m"),
    "rest": ("rad", "m"),
    "lower": ("rad", "m"),
    "upper": ("rad", "m"),
    "damping": ("N m s", "N s/m"),
    "friction": ("N m", "N"),
    "friction_velocity": ("rad/s", "m/s"),
    "armature": ("kg m^2", "kg"),
    "stiffness": ("N m", "N/m"),
    "kp": ("N m", "N/m"),
    "kd": ("N m s", "N s/m"),
    "kv": ("N m s", "N s/m"),
}
_POSITIVE = (
    "mass", "damping", "friction", "friction_velocity", "armature", "stiffness", "kp", "kd", "kv",
    "delay",
)  # fmt: skip
_MEANINGS = {
    "com": "centre of mass", "pos": "place", "turn": "rotation beyond the file's",
    "offset": "position at which the joint is as in the file", "damping": "viscous friction",
    "friction": "dry friction", "friction_velocity": "above it dry friction has its full size",
    "armature": "inertia of the motor at the joint",
    "rest": "position at which the spring is at rest", "lower": "lower limit",
    "upper": "upper limit", "kp": "gain of the position", "kd": "gain of the velocity",
    "kv": "gain of the velocity", "delay": "time by which observations lag behind",
    "cholesky": "coordinate of the pseudo-inertia", "moment": "first moment of mass",
    "origin_inertia": "inertia about the frame's origin",
}  # fmt: skip


def described(model: Model, name: str) -> tuple[str, str, bool]:
    """Unit and meaning of a number, and whether a negative one has no meaning.

    Args:
        name: see ``pdsim.rigid_body.model``; also ``pd/…``, ``torque/…``, ``sensor/delay``
            and ``body/<body>/{cholesky,moment,origin_inertia}/…``.
    """
    kind, owner, *rest = name.split("/")
    what = rest[0] if rest else owner
    unit = _UNITS.get(what, "-")
    if what in _JOINT_UNITS:
        unit = _JOINT_UNITS[what][_slides(model, kind, owner)]
    if kind == "torque":
        unit = "N" if _slides(model, kind, owner) else "N m"
        return unit, f"added to the input ({name})", False
    if what == "cholesky":
        unit = "m" if rest[1][0] == "t" else "-"
    if name == "option/limit_stiffness":
        unit = "N m"
    positive = what in _POSITIVE or (
        what in ("inertia", "origin_inertia") and rest[1] in INERTIA[:3]
    )
    meaning = _MEANINGS.get(what, what.replace("_", " "))
    return unit, f"{meaning} ({name})", positive


def _slides(model: Model, kind: str, owner: str) -> bool:
    if kind == "actuator":
        number = next(a.joint for a in model.actuators if a.name == owner)
        return model.joints[number].kind == "slide"
    return any(joint.name == owner and joint.kind == "slide" for joint in model.joints)


def key_for(name: str, taken: Container[str]) -> str:
    """A key of a section ``parameters`` for a number: letters, digits and ``_ . -`` only.

    Args:
        name: what to call it, as ``link 1_mass``.
        taken: keys that are there already.
    """
    key = re.sub(r"[^A-Za-z0-9_.-]", "_", name)
    if key.startswith((".", "-")):
        key = f"_{key}"
    number, free = 2, key
    while free in taken:
        number, free = number + 1, f"{key}_{number}"
    return free
