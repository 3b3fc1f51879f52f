"""Walking through the sections of a config model, for messages and for the reference."""

import types
import typing
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel


def sections(annotation: Any) -> Iterator[tuple[type[BaseModel], str]]:
    """Yield every section a key may hold, with how it is reached.

    Args:
        annotation: type of a field.

    Yields:
        The model, and "" for the section itself, "[]" for one of a list, ".<name>" for one of a
        map.
    """
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation, ""
        return
    origin = typing.get_origin(annotation)
    suffix = {tuple: "[]", list: "[]", dict: ".<name>"}.get(origin, "") if origin else ""
    for part in typing.get_args(annotation):
        for model, inner in sections(part):
            yield model, suffix + inner


def tag(model: type[BaseModel]) -> str | None:
    """The source a section is for, of those told apart by ``source``."""
    field = model.model_fields.get("source")
    values = typing.get_args(field.annotation) if field else ()
    return str(values[0]) if len(values) == 1 else None


def follow(model: type[BaseModel], location) -> tuple[list[str], list[type[BaseModel]]]:
    """Follow the location of a validation error.

    Returns:
        The key's parts as a user wrote them, and the sections that the last part is looked up in.
    """
    parts, models = [], [model]
    inside = models
    for part in location:
        # Where one is chosen already, a part of that name is a key.
        tagged = [m for m in models if tag(m) == part] if len(models) > 1 else []
        if tagged:
            models = tagged
            continue
        parts.append(str(part))
        inside = models
        fields = [m.model_fields[str(part)] for m in models if str(part) in m.model_fields]
        if fields:
            models = [m for field in fields for m, _ in sections(field.annotation)]
    return parts, inside


def shown(annotation: Any) -> str:
    """Say in words what a key holds."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Literal:
        return " or ".join(f"`{value}`" for value in arguments)
    if origin is typing.Annotated:
        return shown(arguments[0])
    if annotation is Any:
        return "value"
    if origin in (typing.Union, types.UnionType):
        kinds = dict.fromkeys(shown(part) for part in arguments if part is not type(None))
        return " or ".join(kinds)
    if origin is tuple:
        if Ellipsis in arguments:
            return f"list of {shown(arguments[0])}"
        return "[" + ", ".join(shown(part) for part in arguments) + "]"
    if origin is dict:
        return f"map of name to {shown(arguments[1])}"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "section"
    return {str: "text", float: "number", int: "whole number", bool: "true or false"}.get(
        annotation, str(annotation)
    )
