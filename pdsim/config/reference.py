"""Generated reference: JSON schemas and the table of every config key."""

import types
import typing
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from pdsim.config.experiment import ExperimentConfig, WorkflowConfig, schemas
from pdsim.runtime.files import write_text
from pdsim.config.runs import SETTINGS

_HEAD = """# The config

`config.yaml` says what the workflow runs and where results go; each file in `experiments/` is one
experiment. Both are checked before anything runs. The tables below and the files in `schema/` are
generated from `pdsim/config.py` by `pdsim schema`; an editor that understands JSON schema completes
and checks keys while you type.

To add an experiment, copy the nearest file in `experiments/`, change it, and run
`pdsim check config/experiments/<name>.yaml`.

"""


def _shown(annotation) -> str:
    if typing.get_origin(annotation) is typing.Literal:
        return " or ".join(f"`{value}`" for value in typing.get_args(annotation))
    if typing.get_origin(annotation) is typing.Annotated:
        return _shown(typing.get_args(annotation)[0])
    if annotation is Any:
        return "value"
    arguments = typing.get_args(annotation)
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return " or ".join(_shown(part) for part in arguments if part is not type(None))
    if typing.get_origin(annotation) is tuple:
        if Ellipsis in arguments:
            return f"list of {_shown(arguments[0])}"
        return "[" + ", ".join(_shown(part) for part in arguments) + "]"
    if typing.get_origin(annotation) is dict:
        return f"map of name to {_shown(arguments[1])}"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "section"
    return {str: "text", float: "number", int: "whole number", bool: "true or false"}.get(
        annotation, str(annotation)
    )


def _inner(annotation) -> tuple[type[BaseModel], str] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation, ""
    origin = typing.get_origin(annotation)
    for part in typing.get_args(annotation):
        found = _inner(part) if part is not Ellipsis else None
        if found:
            suffix = {tuple: "[]", dict: ".<name>"}.get(origin, "") if origin else ""
            return found[0], suffix + found[1]
    return None


def _rows(model: type[BaseModel], prefix: str) -> list[str]:
    rows = []
    for name, field in model.model_fields.items():
        if field.is_required():
            default = "required"
        elif (
            field.default is None
            or field.default is PydanticUndefined
            or isinstance(field.default, BaseModel)
            or field.default in ((), {})
        ):
            default = ""
        else:
            value = field.default
            default = f"`{list(value) if isinstance(value, tuple) else value}`"
        key, kind = f"`{prefix}{name}`", _shown(field.annotation)
        rows.append(f"| {key} | {kind} | {default} | {field.description or ''} |")
        inner = _inner(field.annotation)
        if inner:
            rows.extend(_rows(inner[0], f"{prefix}{name}{inner[1]}."))
    return rows


def config_readme() -> str:
    """Return config/README.md."""
    text = _HEAD
    for title, model in (
        ("`config.yaml`", WorkflowConfig),
        ("`experiments/*.yaml`", ExperimentConfig),
    ):
        text += f"## {title}\n\n| key | value | default | meaning |\n|---|---|---|---|\n"
        text += "\n".join(_rows(model, "")) + "\n\n"
    for method, settings in SETTINGS.items():
        text += f"## `runs[].settings` of `{method}`\n\n{settings.__doc__}\n\n"
        text += "| key | value | default | meaning |\n|---|---|---|---|\n"
        text += "\n".join(_rows(settings, "")) + "\n\n"
    return text.rstrip() + "\n"


def write_reference(folder: str | Path) -> None:
    """Write ``README.md`` and ``schema/*.json`` below a config folder."""
    write_text(Path(folder) / "README.md", config_readme())
    for name, text in schemas().items():
        write_text(Path(folder) / "schema" / name, text)
