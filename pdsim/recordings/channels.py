"""Columns of a table to the channels and inputs of a system: sign, zero, unit, turns, reference.

A value is ``factor · sign · (column + offset)``: the offset is added to the column as it reads, in
its own unit, so that its zero becomes the system's; then the sign turns it round; then it is
converted.

Angles are unwrapped over the whole run, past rows without a measurement, so a column may jump at
±180°, or stay within 0 … 360.

A table may hold absolute angles where the system's are relative, or the reverse. With ``minus: q0``
what the table says of q0 is taken off: q1 = link_2 − link_1. With ``plus: q0`` the finished q0 is
added. For a chain each link then names the one before it, in both cases:

    table absolute, system relative        table relative, system absolute
    q0: {column: a}                        q0: {column: a}
    q1: {column: b, minus: q0}             q1: {column: b, plus: q0}        = b + a
    q2: {column: c, minus: q1}   = c − b   q2: {column: c, plus: q1}        = c + b + a
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from pdsim.recordings.plausible import check_motion, check_size, warn
from pdsim.runtime.errors import PdsimError
from pdsim.settings.messages import close_name
from pdsim.settings.section import Section
from pdsim.systems.system import POSITIONS, Quantity
from pdsim.units.conversion import agree, conversion, meanings, unit

log = logging.getLogger(__name__)

# No motion of a machine is beyond this in SI units, nor any force.
LARGEST = {"angle": 1e6, "position": 1e6, "velocity": 1e6}
LARGEST_INPUT = 1e12
# An angle of more turns is more likely in another unit [rad].
_MOST_TURNS = 200 * np.pi


def text_of_number(value):
    """YAML reads a name such as 0 as a number."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


ColumnName = Annotated[str, BeforeValidator(text_of_number), Field(min_length=1)]


class ColumnConfig(Section):
    """A column, and what its numbers mean."""

    column: ColumnName | None = Field(None, description="name in the table's first line")
    unit: str = Field(description="of the column: deg, rad/s, mm, rpm, N m …")
    sign: Literal[-1, 1] = Field(1, description="-1: the column grows in the other direction")
    offset: float = Field(
        0.0,
        description="added to the column, in its unit, before `sign`: -180 where 180 should be 0",
    )

    @model_validator(mode="after")
    def _check_unit(self):
        unit(self.unit)
        return self

    def convert(self, values: np.ndarray, wanted: str) -> np.ndarray:
        """Return a column in the unit of the system."""
        return conversion(self.unit, wanted) * (self.sign * (values + self.offset))


class ChannelConfig(ColumnConfig):
    """The column of one channel."""

    column: ColumnName = Field(description="name in the table's first line")
    missing: tuple[float, ...] | None = Field(
        None, description="numbers that mean: not observed; default: `recording.missing`"
    )
    angle: bool | None = Field(
        None, description="whether to unwrap it; default: if the system says that it is an angle"
    )
    minus: str | None = Field(
        None, description="a channel whose column is taken off: table absolute, system relative"
    )
    plus: str | None = Field(
        None, description="a channel that is added: table relative, system absolute"
    )

    @model_validator(mode="after")
    def _check_reference(self):
        if self.minus is not None and self.plus is not None:
            raise ValueError("has minus and plus; leave one of them out")
        return self


class InputConfig(ColumnConfig):
    """The column of one input, or the constant it is."""

    constant: float | None = Field(
        None, description="instead of `column`: the value of every frame, 0 for a passive joint"
    )

    @model_validator(mode="after")
    def _check_kind(self):
        if (self.column is None) == (self.constant is None):
            raise ValueError("needs either column or constant")
        return self


def check_names(
    key: str, configs: Mapping[str, ColumnConfig], quantities: Sequence[Quantity], system: str
) -> None:
    """Refuse channels or inputs the system has not, and units that cannot be converted.

    Args:
        key: "channels" or "inputs".
        system: its name.

    Raises:
        PdsimError: the key is named below ``recording``.
    """
    declared = {quantity.name: quantity for quantity in quantities}
    for name, config in configs.items():
        if name not in declared:
            hint = close_name(name, declared) if declared else "; it has none, leave this out"
            raise PdsimError(f"recording.{key}.{name}: {system} has no such {key[:-1]}{hint}")
        try:
            conversion(config.unit, declared[name].unit)
        except ValueError as error:
            raise PdsimError(f"recording.{key}.{name}.unit: {error}") from None


def check_references(channels: Mapping[str, ChannelConfig]) -> None:
    """Refuse ``minus`` and ``plus`` of channels that are not in the table, or in a circle.

    Raises:
        ValueError: says which.
    """
    for name, channel in channels.items():
        seen: list[str] = [name]
        other = channel.plus
        named = channel.minus or channel.plus
        if named is not None and named not in channels:
            raise ValueError(
                f"channels.{name}: {named!r} is not among the channels{close_name(named, channels)}"
            )
        if channel.minus == name:
            raise ValueError(f"channels.{name}: minus names the channel itself")
        while other is not None and other in channels:
            if other in seen:
                raise ValueError(f"channels: plus leads in a circle: {' + '.join([*seen, other])}")
            seen.append(other)
            other = channels[other].plus


def check_shared(
    clocks: Sequence[str], channels: Mapping[str, ChannelConfig], inputs: Mapping[str, InputConfig]
) -> None:
    """Refuse a column that would be two things at once.

    Two inputs may share one: motors that get the same command. Two channels may, where one is the
    other turned round or moved, as of two fingers of a gripper.

    Args:
        clocks: columns of time.

    Raises:
        ValueError: names both keys.
    """
    seen = dict.fromkeys(clocks, "time")
    for name, channel in channels.items():
        for other, twin in channels.items():
            if other == name:
                break
            if twin.column == channel.column and _holds_the_same(channel, twin):
                raise PdsimError(_shared(f"channels.{other}", f"channels.{name}", channel.column))
        if channel.column in seen:
            raise PdsimError(_shared(seen[channel.column], f"channels.{name}", channel.column))
    seen |= {channel.column: f"channels.{name}" for name, channel in channels.items()}
    for name, acting in inputs.items():
        if acting.column is not None and acting.column in seen:
            raise PdsimError(_shared(seen[acting.column], f"inputs.{name}", acting.column))


def _holds_the_same(one: ChannelConfig, other: ChannelConfig) -> bool:
    """Whether two channels of one column would have the same numbers, or it two units."""
    told = [(c.sign, c.offset, c.minus, c.plus) for c in (one, other)]
    return one.unit != other.unit or told[0] == told[1]


def _shared(one: str, other: str, column: str) -> str:
    return (
        f"recording.{one} and recording.{other} both take column {column!r}; name another column "
        "for one of them"
    )


def check_stated_units(
    configs: Mapping[str, tuple[str, str]], stated: Mapping[str, str], source: str
) -> None:
    """Refuse units that the file itself contradicts.

    Args:
        configs: key below ``recording`` → column and unit.
        stated: column → its unit as the file spells it.
        source: the file.

    Raises:
        PdsimError: names the key, and what the file says.
    """
    for key, (column, given) in configs.items():
        text = stated.get(column, "")
        if not agree(text, given):
            raise PdsimError(
                f"recording.{key}.unit: {given}, but {source} says that column {column!r} is in "
                f"{text!r} (its attribute units); write unit: {meanings(text)[0]}, or mend the file"
            )


def unwrapped(values: np.ndarray) -> np.ndarray:
    """Unwrap angles [rad] past what was not observed."""
    seen = np.isfinite(values)
    result = values.copy()
    result[seen] = np.unwrap(values[seen])
    return result


def channel_values(
    channels: Mapping[str, ChannelConfig],
    columns: Mapping[str, np.ndarray],
    quantities: Sequence[Quantity],
    missing: Sequence[float],
    source: str,
) -> np.ndarray:
    """Return all channels of a system, (row, channel), NaN where nothing was observed.

    Args:
        columns: of the table, by name.
        quantities: the system's channels.
        missing: numbers of the table that mean this.
        source: the file, for messages.

    Raises:
        PdsimError: a channel is empty or beyond every machine, or all positions are random.
    """
    declared = {quantity.name: quantity for quantity in quantities}
    own: dict[str, np.ndarray] = {}
    positions: list[tuple[str, np.ndarray, bool]] = []
    for name, channel in channels.items():
        quantity = declared[name]
        where = f"{source}: column {channel.column!r}, channel {name},"
        sentinels = missing if channel.missing is None else channel.missing
        raw = columns[channel.column]
        raw = np.where(np.isin(raw, sentinels), np.nan, raw)
        if not np.isfinite(raw).any():
            raise PdsimError(f"{where} has no number in any row; leave the channel out")
        values = channel.convert(raw, quantity.unit)
        check_size(values, where, quantity.unit, LARGEST.get(quantity.kind, LARGEST_INPUT))
        angle = quantity.kind == "angle" if channel.angle is None else channel.angle
        if quantity.kind in POSITIONS:
            positions.append((f"column {channel.column!r}", values, angle))
            turn = 2 * np.pi / conversion(channel.unit, "rad") if angle else np.inf
            remedy = "write missing: [{value}], or empty these cells"
            warn(raw, where.rstrip(","), remedy, turn)
            if angle and np.ptp(values[np.isfinite(values)]) > _MOST_TURNS:
                log.warning("%s spans more than 100 turns; is the unit right?", where)
        own[name] = unwrapped(values) if angle else values
    check_motion(positions, source, "name other columns under recording.channels")

    def finished(name: str) -> np.ndarray:
        channel = channels[name]
        if channel.minus is not None:
            return own[name] - own[channel.minus]
        return own[name] if channel.plus is None else own[name] + finished(channel.plus)

    rows = len(next(iter(own.values())))
    nothing = np.full(rows, np.nan)
    return np.stack([finished(q.name) if q.name in own else nothing for q in quantities], axis=1)


def input_values(
    inputs: Mapping[str, InputConfig],
    columns: Mapping[str, np.ndarray],
    quantities: Sequence[Quantity],
    rows: int,
    source: str,
) -> np.ndarray:
    """Return all inputs of a system, (row, input); each acts from its row to the next.

    Raises:
        PdsimError: a row is empty: what acts must be known.
    """
    values = np.zeros((rows, len(quantities)))
    for i, quantity in enumerate(quantities):
        config = inputs[quantity.name]
        if config.constant is not None:
            values[:, i] = config.convert(np.full(rows, config.constant), quantity.unit)
            continue
        raw = columns[config.column or ""]
        where = f"{source}: column {config.column!r}, input {quantity.name},"
        empty = np.flatnonzero(np.isnan(raw))
        if len(empty):
            raise PdsimError(
                f"{where} is empty in {len(empty):,} of {rows:,} rows "
                f"({100 * len(empty) / rows:.3g} %), first in row {empty[0] + 1}; what acts must "
                "be known: fill these cells with what acted, or leave these rows out of the file"
            )
        values[:, i] = config.convert(raw, quantity.unit)
        check_size(values[:, i], where, quantity.unit, LARGEST_INPUT)
    return values
