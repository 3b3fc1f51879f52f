"""Checkpoints: the state of a run, tied to the problem it belongs to."""

import json
import logging
import zipfile
from pathlib import Path
from typing import IO, Any, NamedTuple

import jax
import numpy as np

from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import write_atomically

log = logging.getLogger(__name__)


class Checkpoint(NamedTuple):
    """A run after some iterations.

    Attributes:
        state: the estimator's state.
        history: name → one value per iteration done.
        course: name → one value per snapshot taken.
        seconds: time spent so far.
    """

    state: Any
    history: dict[str, np.ndarray]
    course: dict[str, np.ndarray]
    seconds: float


def save(path: str | Path, fingerprint: str, checkpoint: Checkpoint) -> None:
    """Write a checkpoint atomically."""
    content = {f"leaf{i}": np.asarray(x) for i, x in enumerate(jax.tree.leaves(checkpoint.state))}
    content |= {f"history_{name}": values for name, values in checkpoint.history.items()}
    content |= {f"course_{name}": values for name, values in checkpoint.course.items()}
    content |= {"fingerprint": np.array(fingerprint), "seconds": np.array(checkpoint.seconds)}
    content["layout"] = np.array(_layout(content))

    def write(temporary: Path) -> None:
        with temporary.open("wb") as file:
            np.savez(file, allow_pickle=False, **content)

    write_atomically(path, write)


def restored(
    path: str | Path, fingerprint: str, template: Any, *, required: bool = False
) -> Checkpoint | None:
    """Read the checkpoint that an earlier job left, or None, with a warning if it is unusable.

    Args:
        template: a state (or its shapes) of the estimator at hand.
        required: whether an unusable checkpoint is an error.
    """
    if not Path(path).exists():
        if required:
            raise PdsimError(f"{path}: no checkpoint to resume from; use --resume auto")
        return None
    try:
        return load(path, fingerprint, template)
    except PdsimError as error:
        if required:
            raise
        log.warning("not resuming, starting afresh: %s", error)
        return None


def load(path: str | Path, fingerprint: str, template: Any) -> Checkpoint:
    """Read a checkpoint of this problem; refuse one of another.

    Args:
        fingerprint: of the problem at hand.
        template: a state (or its shapes) of the estimator at hand.

    Raises:
        PdsimError: the file is another problem's, or cannot be read.
    """
    try:
        with Path(path).open("rb") as file:
            _check_archive(file)
            with np.load(file) as stored:
                content = dict(stored)
        found = str(content["fingerprint"])
        complete = str(content.pop("layout")) == _layout(content)
    except (
        OSError, ValueError, KeyError, EOFError, MemoryError, RuntimeError, zipfile.BadZipFile
    ) as error:  # fmt: skip
        raise PdsimError(f"{path}: not a checkpoint that pdsim wrote ({error})") from error
    if not complete:
        raise PdsimError(f"{path}: not a checkpoint that pdsim wrote: arrays lack or were changed")
    if found != fingerprint:
        raise PdsimError(
            f"{path}: this checkpoint belongs to another problem (fingerprint {found[:12]}, here "
            f"{fingerprint[:12]}): its config, data or code differ; delete it to start afresh"
        )
    shapes, structure = jax.tree.flatten(template)
    leaves = [content[f"leaf{i}"] for i in range(len(shapes))]
    return Checkpoint(
        state=jax.tree.unflatten(structure, [jax.numpy.asarray(leaf) for leaf in leaves]),
        history=_named("history_", content),
        course=_named("course_", content),
        seconds=float(content["seconds"]),
    )


def _layout(content: dict[str, np.ndarray]) -> str:
    """Name, type and shape of every array, to see that none was taken away or exchanged."""
    arrays = {name: np.asarray(values) for name, values in content.items()}
    return json.dumps(sorted((name, x.dtype.str, x.shape) for name, x in arrays.items()))


def _check_archive(file: IO[bytes]) -> None:
    """Refuse an archive that grows when it is unpacked: ``save`` compresses nothing.

    Raises:
        ValueError: what is wrong.
    """
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
    if any(member.compress_type != zipfile.ZIP_STORED for member in members):
        raise ValueError("it is compressed")
    unpacked = sum(member.file_size for member in members)
    if unpacked > file.seek(0, 2):
        raise ValueError(f"unpacked, it has {unpacked:,} bytes, more than the file")
    file.seek(0)


def _named(prefix: str, content: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {
        name.removeprefix(prefix): values
        for name, values in content.items()
        if name.startswith(prefix)
    }
