"""A bad input: the files, the command, and what its message must hold."""

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

# As a value: the key is taken away.
GONE = object()


class Edited(NamedTuple):
    """A shipped experiment with some values changed.

    Attributes:
        base: its name.
        changes: path of keys → value.
    """

    base: str
    changes: Mapping[tuple, Any] = {}

    def text(self, root: Path) -> str:
        values = yaml.safe_load((root / f"config/experiments/{self.base}.yaml").read_text())
        values = copy.deepcopy(values)
        for (*parents, last), value in self.changes.items():
            inner = values
            for key in parents:
                inner = inner[key]
            if value is GONE:
                del inner[last]
            else:
                inner[last] = value
        return yaml.safe_dump(values)


class Case(NamedTuple):
    """A bad input.

    Attributes:
        name: what is wrong.
        command: words of the command line, run in a folder of its own that has ``data`` and the
            session's good files in ``good``.
        words: that the message must hold.
        files: name → content.
    """

    name: str
    command: tuple[str, ...]
    words: tuple[str, ...]
    files: Mapping[str, str | bytes | Edited] = {}


def checked(name: str, base: str, key: tuple, value: Any, *words: str, beside=()) -> Case:
    """A shipped experiment that `pdsim check` must refuse after one change."""
    files: dict[str, Edited] = {"mine.yaml": Edited(base, {key: value})}
    files |= {f"{other}.yaml": Edited(other) for other in beside}
    return Case(f"{base}: {name}", ("check", "mine.yaml"), ("mine.yaml", *words), files)
