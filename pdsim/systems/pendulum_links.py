"""Between the links of a double pendulum and its base parameters, both ways.

``pdsim.systems.double_pendulum`` defines both. The way back is not unique: base parameters say
nothing of m1, m2 and R1, nor, in free motion, of the common factor of masses and inertias, which
y1 stands for here. With these given the other links' parameters follow.
"""

from collections.abc import Mapping
from typing import Any

from pdsim.systems.pendulum_options import Options
from pdsim.systems.ridge import Ridge

# Each parameter of the links that follows from base parameters, and the one it grows with.
_DETERMINED = {
    "inertia_1": "J1",
    "com_x_1": "S1x",
    "friction_1": "friction_1",
    "length": "length",
    "inertia_2": "J2",
    "com_x_2": "S2x",
    "com_y_2": "S2y",
    "friction_2": "friction_2",
}
_DRY, _DRAG = ("dry_friction_1", "dry_friction_2"), ("drag_1", "drag_2")
_OF_MOTORS = ("rotor_inertia_2", *_DRY)
# Alike in both, and no masses or inertias.
_LENGTHS = ("length", "gravity", "drag_arm")


def base_parameters(links: Mapping[str, Any]) -> dict[str, Any]:
    """Return the base parameters of a pendulum of links, in SI and not over S1y.

    Args:
        links: the system's parameters under ``parameters: links``, by name; scalars or arrays.
    """
    m1, m2 = links["mass_1"], links["mass_2"]
    x1, y1 = links["com_x_1"], links["com_y_1"]
    x2, y2 = links["com_x_2"], links["com_y_2"]
    length = links["length"]
    J1 = links["inertia_1"] + m1 * (x1 * x1 + y1 * y1) + m2 * length * length
    kept = ("friction_1", "friction_2", *_LENGTHS, *_OF_MOTORS, *_DRAG)
    return {
        "J1": J1 + links.get("rotor_inertia_1", 0.0),
        "S1x": m1 * x1,
        "S1y": m1 * y1 + m2 * length,
        "J2": links["inertia_2"] + m2 * (x2 * x2 + y2 * y2),
        "S2x": m2 * x2,
        "S2y": m2 * y2,
    } | {name: links[name] for name in kept if name in links}


def _split(base: Mapping[str, Any], free: Mapping[str, Any]) -> dict[str, Any]:
    m1, m2, length = free["mass_1"], free["mass_2"], base["length"]
    if "com_y_1" in free:
        y1 = free["com_y_1"]
        factor = (m1 * y1 + m2 * length) / base["S1y"]
    else:
        y1 = (base["S1y"] - m2 * length) / m1
        factor = 1.0
    x1 = factor * base["S1x"] / m1
    x2, y2 = factor * base["S2x"] / m2, factor * base["S2y"] / m2
    rotor = free.get("rotor_inertia_1", 0.0)
    return {
        **{name: base[name] for name in (*_LENGTHS, "rotor_inertia_2") if name in base},
        **{name: factor * base[name] for name in (*_DRY, *_DRAG) if name in base},
        **free,
        "inertia_1": factor * base["J1"] - rotor - m1 * (x1 * x1 + y1 * y1) - m2 * length * length,
        "com_x_1": x1,
        "com_y_1": y1,
        "friction_1": factor * base["friction_1"],
        "inertia_2": factor * base["J2"] - m2 * (x2 * x2 + y2 * y2),
        "com_x_2": x2,
        "com_y_2": y2,
        "friction_2": factor * base["friction_2"],
    }


def ridge(options: Options) -> Ridge:
    """Return the way from base parameters to links; torques of motors fix the common factor."""
    drag = {name: name for name in (*_DRAG, "drag_arm")} if options.air_drag else {}
    if options.motors:
        own = {name: name for name in _OF_MOTORS} | drag
        free = ("mass_1", "mass_2", "rotor_inertia_1")
        return Ridge(free, _DETERMINED | {"com_y_1": "S1y"} | own, _split)
    dry = {name: name for name in _DRY} if options.dry_friction else {}
    return Ridge(("com_y_1", "mass_1", "mass_2"), _DETERMINED | dry | drag, _split)
