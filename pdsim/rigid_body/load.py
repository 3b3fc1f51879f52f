"""Models from MJCF and URDF files, read by MuJoCo's own parser.

Only the description is taken from MuJoCo: names, frames, masses, joints; nothing of its dynamics.
What a file has beyond a tree of bodies with motors on its joints is refused, unless it is named as
to be ignored.
"""

from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import numpy as np

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
from pdsim.runtime.errors import PdsimError

# What can be ignored as a whole.
CONTACTS = "contacts"
FEATURES = (CONTACTS, "equality", "tendons", "actuators", "fluid")
_IGNORE = "options.ignore"
# No file says over which velocities dry friction turns round [rad/s or m/s].
_FRICTION_VELOCITY = 0.01


def load_model(path: str | Path, ignore: Collection[str] = ()) -> Model:
    """Read a robot.

    Meshes are not needed where the file gives inertias.

    Args:
        path: ``.xml`` (MJCF) or ``.urdf``.
        ignore: kinds among ``FEATURES``, or names of single geoms, equalities, tendons, actuators.

    Raises:
        PdsimError: the file is not there or cannot be read, or holds what a tree has not.
    """
    import mujoco

    path = Path(path)
    if not path.is_file():
        raise PdsimError(f"{path}: no such file; name a model in MJCF (.xml) or URDF (.urdf)")
    try:
        spec = mujoco.MjSpec.from_file(str(path))
        # A link that is fixed to its parent stays a body, so that its numbers have names.
        spec.compiler.fusestatic = False
        forget_meshes(spec)
        compiled = spec.compile()
    except (ValueError, mujoco.FatalError) as error:
        said = " ".join(str(error).split())
        raise PdsimError(f"{path}: MuJoCo cannot read this model: {said}{_remedy(said)}") from None
    return _Reader(mujoco, compiled, path, frozenset(ignore)).model()


def _remedy(said: str) -> str:
    """What to do about what MuJoCo says of a file."""
    if "decoder" in said:
        return (
            "; a robot's file ends in .urdf or, MJCF, in .xml; of a xacro file make one first: "
            "xacro robot.urdf.xacro > robot.urdf"
        )
    if "mjMINVAL" in said:
        return "; give each link that moves an <inertial> with its mass and inertia"
    return ""


def forget_meshes(spec) -> None:
    """Remove meshes, textures and what shows them, where a body has its own inertia."""
    for body in spec.bodies:
        for geom in list(body.geoms):
            shown = geom.meshname or (geom.contype == 0 and geom.conaffinity == 0)
            if shown and body.explicitinertial:
                spec.delete(geom)
    left = {geom.meshname for geom in spec.geoms if geom.meshname}
    for mesh in list(spec.meshes):
        if mesh.name not in left:
            spec.delete(mesh)
    for texture in list(spec.textures):
        spec.delete(texture)


class _Reader:
    """A compiled model of MuJoCo, read piece by piece."""

    def __init__(self, mujoco, compiled, path: Path, ignore: frozenset[str]):
        self.mujoco, self.m, self.path, self.ignore = mujoco, compiled, path, ignore
        self.numbers: dict[str, float] = {}

    def model(self) -> Model:
        """Return what was read."""
        self._refuse()
        bodies = tuple(self._body(i) for i in range(self.m.nbody))
        sites = tuple(self._site(i) for i in range(self.m.nsite))
        actuators = tuple(self._actuator(i) for i in self._kept_actuators())
        self._store("option/gravity", AXES, self.m.opt.gravity)
        self.numbers["option/limit_stiffness"] = 1000.0
        return Model(
            self.path.stem, bodies, sites, actuators, tuple((k, v) for k, v in self.numbers.items())
        )

    def _store(self, prefix: str, entries: Sequence[str], values: Sequence[float]) -> None:
        for entry, value in zip(entries, values, strict=True):
            self.numbers[f"{prefix}/{entry}"] = float(value)

    def _name(self, kind: str, i: int) -> str:
        found = self.mujoco.mj_id2name(self.m, getattr(self.mujoco.mjtObj, f"mjOBJ_{kind}"), i)
        # A slash parts the pieces of a number's name.
        return (found or f"{kind.lower()}{i}").replace("/", "_")

    def _names(self, kind: str, count: int) -> list[str]:
        return [
            name for name in (self._name(kind, i) for i in range(count)) if name not in self.ignore
        ]

    def _refuse(self) -> None:
        unknown = self.ignore - set(FEATURES) - self._every_name()
        if unknown:
            raise PdsimError(
                f"{self.path}: nothing here is called {sorted(unknown)[0]!r}, which {_IGNORE} names"
            )
        checks: list[tuple[str, Callable[[], list[str]], str]] = [
            (CONTACTS, self._touching, "can touch, and contacts are not simulated"),
            ("equality", lambda: self._names("EQUALITY", self.m.neq), "close loops in the tree"),
            ("tendons", lambda: self._names("TENDON", self.m.ntendon), "are tendons"),
            ("actuators", self._strange_actuators, "are not simple motors on joints"),
            ("fluid", self._fluid, "act on moving bodies"),
        ]
        for feature, find, why in checks:
            if feature in self.ignore:
                continue
            if names := find():
                shown = ", ".join(names[:4]) + (f" and {len(names) - 4} more" * (len(names) > 4))
                raise PdsimError(
                    f"{self.path}: {shown} {why}. To simulate the tree without, write "
                    f"{_IGNORE}: [{feature}], or name what is to be ignored"
                )

    def _every_name(self) -> set[str]:
        counts = {
            "GEOM": self.m.ngeom, "EQUALITY": self.m.neq, "TENDON": self.m.ntendon,
            "ACTUATOR": self.m.nu,
        }  # fmt: skip
        return {self._name(kind, i) for kind, count in counts.items() for i in range(count)}

    def _touching(self) -> list[str]:
        """Geoms that could touch another one: neither of the same body nor of its parent."""
        m = self.m
        weld = m.body_weldid
        found: set[str] = set()
        excluded = {tuple(sorted(divmod(int(s), 1 << 16))) for s in m.exclude_signature}
        for i in range(m.ngeom):
            for j in range(i):
                a, b = (int(weld[m.geom_bodyid[k]]) for k in (i, j))
                allowed = (m.geom_contype[i] & m.geom_conaffinity[j]) or (
                    m.geom_contype[j] & m.geom_conaffinity[i]
                )
                parents = {int(weld[m.body_parentid[k]]) for k in (a, b) if k}
                kin = WORLD not in (a, b) and bool(parents & {a, b})
                pair = tuple(sorted((int(m.geom_bodyid[i]), int(m.geom_bodyid[j]))))
                names = {self._name("GEOM", i), self._name("GEOM", j)}
                if allowed and a != b and not kin and pair not in excluded:
                    found |= names if not names & self.ignore else set()
        return sorted(found)

    def _fluid(self) -> list[str]:
        found = []
        if self.m.opt.density or self.m.opt.viscosity or np.any(self.m.opt.wind):
            found.append("a fluid's density or viscosity")
        if np.any(self.m.body_gravcomp):
            found.append("gravity compensation")
        return found

    def _strange_actuators(self) -> list[str]:
        return [
            self._name("ACTUATOR", i)
            for i in range(self.m.nu)
            if self._name("ACTUATOR", i) not in self.ignore and self._kind(i) is None
        ]

    def _kept_actuators(self) -> list[int]:
        if "actuators" in self.ignore:
            return []
        return [i for i in range(self.m.nu) if self._name("ACTUATOR", i) not in self.ignore]

    def _kind(self, i: int) -> str | None:
        """Of an actuator: "torque", "position", or None where it is neither."""
        m, types = self.m, self.mujoco
        on_joint = m.actuator_trntype[i] == types.mjtTrn.mjTRN_JOINT
        plain = m.actuator_dyntype[i] == types.mjtDyn.mjDYN_NONE
        fixed = m.actuator_gaintype[i] == types.mjtGain.mjGAIN_FIXED
        if not (on_joint and plain and fixed):
            return None
        if not self._scalar_joint(int(m.actuator_trnid[i, 0])):
            return None
        if m.actuator_biastype[i] == types.mjtBias.mjBIAS_NONE:
            return "torque"
        gain, (constant, position) = m.actuator_gainprm[i, 0], m.actuator_biasprm[i, :2]
        affine = m.actuator_biastype[i] == types.mjtBias.mjBIAS_AFFINE
        return "position" if affine and constant == 0 and position == -gain else None

    def _scalar_joint(self, i: int) -> bool:
        return self._joint_kind(i) in ("hinge", "slide")

    def _joint_kind(self, i: int) -> str:
        return {0: "free", 1: "ball", 2: "slide", 3: "hinge"}[int(self.m.jnt_type[i])]

    def _body(self, i: int) -> Body:
        m, name = self.m, self._name("BODY", i)
        joints = tuple(self._joint(j) for j in range(m.njnt) if m.jnt_bodyid[j] == i)
        if i == WORLD:
            return Body("world", -1, (1.0, 0.0, 0.0, 0.0), ())
        prefix = f"body/{name}"
        self.numbers[f"{prefix}/mass"] = float(m.body_mass[i])
        self._store(f"{prefix}/com", AXES, m.body_ipos[i])
        flat = np.zeros(9)
        self.mujoco.mju_quat2Mat(flat, m.body_iquat[i])
        rotation = flat.reshape(3, 3)
        inertia = rotation @ np.diag(m.body_inertia[i]) @ rotation.T
        at = [(AXES.index(e[0]), AXES.index(e[1])) for e in INERTIA]
        self._store(f"{prefix}/inertia", INERTIA, [inertia[k] for k in at])
        self._store(f"{prefix}/pos", AXES, m.body_pos[i])
        self._store(f"{prefix}/turn", AXES, (0.0, 0.0, 0.0))
        w, x, y, z = (float(e) for e in m.body_quat[i])
        return Body(name, int(m.body_parentid[i]), (w, x, y, z), joints)

    def _joint(self, j: int) -> Joint:
        m, name, kind = self.m, self._name("JOINT", j), self._joint_kind(j)
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
        return Joint(name, kind, limited, at, dof)

    def _site(self, i: int) -> Site:
        name = self._name("SITE", i)
        self._store(f"site/{name}/pos", AXES, self.m.site_pos[i])
        return Site(name, int(self.m.site_bodyid[i]))

    def _actuator(self, i: int) -> Actuator:
        m, name, kind = self.m, self._name("ACTUATOR", i), self._kind(i)
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
