"""What the sections of all config files have in common."""

import math
import re
import typing
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

# Names become folders, columns and arguments of commands.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
# Names become folders and variables of files, whose names end at 255 bytes.
_LONGEST = 100


def _checked_name(value: str) -> str:
    if not _NAME.fullmatch(value):
        raise ValueError(
            "a name holds letters, digits and _ . - only, and does not start with . or -"
        )
    if len(value) > _LONGEST:
        raise ValueError(f"a name has at most {_LONGEST} characters; shorten it")
    return value


Name = Annotated[str, AfterValidator(_checked_name)]
Positive = Annotated[float, Field(gt=0)]
# Beyond a thousand million nothing is counted that ends in a lifetime; where less is the most that
# a machine holds or finishes, the field says so.
Count = Annotated[int, Field(ge=1, le=1_000_000_000)]
# No machine is recorded faster than a million frames a second.
Rate = Annotated[float, Field(gt=0, le=1e6)]


# Numbers of more than this, in any unit, are no measure of a machine: their squares leave double
# precision behind, and what is computed from them is not finite.
_LARGEST = 1e30


class Section(BaseModel):
    """A part of a config file: immutable, and closed to misspelt keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
    # Below it, and not 0, a number is no measure of a machine either.
    smallest: ClassVar[float] = 1e-30

    @model_validator(mode="before")
    @classmethod
    def _check_truth_values(cls, values: Any) -> Any:
        """Refuse true and false where a number is meant, which pydantic takes for 1 and 0."""
        for name, field in cls.model_fields.items() if isinstance(values, dict) else ():
            kinds = set(_kinds(field.annotation))
            numbers = kinds & {int, float} and not kinds & {bool, Any}
            if numbers and _holds_truth_value(values.get(name)):
                raise ValueError(f"{name}: a number is needed, not true or false")
        return values

    @model_validator(mode="before")
    @classmethod
    def _check_sizes(cls, values: Any) -> Any:
        """Refuse numbers with which nothing can be computed."""
        for name, field in cls.model_fields.items() if isinstance(values, dict) else ():
            kinds = (kind for kind in _kinds(field.annotation) if isinstance(kind, type))
            if any(issubclass(kind, BaseModel) for kind in kinds):
                continue  # A section looks at its own numbers.
            for key, number in _numbers(name, values.get(name)):
                size = abs(number)
                if size > _LARGEST or 0 < size < cls.smallest:
                    limit = f"above {_LARGEST:g}" if size > 1 else f"below {cls.smallest:g}"
                    raise ValueError(
                        f"{key}: a number {limit} is no measure of a machine; correct it, or its "
                        "unit"
                    )
        return values


def _kinds(annotation: Any) -> typing.Iterator[Any]:
    """The plain types that a field may hold, its own and those within lists and maps."""
    parts = typing.get_args(annotation)
    if not parts:
        yield annotation
    for part in parts:
        yield from _kinds(part)


def _holds_truth_value(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_truth_value, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_holds_truth_value, value))
    return isinstance(value, bool)


def _numbers(key: str, value: Any) -> typing.Iterator[tuple[str, int | float]]:
    """Finite numbers in a value, its lists and its maps, with their keys."""
    if isinstance(value, dict | list | tuple):
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        for name, part in parts:
            yield from _numbers(f"{key}.{name}", part)
    elif isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        yield key, value


def with_defaults(values: Any, key: str, choice: str, defaults: Mapping[str, Any]) -> Any:
    """Fill in what a section takes where ``key`` is ``choice``; for checks before the fields."""
    if not isinstance(values, dict) or values.get(key) != choice:
        return values
    missing = (name for name in defaults if values.get(name) is None)
    return values | {name: defaults[name] for name in missing}
