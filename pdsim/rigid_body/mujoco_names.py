"""Names of what MuJoCo has read: a name for everything, and none twice.

A slash separates the parts of a number's name, ``*`` stands for any name in an experiment, ``=``
separates a channel from its column on the command line, and a line break or another character that
cannot be printed damages lists and files. Each becomes ``_``. What has no name in the file is
called by its kind and number, as ``body2``.
"""

from collections import Counter
from typing import Any

from pdsim.runtime.errors import PdsimError

# Kind → number of them in MuJoCo's model, and the word for one.
_KINDS = {
    "BODY": ("nbody", "body"),
    "JOINT": ("njnt", "joint"),
    "GEOM": ("ngeom", "geom"),
    "SITE": ("nsite", "site"),
    "ACTUATOR": ("nu", "actuator"),
    "EQUALITY": ("neq", "equality"),
    "TENDON": ("ntendon", "tendon"),
    "FLEX": ("nflex", "flex"),
}
_RESERVED = "/*="
# Names become columns and variables of files, whose formats allow 255 characters.
_LONGEST = 128


def names_of(compiled: Any, kind: str) -> tuple[str, ...]:
    """The names of all things of a kind, in the order of their numbers in MuJoCo.

    Args:
        compiled: MuJoCo's model.
        kind: of ``_KINDS``.

    Raises:
        PdsimError: a name is too long or no text, or two would be alike.
    """
    import mujoco

    attribute, word = _KINDS[kind]
    object_type = getattr(mujoco.mjtObj, f"mjOBJ_{kind}")
    try:
        given = [
            mujoco.mj_id2name(compiled, object_type, i) or ""
            for i in range(getattr(compiled, attribute))
        ]
    except UnicodeDecodeError:
        raise PdsimError(f"the name of a {word} is not UTF-8; save the file as UTF-8") from None
    shown = [_shown(name) for name in given]
    for name in given:
        if len(name) > _LONGEST:
            raise PdsimError(
                f"the name of {word} {_shown(name[:40])}… has {len(name):,} characters; shorten "
                f"it to {_LONGEST}"
            )
    taken = Counter(name for name in shown if name)
    for name, count in taken.items():
        if count > 1:
            alike = " and ".join(repr(g) for g, s in zip(given, shown, strict=True) if s == name)
            raise PdsimError(
                f"{word} names {alike} would both become {name} (/ * = and what cannot be printed "
                "become _); rename one of them"
            )
    return tuple(name or _free(f"{word}{i}", taken) for i, name in enumerate(shown))


def _shown(name: str) -> str:
    return "".join(c if c.isprintable() and c not in _RESERVED else "_" for c in name)


def _free(name: str, taken: Counter[str]) -> str:
    """The name of something unnamed: other than all that the file gives."""
    while name in taken:
        name += "_"
    return name
