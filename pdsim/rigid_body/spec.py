"""MuJoCo's description of a robot, opened from its file without what only shows something."""

import contextlib
import logging
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pdsim.rigid_body.model_files import model_files
from pdsim.runtime.errors import PdsimError

log = logging.getLogger(__name__)

# MuJoCo's words for text that its parser cannot read.
_DAMAGED = re.compile(r"XML parse error.*?Error=XML_(?:ERROR_)?(\w+).*?Line number=(\d+)", re.S)

# MuJoCo's number for inertias that are computed from geoms even where the file gives them.
_ALWAYS = 1


def open_spec(path: str | Path, *, shapes: bool = False) -> Any:
    """MuJoCo's ``MjSpec`` of a robot's file.

    Args:
        path: MJCF (.xml) or URDF (.urdf).
        shapes: whether to keep meshes and textures that give no body its inertia.

    Raises:
        PdsimError: the file is not there or MuJoCo cannot read it.
    """
    import mujoco

    path = Path(path)
    files = model_files(path)
    with reading(path):
        spec = mujoco.MjSpec.from_file(str(path))
        # A link that is fixed to its parent stays a body, so that its numbers have names.
        spec.compiler.fusestatic = False
        if not shapes:
            forget_meshes(spec)
        assets = [asset.file for asset in (*spec.meshes, *spec.hfields)]
    files.assets(assets)
    return spec


def forget_meshes(spec: Any) -> None:
    """Remove meshes, textures and what shows them, where a body has its own inertia."""
    paired = {name for pair in spec.pairs for name in (pair.geomname1, pair.geomname2)} - {""}
    computed = int(spec.compiler.inertiafromgeom) == _ALWAYS
    for body in spec.bodies:
        for geom in list(body.geoms):
            shown = geom.meshname or (geom.contype == 0 and geom.conaffinity == 0)
            if shown and geom.name not in paired and body.explicitinertial and not computed:
                spec.delete(geom)
    left = {geom.meshname for geom in spec.geoms if geom.meshname}
    for mesh in list(spec.meshes):
        if mesh.name not in left:
            spec.delete(mesh)
    for texture in list(spec.textures):
        spec.delete(texture)


@contextlib.contextmanager
def reading(path: str | Path) -> Iterator[None]:
    """Take what MuJoCo says of a file: errors as ours, warnings into the log and into no file.

    Raises:
        PdsimError: MuJoCo cannot read the file.
    """
    import mujoco

    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda text: log.warning("%s: %s", path, text))
    with warnings.catch_warnings(record=True, action="always") as said:
        try:
            yield
        except (ValueError, mujoco.FatalError) as error:
            raise PdsimError(f"{path}: MuJoCo cannot read this model: {_plain(error)}") from None
        finally:
            mujoco.set_mju_user_warning(before)
    for warning in said:
        log.warning("%s: %s", path, " ".join(str(warning.message).split()))


def _plain(error: Exception) -> str:
    """What MuJoCo says of a file that it cannot read, and what to do."""
    text = " ".join(str(error).split())
    damaged = _DAMAGED.search(str(error))
    if damaged:
        kind, line = damaged[1].replace("_", " ").lower(), damaged[2]
        text = f"its XML is damaged at or after line {line} ({kind})"
    text = text.replace("must be larger than mjMINVAL", "must be above 0")
    remedies = (remedy for word, remedy in _REMEDIES.items() if word in text)
    return "; ".join([text, *remedies])


# A word of MuJoCo's message → what to do.
_REMEDIES = {
    "decoder": "a robot's file ends in .urdf or, MJCF, in .xml; of a xacro file make one first: "
    "xacro robot.urdf.xacro > robot.urdf",
    "of moving bodies": "give each link that moves an <inertial> with its mass and inertia",
    "element depth": "it has more than 500 elements inside one another; join bodies",
    "XML is damaged": "mend that line, or write the file again with the tool that made it",
    "utf-8": "save the file as UTF-8",
    "bad format in attribute": "write a number there; of a xacro file make a URDF first: "
    "xacro robot.urdf.xacro > robot.urdf",
    "free joint can only": "a floating joint starts at the root: remove the link above it and the "
    "floating joint (the robot is then fixed to the world), or use MJCF with a <freejoint/>",
    "URDF body not found": "joints join links in a circle; each link but the root is the child of "
    "one joint",
    "positive eigenvalues": "give this link a mass and inertia that a body can have",
    "A + B >= C": "each principal inertia is at most the sum of the two others; mend this link's "
    "<inertia>",
}
