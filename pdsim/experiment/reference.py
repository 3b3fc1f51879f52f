"""Generated reference: JSON schemas and the table of every config key."""

import json
from pathlib import Path

from pydantic import BaseModel, TypeAdapter
from pydantic_core import PydanticUndefined

from pdsim import registry
from pdsim.control.config import ControlConfig
from pdsim.experiment.model import AnyExperiment, ExperimentConfig
from pdsim.experiment.workflow import WorkflowConfig
from pdsim.runtime.files import write_text
from pdsim.runtime.markdown import markdown
from pdsim.settings.walk import sections, shown, tag

_HEAD = """# The config

`config.yaml` says what the workflow runs and where results go; each file in `experiments/` is one
experiment. Both are checked before anything runs. The tables below and the files in `schema/` are
generated from the sections in `pdsim` by `pdsim schema`; an editor that
understands JSON schema completes and checks keys while you type.

To add an experiment, copy the nearest file in `experiments/`, change it, and run
`pdsim check config/experiments/<name>.yaml`.

"""

_COLUMNS = ["key", "value", "default", "meaning"]


def _default(field) -> str:
    if field.is_required():
        return "required"
    value = field.default
    if value is None or value is PydanticUndefined or isinstance(value, BaseModel):
        return ""
    if value in ((), {}, ""):
        return ""
    return f"`{list(value) if isinstance(value, tuple) else value}`"


def _rows(model: type[BaseModel], prefix: str = "") -> list[list[str]]:
    rows = []
    for name, field in model.model_fields.items():
        meaning = (field.description or "").replace("|", "or")
        rows.append([f"`{prefix}{name}`", shown(field.annotation), _default(field), meaning])
        for inner, suffix in sections(field.annotation):
            # Sections told apart by their source have tables of their own.
            if tag(inner) is None:
                rows.extend(_rows(inner, f"{prefix}{name}{suffix}."))
    return rows


def _table(title: str, model: type[BaseModel], text: str = "") -> str:
    rows = _rows(model)
    body = markdown(_COLUMNS, rows) if rows else "No keys.\n"
    return f"## {title}\n\n" + (f"{text}\n\n" if text else "") + body + "\n"


def config_readme() -> str:
    """Return config/README.md."""
    text = _HEAD
    text += _table("`config.yaml`", WorkflowConfig)
    text += _table("`experiments/*.yaml`", ExperimentConfig)
    text += _table("`experiments/*.yaml` of `kind: control`", ControlConfig)
    for room, key, attribute in (
        ("recordings", "`recording` of source", "Config"),
        ("systems", "`simulator.options` of", "Options"),
        ("inference", "`runs[].settings` of", "Settings"),
        ("control.tasks", "`task.options` of", "Options"),
    ):
        for name in registry.NAMES[room]:
            model = getattr(registry.load(room, name), attribute)
            text += _table(f"{key} `{name}`", model, (model.__doc__ or "").split("\n\n")[0])
    return text.rstrip() + "\n"


def schemas() -> dict[str, str]:
    """Return the JSON schema of each kind of config file, by file name."""
    found = {
        "experiment": TypeAdapter(AnyExperiment).json_schema(),
        "config": WorkflowConfig.model_json_schema(),
    }
    return {
        f"{name}.schema.json": json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        for name, schema in found.items()
    }


def write_reference(folder: str | Path) -> None:
    """Write ``README.md`` and ``schema/*.json`` below a config folder."""
    write_text(Path(folder) / "README.md", config_readme())
    for name, text in schemas().items():
        write_text(Path(folder) / "schema" / name, text)
