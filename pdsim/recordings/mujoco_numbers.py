"""Numbers of a stand-in for a robot, set by name in MuJoCo's description of it."""

from typing import Any

import numpy as np

from pdsim.runtime.errors import PdsimError

_AXES = ("x", "y", "z")
_INERTIA = ("xx", "yy", "zz", "xy", "xz", "yz")
_OF_JOINTS = {
    "damping": "damping", "friction": "frictionloss", "armature": "armature",
    "stiffness": "stiffness",
}  # fmt: skip


def set_number(spec: Any, name: str, value: float) -> None:
    """Set a number of a model by name.

    Raises:
        PdsimError: there is none of this name.
    """
    kind, _, rest = name.partition("/")
    owner, _, what = rest.partition("/")
    found = {"body": spec.body, "joint": spec.joint}.get(kind, lambda _: None)(owner)
    what, _, entry = what.partition("/")
    if found is not None and kind == "joint" and what in _OF_JOINTS and not entry:
        _assign(found, _OF_JOINTS[what], value)
    elif found is not None and what == "mass" and not entry:
        found.mass = value
    elif found is not None and what in ("com", "pos") and entry in _AXES:
        vector = found.ipos if what == "com" else found.pos
        vector[_AXES.index(entry)] = value
    elif found is not None and what == "inertia" and entry in _INERTIA:
        if np.isnan(found.fullinertia[0]):
            raise PdsimError(
                f"recording.parameters.{name}: the file must give {owner} a fullinertia"
            )
        found.fullinertia[_INERTIA.index(entry)] = value
    else:
        raise PdsimError(
            f"recording.parameters.{name}: the stand-in's file has no such number; write "
            "body/<body>/mass, …/com/x, …/inertia/xx, …/pos/x, joint/<joint>/damping, …/friction, "
            "…/armature or …/stiffness"
        )


def _assign(joint: Any, attribute: str, value: float) -> None:
    """Set a number of a joint; in some versions of MuJoCo it is the first of several."""
    if np.ndim(getattr(joint, attribute)):
        getattr(joint, attribute)[:] = [value, *[0.0] * (len(getattr(joint, attribute)) - 1)]
    else:
        setattr(joint, attribute, value)
