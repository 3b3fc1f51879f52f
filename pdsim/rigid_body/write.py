"""A robot's file with other numbers, as MJCF: what ``load`` reads, written."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from pdsim.rigid_body.model import AXES, INERTIA, Model
from pdsim.rigid_body.mujoco_names import names_of
from pdsim.rigid_body.spec import open_spec
from pdsim.runtime.errors import PdsimError

# Of joints: entry of a number's name → array of MuJoCo's model, one value per degree of freedom.
_OF_FREEDOM = {"damping": "dof_damping", "friction": "dof_frictionloss", "armature": "dof_armature"}
_PARTS = {
    "body": ("mass", "com", "inertia", "pos"),
    "joint": (*_OF_FREEDOM, "stiffness", "rest", "lower", "upper", "pos", "axis"),
    "site": ("pos",),
    "actuator": ("kp", "kv"),
}


def writable(name: str) -> bool:
    """Whether a number of the model (see ``pdsim.rigid_body.model``) has a place in MJCF here."""
    kind, owner, *rest = name.split("/")
    if kind == "option":
        return owner == "gravity"
    return bool(rest) and rest[0] in _PARTS.get(kind, ())


def to_mjcf(path: str | Path, model: Model, values: Mapping[str, float]) -> str:
    """The text of a robot's file with some numbers changed.

    Meshes stay where MuJoCo finds them; else what shows them is left out.

    Args:
        path: MJCF (.xml) or URDF (.urdf).
        model: what ``load_model`` read of it.
        values: numbers by name, all of them ``writable``.

    Raises:
        PdsimError: MuJoCo refuses the robot with these numbers.
    """
    import mujoco

    try:
        spec, compiled = _opened(path)
        changed = {name: float(value) for name, value in values.items()}
        _set(mujoco, compiled, {**model.values, **changed}, changed)
        spec.copy_back(compiled)
        spec.compile()
        return spec.to_xml()
    except (ValueError, mujoco.FatalError) as error:
        raise PdsimError(f"{path}: MuJoCo refuses it with these numbers: {error}") from None


def _opened(path: str | Path):
    spec = open_spec(path, shapes=True)
    try:
        return spec, spec.compile()
    except ValueError:
        # Meshes that are not there.
        spec = open_spec(path)
        return spec, spec.compile()


def _set(mujoco, m, numbers: Mapping[str, float], changed: Mapping[str, float]) -> None:
    """Put the changed numbers into a compiled model; ``numbers`` are all of them."""
    numbered = {kind: names_of(m, kind.upper()) for kind in _PARTS}
    for name, value in changed.items():
        kind, owner, *rest = name.split("/")
        # MuJoCo's own names can be empty, or hold a slash.
        i = numbered[kind].index(owner) if kind in numbered else 0
        if kind == "option":
            m.opt.gravity[AXES.index(rest[0])] = value
        elif kind == "body":
            _set_body(mujoco, m, i, f"body/{owner}", rest, numbers)
        elif kind == "site":
            m.site_pos[i, AXES.index(rest[1])] = value
        elif kind == "actuator":
            if rest[0] == "kp":
                m.actuator_gainprm[i, 0], m.actuator_biasprm[i, 1] = value, -value
            else:
                m.actuator_biasprm[i, 2] = -value
        else:
            _set_joint(m, i, rest, value)


def _set_body(
    mujoco, m, i: int, prefix: str, rest: list[str], numbers: Mapping[str, float]
) -> None:
    if rest[0] == "mass":
        m.body_mass[i] = numbers[f"{prefix}/mass"]
    elif rest[0] in ("com", "pos"):
        array = m.body_ipos if rest[0] == "com" else m.body_pos
        array[i, AXES.index(rest[1])] = numbers["/".join([prefix, *rest])]
    else:
        xx, yy, zz, xy, xz, yz = (numbers[f"{prefix}/inertia/{entry}"] for entry in INERTIA)
        values, vectors = np.linalg.eigh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        # A rotation, not a reflection.
        vectors[:, 0] *= np.linalg.det(vectors)
        m.body_inertia[i] = values
        mujoco.mju_mat2Quat(m.body_iquat[i], vectors.ravel())


def _set_joint(m, j: int, rest: list[str], value: float) -> None:
    if rest[0] in _OF_FREEDOM:
        first = m.jnt_dofadr[j]
        count = {0: 6, 1: 3}.get(int(m.jnt_type[j]), 1)
        array = getattr(m, _OF_FREEDOM[rest[0]])
        # Of damping and stiffness MuJoCo 4 has further coefficients, of powers of the rate.
        array.reshape(m.nv, -1)[first : first + count, 0] = value
    elif rest[0] == "stiffness":
        m.jnt_stiffness.reshape(m.njnt, -1)[j, 0] = value
    elif rest[0] == "rest":
        m.qpos_spring[m.jnt_qposadr[j]] = value
    elif rest[0] in ("pos", "axis"):
        array = m.jnt_pos if rest[0] == "pos" else m.jnt_axis
        array[j, AXES.index(rest[1])] = value
    else:
        m.jnt_range[j, ("lower", "upper").index(rest[0])] = value
