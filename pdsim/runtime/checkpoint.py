"""Checkpoints: the state of a run, tied to the problem it belongs to."""

import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import write_atomically


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

    def write(temporary: Path) -> None:
        with temporary.open("wb") as file:
            np.savez(file, allow_pickle=False, **content)

    write_atomically(path, write)


def load(path: str | Path, fingerprint: str, template: Any) -> Checkpoint:
    """Read a checkpoint of this problem; refuse one of another.

    Args:
        fingerprint: of the problem at hand.
        template: a state (or its shapes) of the estimator at hand.

    Raises:
        PdsimError: the file is another problem's, or cannot be read.
    """
    try:
        with Path(path).open("rb") as file, np.load(file) as stored:
            content = dict(stored)
        found = str(content["fingerprint"])
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise PdsimError(f"{path}: not a checkpoint ({error}); delete it and rerun") from error
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


def _named(prefix: str, content: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {
        name.removeprefix(prefix): values
        for name, values in content.items()
        if name.startswith(prefix)
    }
