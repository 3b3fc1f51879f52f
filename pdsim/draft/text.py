"""The draft as a YAML file in which every choice is followed by the number that it rests on."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from pdsim.settings.scalars import flow

_WIDTH = 118


def comment(text: str, indent: int = 0) -> str:
    """Lines of a comment."""
    prefix = " " * indent + "# "
    return textwrap.fill(text, _WIDTH, initial_indent=prefix, subsequent_indent=prefix)


def entries(values: Mapping[str, Any], reasons: Mapping[str, str], indent: int) -> str:
    """A line for each entry of a map, its reason behind it."""
    lines = []
    for name, value in values.items():
        line = f"{' ' * indent}{flow(name)}: {flow(value)}"
        lines.append(f"{line}  # {reasons[name]}" if name in reasons else line)
    return "\n".join(lines)


def items(values: Sequence[Any], indent: int) -> str:
    """A line for each member of a list."""
    return "\n".join(f"{' ' * indent}- {flow(value)}" for value in values)


def block(lines: Sequence[str]) -> str:
    """Join parts, those that are empty left out."""
    return "\n".join(line for line in lines if line)
