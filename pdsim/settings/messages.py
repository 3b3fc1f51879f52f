"""What a user reads when a config file is wrong: file, key, value and remedy."""

import difflib
import re
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from pydantic import BaseModel, ValidationError

from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import check_regular
from pdsim.settings.scalars import RESOLVERS, disputed
from pdsim.settings.walk import follow

# Names that a message lists, at most.
_LISTED = 100


def close_name(name: str, known) -> str:
    """Return the hint for a name that does not exist: the nearest one, or all there are."""
    match = difflib.get_close_matches(name, known, n=1)
    listed = ", ".join(sorted(known)[:_LISTED]) + (", …" if len(known) > _LISTED else "")
    return f"; did you mean {match[0]!r}?" if match else f"; known: {listed}"


def _telling(error: ValidationError):
    """The errors without those that only follow from others: a list is short of what was wrong."""
    problems = error.errors()
    for problem in problems:
        size = len(problem["loc"])
        inner = [p for p in problems if len(p["loc"]) > size and p["loc"][:size] == problem["loc"]]
        if not (problem["type"] == "too_short" and inner):
            yield problem


# Where pydantic speaks of Python, what a user of YAML writes.
_WANTED = {
    "tuple_type": "a list is needed, in brackets or a line each",
    "dict_type": "a section is needed, a key and its value in each line",
    "model_type": "a section is needed, a key and its value in each line",
}
# Letters of what was given, at most.
_SHOWN = 120
_KEY = re.compile(r"([a-z_]\w*(?:\.\w+)*): ")


def _shown(value: Any) -> str:
    """What was given instead, unless it is a whole section."""
    try:
        text = repr(value)
        text = f"{text[:_SHOWN]} …" if len(text) > _SHOWN else text
        return "" if isinstance(value, dict) else f" (got {text})"
    except ValueError:  # a whole number of thousands of digits
        return ""


def explain(error: ValidationError, source: str | Path, model: type[BaseModel]) -> PdsimError:
    """Turn a validation error into lines of file, key, value and remedy."""
    lines = []
    for problem in _telling(error):
        parts, inside = follow(model, problem["loc"])
        shown = _shown(problem["input"])
        if problem["type"] == "extra_forbidden":
            known = [name for section in inside for name in section.model_fields]
            text = f"no such key{close_name(str(problem['loc'][-1]), known)}"
        elif problem["type"] == "missing":
            text, shown = "this key is missing; add it", ""
        else:
            text = _WANTED.get(problem["type"], problem["msg"].removeprefix("Value error, "))
            # A section's own check names the key below it.
            if below := _KEY.match(text) if problem["type"] == "value_error" else None:
                parts, text = [*parts, below[1]], text[below.end() :]
        key = ".".join(parts) or "(the whole file)"
        lines.append(f"{source}: {key}: {text}{shown}")
    return PdsimError("\n".join(lines))


# More nodes than this, aliases counted each time they are used, are no config.
_MOST_NODES = 100_000


# Size of a file above which it is no config [bytes].
_LARGEST = 16 * 2**20


# Brackets within brackets; no config has more than a few.
_DEEPEST = 100


class _Loader(yaml.SafeLoader):
    """YAML with the types of ``pdsim.settings.scalars``, which ends early on deep nesting."""

    def fetch_flow_collection_start(self, token):
        # The scanner takes a time that grows with the square of the depth.
        if self.flow_level >= _DEEPEST:
            raise RecursionError
        super().fetch_flow_collection_start(token)


_Loader.yaml_implicit_resolvers = RESOLVERS


class _Place(NamedTuple):
    """Where a node is: a link of a chain, since in an alias of itself there are 100,000 of them."""

    name: str = ""
    above: "_Place | None" = None

    def __str__(self) -> str:
        names, place = [], self
        while place.above is not None:
            names.append(place.name)
            place = place.above
        return ".".join(reversed(names)) or "(the whole file)"


def _check_nodes(root: yaml.Node, path: str | Path) -> None:
    """Walk a document: refuse keys given twice, disputed numbers, and growth without end."""
    count, pending = 0, [(root, _Place())]
    while pending:
        node, place = pending.pop()
        count += 1
        if count > _MOST_NODES:
            raise PdsimError(f"{path}: more than {_MOST_NODES} values, aliases counted each time")
        if isinstance(node, yaml.ScalarNode):
            _check_scalar(node, place, path)
        elif isinstance(node, yaml.SequenceNode):
            pending.extend((one, _Place(str(i), place)) for i, one in enumerate(node.value))
        elif isinstance(node, yaml.MappingNode):
            first: dict[str, int] = {}
            for key, value in node.value:
                line = key.start_mark.line + 1
                inner = _Place(key.value if isinstance(key, yaml.ScalarNode) else "?", place)
                if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                    _check_scalar(key, inner, path)
                    if key.value in first:
                        raise PdsimError(
                            f"{path}: {key.value}: this key is given twice, in lines "
                            f"{first[key.value]} and {line}; remove one"
                        )
                    first[key.value] = line
                pending.append((value, inner))


def _check_scalar(node: yaml.ScalarNode, place: _Place, path: str | Path) -> None:
    """Refuse a plain word that only some readers take for a number."""
    why = disputed(node.value) if node.style is None else ""
    if why:
        word = node.value[:_SHOWN]
        raise PdsimError(
            f"{path}: {place}: line {node.start_mark.line + 1}: {word} is not clear: {why}; write "
            f"a number in decimal digits, several as a list, and text in quotes: '{word}'"
        )


def read_yaml(path: str | Path) -> Any:
    """Read a YAML file, or say where it is broken."""
    check_regular(path, "a YAML file")
    try:
        if Path(path).stat().st_size > _LARGEST:
            raise PdsimError(
                f"{path}: has {Path(path).stat().st_size / 2**20:,.0f} MB, and no config has more "
                f"than {_LARGEST // 2**20}; name the YAML file"
            )
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise PdsimError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise PdsimError(f"{path}: not a text file in UTF-8: {error}") from error
    try:
        root = yaml.compose(text, Loader=_Loader)
        if root is None:
            return None
        _check_nodes(root, path)
        return yaml.load(text, Loader=_Loader)
    except (yaml.YAMLError, ValueError) as error:
        raise PdsimError(f"{path}: not valid YAML: {error}") from error
    except (KeyError, AttributeError, TypeError) as error:
        raise PdsimError(
            f"{path}: not valid YAML: a tag such as !!bool or !!timestamp does not go with its "
            f"value ({error}); write values without tags"
        ) from error
    except RecursionError as error:
        raise PdsimError(f"{path}: nested too deeply to be a config") from error
