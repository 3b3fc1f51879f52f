"""What MuJoCo has read of a robot's file: its things by name, and which of them count."""

from pathlib import Path
from typing import Any, NamedTuple

from pdsim.rigid_body.mujoco_names import names_of
from pdsim.runtime.errors import PdsimError

# MuJoCo's numbers of joint types.
JOINT_KINDS = {0: "free", 1: "ball", 2: "slide", 3: "hinge"}
# Groups of actuators that <option actuatorgroupdisable> can name.
_GROUPS = range(31)


class Contents(NamedTuple):
    """A robot's file as MuJoCo has read it.

    Attributes:
        path: of the file.
        compiled: MuJoCo's model.
        ignore: features, and names of single things, that are not simulated.
        motors: whether the file's actuators act.
        mimics: joints of a URDF that follow another joint.
    """

    path: Path
    compiled: Any
    ignore: frozenset[str]
    motors: bool
    mimics: tuple[str, ...] = ()

    def names(self, kind: str) -> tuple[str, ...]:
        """Names of all things of a kind, see ``names_of``."""
        try:
            return names_of(self.compiled, kind)
        except PdsimError as error:
            raise PdsimError(f"{self.path}: {error}") from None

    def disables(self, *flags: str) -> bool:
        """Whether the file's ``<flag>`` disables any of these, as ``contact``."""
        import mujoco

        # Not every version of MuJoCo has every flag.
        bits = [int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{f.upper()}", 0)) for f in flags]
        return any(int(self.compiled.opt.disableflags) & bit for bit in bits)

    def kept_actuators(self) -> list[int]:
        """Numbers of the actuators that are neither ignored nor disabled by the file."""
        m = self.compiled
        if "actuators" in self.ignore or self.disables("actuation"):
            return []
        groups = [int(group) for group in m.actuator_group]
        off = [group in _GROUPS and int(m.opt.disableactuator) >> group & 1 for group in groups]
        names = self.names("ACTUATOR")
        return [i for i, name in enumerate(names) if name not in self.ignore and not off[i]]

    def actuator_kind(self, i: int) -> str | None:
        """Of an actuator: "torque", "position", or None where it is neither."""
        import mujoco as types

        m = self.compiled
        on_joint = m.actuator_trntype[i] == types.mjtTrn.mjTRN_JOINT
        plain = m.actuator_dyntype[i] == types.mjtDyn.mjDYN_NONE and m.actuator_plugin[i] < 0
        fixed = m.actuator_gaintype[i] == types.mjtGain.mjGAIN_FIXED
        if not (on_joint and plain and fixed):
            return None
        if JOINT_KINDS[int(m.jnt_type[m.actuator_trnid[i, 0]])] not in ("hinge", "slide"):
            return None
        if m.actuator_biastype[i] == types.mjtBias.mjBIAS_NONE:
            return "torque"
        gain, (constant, position) = m.actuator_gainprm[i, 0], m.actuator_biasprm[i, :2]
        affine = m.actuator_biastype[i] == types.mjtBias.mjBIAS_AFFINE
        return "position" if affine and constant == 0 and position == -gain else None
