"""What the sections of all config files have in common."""

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

# Names become folders, columns and arguments of commands.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


def _checked_name(value: str) -> str:
    if not _NAME.fullmatch(value):
        raise ValueError(
            "a name holds letters, digits and _ . - only, and does not start with . or -"
        )
    return value


Name = Annotated[str, AfterValidator(_checked_name)]
Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]


class Section(BaseModel):
    """A part of a config file: immutable, and closed to misspelt keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def with_defaults(values: Any, key: str, choice: str, defaults: Mapping[str, Any]) -> Any:
    """Fill in what a section takes where ``key`` is ``choice``; for checks before the fields."""
    if not isinstance(values, dict) or values.get(key) != choice:
        return values
    missing = (name for name in defaults if values.get(name) is None)
    return values | {name: defaults[name] for name in missing}
