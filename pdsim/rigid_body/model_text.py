"""The text of a robot's file as a sequence of tags.

MuJoCo parses the file; this scan looks at the text first. It tells which other files MuJoCo will
open and how many bodies it will make, before MuJoCo opens or makes them. As MuJoCo's parser does,
it accepts text that strict XML forbids, such as two hyphens in a comment.
"""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import NamedTuple

from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import check_regular

WANTED = "a robot's file, MJCF (.xml) or URDF (.urdf)"
# Largest text that is read [bytes]: beyond any robot, and read within a second.
_LARGEST = 64 * 2**20
# What stands between the tags, and how it ends.
_SKIPPED = (("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>"), ("<!", ">"))
_MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
# Possessive, so that hostile text takes no longer than any other.
_TAG = re.compile(
    r"""<(?P<close>/?)(?P<name>[^\s<>/"'=]+)"""
    r"""(?P<rest>(?:[^"'<>]++|"[^"]*+"|'[^']*+')*+)>"""
)
_ATTRIBUTE = re.compile(r"""\s([^\s"'=/]++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)')""")


class Tag(NamedTuple):
    """A tag.

    Attributes:
        name: in lower case.
        begins, ends: whether it begins an element, and whether it ends one; ``<a/>`` does both.
    """

    name: str
    attributes: dict[str, str]
    begins: bool
    ends: bool


def read_model_text(path: str | Path) -> str:
    """Read a robot's file as text.

    Raises:
        PdsimError: the path names no regular file, or the file is too large or no text.
    """
    path = Path(path)
    check_regular(path, WANTED)
    try:
        size = path.stat().st_size
        if size > _LARGEST:
            raise PdsimError(
                f"{path}: has {size / 2**20:,.0f} MiB of text, and at most {_LARGEST // 2**20} MiB "
                "are read; move meshes that it holds into files of their own"
            )
        data = path.read_bytes()
    except OSError as error:
        raise PdsimError(f"{path}: cannot be read: {error.strerror}; name {WANTED}") from None
    mark = _MARKS.get(data[:2])
    if mark or b"\0" in data:
        what = f"{mark} text" if mark else "not text (it holds zero bytes)"
        raise PdsimError(
            f"{path}: MuJoCo cannot read this model: it is {what}; save it as XML in UTF-8"
        )
    return data.decode("utf-8", errors="replace")


def tags(text: str) -> Iterator[Tag]:
    """The tags of a text in their order, up to the first that is damaged: MuJoCo reports it."""
    at = text.find("<")
    while at >= 0:
        skipped = next((end for begin, end in _SKIPPED if text.startswith(begin, at)), None)
        if skipped is not None:
            end = text.find(skipped, at)
            if end < 0:
                return
            at = text.find("<", end)
            continue
        found = _TAG.match(text, at)
        if found is None:
            return
        closing, rest = bool(found["close"]), found["rest"]
        attributes = {m[1]: unescape(m[2] or m[3] or "") for m in _ATTRIBUTE.finditer(rest)}
        yield Tag(found["name"].lower(), attributes, not closing, closing or rest.endswith("/"))
        at = text.find("<", found.end())
