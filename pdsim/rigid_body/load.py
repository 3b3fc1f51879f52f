"""Models from MJCF and URDF files, read by MuJoCo's own parser.

Only the description is taken from MuJoCo: names, frames, masses, joints; nothing of its dynamics.
What a file has beyond a tree of bodies with motors on its joints is refused, unless it is named as
to be ignored (``pdsim.rigid_body.unsimulated``).
"""

from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from pdsim.rigid_body.contents import JOINT_KINDS, Contents
from pdsim.rigid_body.model import (
    AXES,
    INERTIA,
    JOINT_SIZES,
    WORLD,
    Actuator,
    Body,
    Joint,
    Model,
    Site,
)
from pdsim.rigid_body.model_text import WANTED
from pdsim.rigid_body.spec import open_spec, reading
from pdsim.rigid_body.unsimulated import refuse
from pdsim.rigid_body.urdf import check_urdf
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import check_regular

# No file says over which velocities dry friction turns round [rad/s or m/s].
_FRICTION_VELOCITY = 0.01


def load_model(path: str | Path, ignore: Collection[str] = (), *, motors: bool = False) -> Model:
    """Read a robot.

    Meshes are not needed where the file gives inertias.

    Args:
        path: ``.xml`` (MJCF) or ``.urdf``.
        ignore: names of ``FEATURES``, or of single geoms, equalities, tendons, actuators.
        motors: whether the file's actuators act, so that what limits them is refused.

    Raises:
        PdsimError: the file is not there or cannot be read, or holds what a tree has not.
    """
    path = Path(path)
    check_regular(path, WANTED)
    if not path.is_file():
        raise PdsimError(f"{path}: no such file; name a model in MJCF (.xml) or URDF (.urdf)")
    mimics = check_urdf(path)
    spec = open_spec(path)
    with reading(path):
        compiled = spec.compile()
    contents = Contents(path, compiled, frozenset(ignore), motors, mimics)
    refuse(contents)
    return _Reader(contents).model()


class _Reader:
    """A compiled model of MuJoCo, read piece by piece."""

    def __init__(self, contents: Contents):
        self.contents, self.m, self.path = contents, contents.compiled, contents.path
        kinds = ("BODY", "JOINT", "SITE", "ACTUATOR")
        self.names = {kind: contents.names(kind) for kind in kinds}
        self.numbers: dict[str, float] = {}

    def model(self) -> Model:
        """Return what was read."""
        bodies = tuple(self._body(i) for i in range(self.m.nbody))
        sites = tuple(self._site(i) for i in range(self.m.nsite))
        actuators = tuple(self._actuator(i) for i in self.contents.kept_actuators())
        self._store("option/gravity", AXES, self.m.opt.gravity)
        self.numbers["option/limit_stiffness"] = 1000.0
        return Model(
            self.path.stem, bodies, sites, actuators, tuple((k, v) for k, v in self.numbers.items())
        )

    def _store(self, prefix: str, entries: Sequence[str], values: Sequence[float]) -> None:
        for entry, value in zip(entries, values, strict=True):
            self.numbers[f"{prefix}/{entry}"] = float(value)

    def _body(self, i: int) -> Body:
        import mujoco

        m, name = self.m, self.names["BODY"][i]
        first = int(m.body_jntadr[i])
        joints = tuple(self._joint(first + j) for j in range(m.body_jntnum[i]))
        if i == WORLD:
            return Body("world", -1, (1.0, 0.0, 0.0, 0.0), ())
        prefix = f"body/{name}"
        self.numbers[f"{prefix}/mass"] = float(m.body_mass[i])
        self._store(f"{prefix}/com", AXES, m.body_ipos[i])
        flat = np.zeros(9)
        mujoco.mju_quat2Mat(flat, m.body_iquat[i])
        rotation = flat.reshape(3, 3)
        inertia = rotation @ np.diag(m.body_inertia[i]) @ rotation.T
        at = [(AXES.index(e[0]), AXES.index(e[1])) for e in INERTIA]
        self._store(f"{prefix}/inertia", INERTIA, [inertia[k] for k in at])
        self._store(f"{prefix}/pos", AXES, m.body_pos[i])
        self._store(f"{prefix}/turn", AXES, (0.0, 0.0, 0.0))
        w, x, y, z = (float(e) for e in m.body_quat[i])
        return Body(name, int(m.body_parentid[i]), (w, x, y, z), joints)

    def _joint(self, j: int) -> Joint:
        m, name = self.m, self.names["JOINT"][j]
        kind = JOINT_KINDS[int(m.jnt_type[j])]
        at, dof = int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j])
        prefix = f"joint/{name}"
        size = JOINT_SIZES[kind][1]
        for entry, values in (
            ("damping", np.atleast_2d(m.dof_damping.T).T[dof : dof + size, 0]),
            ("friction", m.dof_frictionloss[dof : dof + size]),
            ("armature", m.dof_armature[dof : dof + size]),
        ):
            self.numbers[f"{prefix}/{entry}"] = float(values[0])
        self.numbers[f"{prefix}/friction_velocity"] = _FRICTION_VELOCITY
        if kind != "free":
            self._store(f"{prefix}/pos", AXES, m.jnt_pos[j])
        if kind in ("hinge", "slide"):
            self._store(f"{prefix}/axis", AXES, m.jnt_axis[j])
            self.numbers[f"{prefix}/offset"] = float(m.qpos0[at])
            self.numbers[f"{prefix}/stiffness"] = float(np.ravel(m.jnt_stiffness[j])[0])
            self.numbers[f"{prefix}/rest"] = float(m.qpos_spring[at])
            self._store(prefix, ("lower", "upper"), m.jnt_range[j])
        elif np.any(m.jnt_stiffness[j]):
            raise PdsimError(
                f"{self.path}: joint {name} is a {kind} joint with a spring, which only hinges and "
                "slides can have here; remove its stiffness"
            )
        limited = bool(m.jnt_limited[j]) and kind in ("hinge", "slide")
        limited = limited and not self.contents.disables("limit", "constraint")
        return Joint(name, kind, limited, at, dof)

    def _site(self, i: int) -> Site:
        name = self.names["SITE"][i]
        self._store(f"site/{name}/pos", AXES, self.m.site_pos[i])
        return Site(name, int(self.m.site_bodyid[i]))

    def _actuator(self, i: int) -> Actuator:
        m, name, kind = self.m, self.names["ACTUATOR"][i], self.contents.actuator_kind(i)
        assert kind is not None
        prefix = f"actuator/{name}"
        gear = float(m.actuator_gear[i, 0])
        if kind == "torque":
            self.numbers[f"{prefix}/gear"] = gear * float(m.actuator_gainprm[i, 0])
        else:
            if gear != 1.0:
                raise PdsimError(
                    f"{self.path}: actuator {name} holds a position with a gear of {gear:g}; "
                    "multiply its gains by gear² and remove the gear"
                )
            self.numbers[f"{prefix}/kp"] = float(m.actuator_gainprm[i, 0])
            self.numbers[f"{prefix}/kv"] = -float(m.actuator_biasprm[i, 2])
        return Actuator(name, int(m.actuator_trnid[i, 0]), kind)
