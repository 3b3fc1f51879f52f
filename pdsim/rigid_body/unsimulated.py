"""What a robot's file can have that is not simulated: found in MuJoCo's model, refused by name.

Nothing that could change the motion is dropped in silence. An experiment can ignore a feature, or a
single geom, equality, tendon or actuator by its name.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pdsim.rigid_body.contents import Contents
from pdsim.rigid_body.model import WORLD
from pdsim.runtime.errors import PdsimError

_IGNORE = "options.ignore"
_SHOWN = 4
# Flags that switch off numbers of the file, what stops, MuJoCo's array, and what to write instead.
_SWITCHES = (
    (("gravity",), "gravity", "opt.gravity", 'write gravity="0 0 0" in <option>'),
    (("damper", "passive"), "damping", "dof_damping", "set damping to 0"),
    (("spring", "passive"), "springs", "jnt_stiffness", "set stiffness to 0"),
    (("frictionloss", "constraint"), "dry friction", "dof_frictionloss", "set frictionloss to 0"),
)


class Feature(NamedTuple):
    """A feature that is not simulated.

    Attributes:
        find: names of what has it, none of them ignored.
        why: it is refused, after the names.
        instead: what to write in the file, where something means the same.
        single: whether what has it can be ignored by its own name.
    """

    find: Callable[[Contents], Sequence[str]]
    why: str
    instead: str = ""
    single: bool = False


def refuse(contents: Contents) -> None:
    """Refuse what is not simulated and not ignored.

    Raises:
        PdsimError: names what it is, and how to ignore it.
    """
    unknown = contents.ignore - set(FEATURES) - _every_name(contents)
    if unknown:
        raise PdsimError(
            f"{contents.path}: nothing here is called {sorted(unknown)[0]!r}, which {_IGNORE} names"
        )
    for name, feature in FEATURES.items():
        found = [] if name in contents.ignore else feature.find(contents)
        if found:
            more = f" and {len(found) - _SHOWN} more" * (len(found) > _SHOWN)
            shown = ", ".join(found[:_SHOWN]) + more
            instead = f"{feature.instead}. " if feature.instead else ""
            single = ", or name what is to be ignored" if feature.single else ""
            raise PdsimError(
                f"{contents.path}: {shown} {feature.why}. {instead}To simulate the tree without, "
                f"write {_IGNORE}: [{name}]{single}"
            )
    for flags, what, array, instead in _SWITCHES:
        off = [flag for flag in flags if contents.disables(flag)]
        if off and np.any(_attribute(contents.compiled, array)):
            raise PdsimError(
                f'{contents.path}: <flag {off[0]}="disable"/> switches {what} off, which is not '
                f"followed; remove the flag and {instead}"
            )


def _attribute(compiled: Any, path: str) -> Any:
    for name in path.split("."):
        compiled = getattr(compiled, name)
    return compiled


def _every_name(contents: Contents) -> set[str]:
    kinds = ("GEOM", "EQUALITY", "TENDON", "ACTUATOR")
    named = {name for kind in kinds for name in contents.names(kind)}
    return named | set(_followers(contents)) | set(contents.mimics)


def _touching(contents: Contents) -> list[str]:
    """Geoms that could touch another one: neither of the same body nor of its parent."""
    m, names = contents.compiled, contents.names("GEOM")
    if contents.disables("contact", "constraint"):
        return []
    body = m.geom_bodyid.astype(int)
    welded = m.body_weldid[body]
    above = m.body_weldid[m.body_parentid[welded]]
    kept = np.array([name not in contents.ignore for name in names], bool)
    excluded: dict[int, list[int]] = {}
    for signature in m.exclude_signature:
        one, other = divmod(int(signature), 1 << 16)
        excluded.setdefault(one, []).append(other)
        excluded.setdefault(other, []).append(one)
    touches = np.zeros(len(names), bool)
    for i in np.flatnonzero(kept & (welded != WORLD)):
        related = (welded == above[i]) | (above == welded[i])
        kin = related & (welded != WORLD) & (not contents.disables("filterparent"))
        kinds = (m.geom_contype[i] & m.geom_conaffinity) | (m.geom_contype & m.geom_conaffinity[i])
        apart = (welded != welded[i]) & ~np.isin(body, excluded.get(int(body[i]), []))
        others = kept & apart & ~kin & (kinds != 0)
        touches |= others
        touches[i] |= others.any()
    for one, other in zip(m.pair_geom1, m.pair_geom2, strict=True):
        touches[[one, other]] |= kept[one] and kept[other]
    return sorted(names[i] for i in np.flatnonzero(touches))


def _followers(contents: Contents) -> list[str]:
    """Of each equality the joint that it makes follow, or nothing."""
    import mujoco

    m, joints = contents.compiled, contents.names("JOINT")
    follow = m.eq_type == mujoco.mjtEq.mjEQ_JOINT
    return [joints[j] if of_joint else "" for j, of_joint in zip(m.eq_obj1id, follow, strict=True)]


def _loops(contents: Contents) -> list[str]:
    m, ignore = contents.compiled, contents.ignore
    if contents.disables("equality", "constraint"):
        return []
    if not m.neq:
        # Some versions of MuJoCo leave out that a joint follows another.
        return [name for name in contents.mimics if name not in ignore]
    pairs = zip(contents.names("EQUALITY"), _followers(contents), m.eq_active0, strict=True)
    return [
        f"{name} (joint {follower})" if follower and name.startswith("equality") else name
        for name, follower, active in pairs
        if active and not {name, follower} & ignore
    ]


def _tendons(contents: Contents) -> list[str]:
    return [name for name in contents.names("TENDON") if name not in contents.ignore]


def _strange_actuators(contents: Contents) -> list[str]:
    names = contents.names("ACTUATOR")
    return [names[i] for i in contents.kept_actuators() if contents.actuator_kind(i) is None]


def _fluid(contents: Contents) -> list[str]:
    m, found = contents.compiled, []
    if m.opt.density or m.opt.viscosity or np.any(m.opt.wind):
        found.append("a fluid's density or viscosity")
    if np.any(m.body_gravcomp):
        found.append("gravity compensation")
    return found


def _flexes(contents: Contents) -> list[str]:
    names, rigid = contents.names("FLEX"), contents.compiled.flex_rigid
    return [name for name, stiff in zip(names, rigid, strict=True) if not stiff]


def _plugins(contents: Contents) -> list[str]:
    plugins = contents.compiled.body_plugin
    return [n for n, p in zip(contents.names("BODY"), plugins, strict=True) if p >= 0]


def _curved(contents: Contents) -> list[str]:
    """Joints whose damping or spring is no multiple of the velocity or deflection."""
    m = contents.compiled
    # In some versions the further coefficients stand behind the first one.
    columns = [
        (np.atleast_2d(m.dof_damping.T).T[:, 1:], m.dof_jntid),
        (np.atleast_2d(m.jnt_stiffness.T).T[:, 1:], range(m.njnt)),
        (getattr(m, "dof_dampingpoly", np.zeros(m.nv)), m.dof_jntid),
        (getattr(m, "jnt_stiffnesspoly", np.zeros(m.njnt)), range(m.njnt)),
        (getattr(m, "jnt_springyield", np.zeros(m.njnt)), range(m.njnt)),
    ]
    joints = {
        int(joint)
        for values, owners in columns
        for row, joint in zip(values, owners, strict=True)
        if np.any(row)
    }
    names = contents.names("JOINT")
    return [names[i] for i in sorted(joints)]


def _having(contents: Contents, *arrays: str) -> list[str]:
    """Actuators for which any of these arrays is not zero."""
    m, names = contents.compiled, contents.names("ACTUATOR")
    values = [getattr(m, array) for array in arrays if hasattr(m, array)]
    return [names[i] for i in contents.kept_actuators() if any(np.any(v[i]) for v in values)]


def _rotors(contents: Contents) -> list[str]:
    return _having(contents, "actuator_armature", "actuator_damping", "actuator_dampingpoly")


def _delayed(contents: Contents) -> list[str]:
    return _having(contents, "actuator_delay") if contents.motors else []


def _saturated(contents: Contents) -> list[str]:
    if not contents.motors:
        return []
    m, names = contents.compiled, contents.names("ACTUATOR")
    limited = m.actuator_forcelimited | m.jnt_actfrclimited[m.actuator_trnid[:, 0]]
    if not contents.disables("clampctrl"):
        limited = limited | m.actuator_ctrllimited
    return [names[i] for i in contents.kept_actuators() if limited[i]]


CONTACTS = "contacts"
# What can be ignored as a whole.
FEATURES = {
    CONTACTS: Feature(_touching, "can touch, and contacts are not simulated", single=True),
    "equality": Feature(_loops, "close loops in the tree", single=True),
    "tendons": Feature(_tendons, "are tendons", single=True),
    "actuators": Feature(_strange_actuators, "are not simple motors on joints", single=True),
    "fluid": Feature(_fluid, "act on moving bodies"),
    "flexes": Feature(_flexes, "are deformable bodies"),
    "plugins": Feature(_plugins, "are moved by plugins"),
    "polynomials": Feature(
        _curved,
        "have damping or stiffness with more than one coefficient, or a spring that yields, of "
        "which the first coefficient alone is simulated",
    ),
    "rotors": Feature(
        _rotors,
        "have armature or damping of the actuator, which is simulated of joints alone",
        "Write it at the joint, times the gear's square",
    ),
    "delay": Feature(_delayed, "have a delay, and actuators act at once here"),
    "saturation": Feature(
        _saturated,
        "have a ctrlrange, a forcerange or a joint with an actuatorfrcrange, and actuators act "
        "without limits here",
    ),
}
