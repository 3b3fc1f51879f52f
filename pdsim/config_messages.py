"""What a user reads when a config file is wrong: file, key, value and remedy."""

import difflib
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from pdsim.errors import PdsimError


def close_name(name: str, known) -> str:
    """Return the hint for a name that does not exist: the nearest one, or all there are."""
    match = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {match[0]!r}?" if match else f"; known: {', '.join(sorted(known))}"


def _keys_at(model: type[BaseModel], location) -> list[str]:
    """Names allowed beside an unknown key."""
    known: Any = model
    for part in location:
        if isinstance(known, type) and issubclass(known, BaseModel):
            field = known.model_fields.get(str(part))
            known = field.annotation if field else None
        for inner in getattr(known, "__args__", ()):
            if isinstance(inner, type) and issubclass(inner, BaseModel):
                known = inner
    return list(known.model_fields) if hasattr(known, "model_fields") else []


def explain(error: ValidationError, source: str | Path, model: type[BaseModel]) -> PdsimError:
    """Turn a validation error into lines of file, key, value and remedy."""
    lines = []
    for problem in error.errors():
        key = ".".join(str(part) for part in problem["loc"]) or "(the whole file)"
        value = problem["input"]
        shown = "" if isinstance(value, dict) else f" (got {value!r})"
        if problem["type"] == "extra_forbidden":
            known = _keys_at(model, problem["loc"][:-1])
            text = f"no such key{close_name(str(problem['loc'][-1]), known)}"
        elif problem["type"] == "missing":
            text, shown = "this key is missing; add it", ""
        else:
            text = problem["msg"].removeprefix("Value error, ")
        lines.append(f"{source}: {key}: {text}{shown}")
    return PdsimError("\n".join(lines))


def read_yaml(path: str | Path) -> Any:
    """Read a YAML file, or say where it is broken."""
    try:
        return yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise PdsimError(f"{path}: cannot be read: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise PdsimError(f"{path}: not valid YAML: {error}") from error
