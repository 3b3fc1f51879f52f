"""One GPU for each process, and no more of its memory than is used."""

import fcntl
from collections.abc import MutableMapping
from pathlib import Path
from typing import IO

# The locks of this process; they go with it.
_held: list[IO[bytes]] = []


def claim(environment: MutableMapping[str, str], devices: str | Path = "/dev") -> str | None:
    """Choose a GPU that no other process of pdsim has, and hide the others from this one.

    A batch system that allots GPUs, or a person, has set ``CUDA_VISIBLE_DEVICES``: then one of
    those is taken. A GPU is held by a lock on its device file, which ends with the process. Where
    all are taken the first is shared. Memory is taken as it is needed, unless
    ``XLA_PYTHON_CLIENT_PREALLOCATE`` says otherwise, since JAX would take three quarters at once.

    Call before JAX starts its backends. Does nothing if ``JAX_PLATFORMS`` does not ask for CUDA.

    Args:
        environment: of the process, which is changed.
        devices: folder of the device files.

    Returns:
        The number (or name) of the GPU, or None.
    """
    if "cuda" not in environment.get("JAX_PLATFORMS", ""):
        return None
    environment.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    files = {path.name.removeprefix("nvidia"): path for path in Path(devices).glob("nvidia[0-9]*")}
    allotted = environment.get("CUDA_VISIBLE_DEVICES")
    candidates = sorted(files, key=int) if allotted is None else allotted.split(",")
    if not any(candidates):
        return None
    chosen = next((name for name in candidates if _lock(files.get(name))), candidates[0])
    # Numbers are those of the device files only in this order.
    environment.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")
    environment["CUDA_VISIBLE_DEVICES"] = chosen
    return chosen


def _lock(path: Path | None) -> bool:
    """Lock a device file; one that cannot be opened counts as free, since nobody can lock it."""
    if path is None:
        return True
    try:
        file = path.open("rb")
    except OSError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return False
    _held.append(file)
    return True
