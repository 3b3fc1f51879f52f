"""Which files a robot's model is made of, and how many bodies they make.

An MJCF file can read others: ``<include>``, ``<model>``, meshes and height fields. MuJoCo follows
them without a bound, into files that read themselves and over counts of millions.
"""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pdsim.rigid_body.model_text import Tag, read_model_text, tags
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import check_regular

# Most bodies and most elements of any kind: beyond any robot, and scanned within a second or two.
_MOST = (1_000, 200_000)
# Files that read one another, and readings of all files.
_DEEPEST, _MOST_READS = 50, 1_000
# Largest mesh or height field [MiB].
_LARGEST_ASSET = 256
# Elements that MuJoCo makes a grid of bodies of.
_GRIDS = ("composite", "flexcomp")


class ModelFiles(NamedTuple):
    """What the text of a model says.

    Attributes:
        texts: the file itself, and every file that it includes or attaches.
        folders: in which its meshes may be, as the files name them.
        has_meshes: whether any file names a mesh.
    """

    texts: tuple[Path, ...]
    folders: tuple[str, ...]
    has_meshes: bool

    def assets(self, names: Iterable[str]) -> list[Path]:
        """The files of meshes or height fields, by the names that MuJoCo's description has.

        Raises:
            PdsimError: one is no regular file, or too large to compute its volume.
        """
        places = [text.parent / folder for text in self.texts for folder in self.folders]
        candidates = dict.fromkeys(place / name for name in names if name for place in places)
        for path in candidates:
            check_regular(path, "the file of a mesh or of a height field")
        found = [path for path in candidates if path.is_file()]
        for path in found:
            size = path.stat().st_size / 2**20
            if size > _LARGEST_ASSET:
                raise PdsimError(
                    f"{path}: has {size:,.0f} MiB, and at most {_LARGEST_ASSET} MiB are read; give "
                    "the body that it shows an <inertial>, or take a coarser mesh"
                )
        return found


def model_files(path: str | Path) -> ModelFiles:
    """Follow a model's text through all files that it reads, before MuJoCo opens any of them.

    Raises:
        PdsimError: a file is no text, reads itself, or makes more bodies than can be simulated.
    """
    walk = _Walk(Path(path))
    walk.follow(Path(path), (), 1.0)
    folders = tuple(sorted({"", *walk.folders}))
    return ModelFiles(tuple(walk.texts.values()), folders, walk.has_meshes)


class _Walk:
    """A walk through the text of a model, in the order in which MuJoCo reads it."""

    def __init__(self, path: Path):
        self.path, self.root = path, path.parent
        self.texts: dict[Path, Path] = {}
        self.folders: set[str] = set()
        self.has_meshes = False
        self.reads = 0
        # Bodies and elements so far, and those of each named body, frame and attached model.
        self.made = np.zeros(2)
        self.sizes: dict[tuple[str, str], np.ndarray] = {}
        self.multiplied = ""

    def follow(self, path: Path, chain: tuple[Path, ...], copies: float) -> None:
        """Read a file, each element of which is there so often.

        Args:
            chain: the files that are being read, each by the one before.
        """
        if path.resolve() in chain or len(chain) > _DEEPEST:
            raise PdsimError(
                f"{self.path}: {chain[-1].name} reads {path.name}, which reads {chain[-1].name} "
                "again; remove one of the two"
            )
        self.reads += 1
        if self.reads > _MOST_READS:
            raise PdsimError(
                f"{self.path}: reads files more than {_MOST_READS:,} times; attach or include fewer"
            )
        self.texts[path.resolve()] = path
        chain = (*chain, path.resolve())
        # Open elements: name, what was made before, and copies outside.
        opened: list[tuple[str, np.ndarray, float]] = []
        for tag in tags(read_model_text(path)):
            if tag.begins:
                opened.append((tag.attributes.get("name", ""), self.made, copies))
                copies = self._begin(tag, chain, copies)
            if tag.ends and opened:
                name, before, copies = opened.pop()
                if copies:
                    self.sizes[tag.name, name] = (self.made - before) / copies

    def _begin(self, tag: Tag, chain: tuple[Path, ...], copies: float) -> float:
        """Take an element in, and return how often the elements inside it are there."""
        values, bodies = tag.attributes, 0.0
        if tag.name == "replicate":
            copies *= self._count(tag)
        elif tag.name in _GRIDS:
            bodies = copies * self._count(tag)
        elif tag.name in ("body", "link"):
            bodies = copies
        self._add(np.array([bodies, max(bodies, copies, 1.0)]))
        if tag.name == "attach":
            kind = next((kind for kind in ("model", "body", "frame") if kind in values), "")
            self._add(copies * self.sizes.get((kind, values.get(kind, "")), np.zeros(2)))
        elif tag.name == "compiler":
            self.folders |= {values[key] for key in ("meshdir", "assetdir") if key in values}
        elif tag.name == "mesh":
            self.has_meshes = True
        elif tag.name in ("include", "model") and "file" in values:
            self._read(tag, chain, copies)
        return copies

    def _read(self, tag: Tag, chain: tuple[Path, ...], copies: float) -> None:
        """Follow an element to its file; MuJoCo reports a file that is missing."""
        file = tag.attributes["file"]
        places = [self.root / file, chain[-1].parent / file]
        path = next((place for place in places if place.exists()), None)
        if path is None:
            return
        if tag.name == "include":
            self.follow(path, chain, copies)
            return
        before, root = self.made, self.root
        self.root = path.parent
        self.follow(path, chain, 1.0)
        # What an attached model has is there only once <attach> copies it.
        self.sizes["model", tag.attributes.get("name", "")] = self.made - before
        self.made, self.root = before, root

    def _count(self, tag: Tag) -> float:
        """How often MuJoCo makes an element; of a count that is no number it complains."""
        text = tag.attributes.get("count", "")
        try:
            found = math.prod(max(float(word), 0.0) for word in text.split())
        except ValueError:
            return 1.0
        if found > 1:
            self.multiplied = f'<{tag.name} count="{text[:40]}">'
        return found

    def _add(self, more: np.ndarray) -> None:
        """Count bodies and elements."""
        self.made = self.made + more
        for count, most, what in zip(self.made, _MOST, ("bodies", "elements"), strict=True):
            if count > most:
                remedy = "leave out what does not move"
                if self.multiplied:
                    remedy = f"lower the count of {self.multiplied}"
                raise PdsimError(
                    f"{self.path}: makes more than {most:,} {what}, and at most {most:,} are "
                    f"simulated; {remedy}"
                )
