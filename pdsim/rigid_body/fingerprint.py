"""The fingerprint of a robot's model: of its file, and of all that MuJoCo reads with it."""

import hashlib
from pathlib import Path

from pdsim.rigid_body.model_files import model_files
from pdsim.rigid_body.spec import open_spec
from pdsim.runtime.files import sha256


def fingerprint(path: str | Path, *, shapes: bool = False) -> str:
    """Return the SHA-256 of a model's files as 64 hexadecimal digits.

    The files are the model's own, those that it includes or attaches, and the meshes whose volume
    gives a body its inertia. A model of one file has the SHA-256 of that file.

    Args:
        shapes: whether every mesh and height field counts, because bodies touch.

    Raises:
        PdsimError: a file cannot be read.
    """
    files = model_files(path)
    paths = list(files.texts)
    if files.has_meshes or shapes:
        spec = open_spec(path, shapes=shapes)
        assets = (*spec.meshes, *spec.hfields) if shapes else spec.meshes
        paths += files.assets(asset.file for asset in assets)
    if len(paths) == 1:
        return sha256(path)
    return hashlib.sha256("\n".join(map(sha256, paths)).encode()).hexdigest()
