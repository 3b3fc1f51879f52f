"""The fingerprint of a robot's model: of its file, and of all that MuJoCo reads with it."""

import hashlib
from pathlib import Path

from pdsim.rigid_body.model_files import model_files
from pdsim.rigid_body.model_text import WANTED
from pdsim.rigid_body.spec import open_spec
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import check_regular, find_file, sha256


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


def locate_model(name: str, folder: Path, key: str, *, shapes: bool = False) -> dict[str, str]:
    """Path and fingerprint of the model that an experiment names, as options of that name.

    Args:
        name: the path as the experiment has it.
        folder: of the experiment's file.
        key: where the experiment names it, for messages.
        shapes: as of ``fingerprint``.

    Raises:
        PdsimError: the file is not there or cannot be read.
    """
    path = find_file(name, folder)
    try:
        check_regular(path, WANTED)
        if not path.is_file():
            raise PdsimError(
                f"{name}: no such file beside the experiment's, below PDSIM_DATA_DIR or below data/"
            )
        return {"model": str(path), "sha256": fingerprint(path, shapes=shapes)}
    except PdsimError as error:
        raise PdsimError(f"{key}: {error}") from None
