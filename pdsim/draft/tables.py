"""From tables to a section `recording`: how they are written, time, channels and inputs.

What a name or a range tells is taken, and told with the reason; what neither tells is an error that
says which flag to give.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pdsim.draft.columns import EFFORT, PLACE, convertible, kind, ordered, unit_in_name
from pdsim.draft.units import Unit, angle_unit, length_unit
from pdsim.recordings.columns import numeric_columns, other_columns, units_in_file
from pdsim.recordings.csv_table import CsvConfig
from pdsim.recordings.segments import LEAST_FRAMES
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import sha256
from pdsim.settings.messages import close_name
from pdsim.systems.system import POSITIONS, Quantity, System
from pdsim.units.conversion import conversion

# A message shows no more columns than this.
SHOWN = 40
_DIALECTS = (CsvConfig(), CsvConfig(decimal=","), CsvConfig(header=False))


class Named(NamedTuple):
    """A column that the user named, ``column:unit``; or a number, what acts all the time.

    Attributes:
        unit: empty where it is to be guessed.
    """

    column: str
    unit: str = ""

    @classmethod
    def of(cls, text: str) -> "Named":
        """Read ``column`` or ``column:unit``."""
        column, colon, unit = text.rpartition(":")
        return cls(column, unit) if colon and column else cls(text)


@dataclass(frozen=True)
class Asked:
    """What the user said of the tables, so that it is not guessed.

    Attributes:
        time: column of the stamps.
        rate_hz: instead of stamps [Hz].
        channels, inputs: by the system's names.
        absolute: whether the table's angles are all against the vertical, or, False, from link to
            link as the system's are.
        zero: where the first angle is 0, "hanging" or "upright".
    """

    time: Named | None = None
    rate_hz: float | None = None
    channels: Mapping[str, Named] = field(default_factory=dict)
    inputs: Mapping[str, Named] = field(default_factory=dict)
    absolute: bool | None = None
    zero: str = ""


class Tables(NamedTuple):
    """Tables as they were read.

    Attributes:
        files: run → path.
        csv: how they are written; of all.
        numbers: run → column → (row,).
        units: column → what the first file says of its unit.
    """

    files: dict[str, Path]
    csv: CsvConfig
    numbers: dict[str, dict[str, np.ndarray]]
    units: Mapping[str, str] = {}

    @property
    def first(self) -> dict[str, np.ndarray]:
        """Columns of the first run."""
        return next(iter(self.numbers.values()))

    @property
    def path(self) -> Path:
        """The first file, for messages."""
        return next(iter(self.files.values()))

    def left_out(self, run: str | None = None) -> str:
        """Which columns of a run, or of the first, hold no numbers, for the end of a message."""
        path = self.files[run] if run else self.path
        why = list(other_columns(path, self.csv).values())
        more = "; …" if len(why) > SHOWN else ""
        return f". No numbers: {'; '.join(why[:SHOWN])}{more}" if why else ""

    def column(self, name: str) -> list[np.ndarray]:
        """One column of every run.

        Raises:
            PdsimError: a run has none of this name.
        """
        for run, columns in self.numbers.items():
            if name not in columns:
                having = [self.files[other] for other, c in self.numbers.items() if name in c]
                remedy = (
                    f". {having[0]} has one: give it the same name in all files, or leave this one "
                    "out"
                    if having
                    else ""
                )
                raise PdsimError(
                    f"{self.files[run]}: no column of numbers is called {name!r}"
                    f"{close_name(name, columns)}{self.left_out(run)}{remedy}"
                )
        return [columns[name] for columns in self.numbers.values()]


class Guessed(NamedTuple):
    """Part of the section `recording`, and the reasons, by key.

    Attributes:
        values: as the section holds them.
        reasons: key of ``values``, or name of a channel or an input → in words.
    """

    values: dict[str, Any]
    reasons: dict[str, str]


def read_tables(paths: Sequence[str]) -> Tables:
    """Read every column of numbers of the tables, a run each.

    Raises:
        PdsimError: a file is no table; the message is that of its plainest reading.
    """
    files: dict[str, Path] = {}
    for path in map(Path, paths):
        stem = re.sub(r"[^A-Za-z0-9_.-]+", "_", path.stem).lstrip(".-") or "run"
        name, number = stem, 2
        while name in files:
            name, number = f"{stem}_{number}", number + 1
        if path.resolve() in [other.resolve() for other in files.values()]:
            raise PdsimError(f"{path}: this file is named twice; a run is read once")
        if path.is_dir():
            raise PdsimError(
                f"{path}: is a folder; name the tables in it: pdsim new {path}/*.csv …"
            )
        files[name] = path
    csv = _dialect(next(iter(files.values())))
    numbers = {run: numeric_columns(path, csv) for run, path in files.items()}
    _check_twins(files.values())
    for run, columns in numbers.items():
        rows = max(map(len, columns.values()), default=0)
        if rows < LEAST_FRAMES:
            raise PdsimError(
                f"{files[run]}: has {rows} rows of numbers; {LEAST_FRAMES} or more are needed"
            )
    run, path = next(iter(files.items()))
    return Tables(files, csv, numbers, units_in_file(path, list(numbers[run])))


def _check_twins(paths: Iterable[Path]) -> None:
    """Refuse a file that holds the same as another one."""
    seen: dict[str, Path] = {}
    for path in paths:
        twin = seen.setdefault(sha256(path), path)
        if twin is not path:
            raise PdsimError(
                f"{path}: holds the same as {twin}; what is learned from one would be held out "
                "in the other: leave one out"
            )


def _dialect(path: Path) -> CsvConfig:
    """How a file is written: the way in which most of its columns hold numbers."""
    counts: list[int] = []
    problem: PdsimError | None = None
    for csv in _DIALECTS:
        try:
            counts.append(len(numeric_columns(path, csv)))
        except PdsimError as error:
            problem = problem or error
            counts.append(0)
    if not any(counts):
        why = next(iter(other_columns(path, _DIALECTS[0]).values()), "") if not problem else ""
        raise problem or PdsimError(
            f"{path}: no column holds numbers in every row: {why}. Delete a line of units below "
            "the names, if there is one"
        )
    return _DIALECTS[int(np.argmax(counts))]


def is_driven(tables: Tables, asked: Asked) -> bool:
    """Whether a column of the tables, or the user, says what acted."""
    return bool(asked.inputs) or any(kind(name) == EFFORT for name in tables.first)


def guess_channels(
    tables: Tables, system: System, asked: Asked, time: Guessed, frame_time: float
) -> Guessed:
    """Say which columns are the system's positions, and in which unit.

    Velocities are left out unless they are asked for: most are differences of the positions, and
    say nothing of their own.

    Args:
        time: as it was guessed; its column is no position.
        frame_time: of the rows [s].

    Raises:
        PdsimError: a column or its unit is not clear.
    """
    _check_asked("channel", asked.channels, [q.name for q in system.channels], system.name)
    wanted = [q for q in system.state if q.kind in POSITIONS]
    strange = [q.name for q in wanted if q not in system.channels or q.unit == "-"]
    if strange:
        raise PdsimError(
            f"{system.name}: {strange[0]} is no joint whose position a column can hold; write the "
            "experiment by hand: docs/robots.md"
        )
    stamps = time.values.get("time", {}).get("column")
    columns = _columns_of(tables, wanted, asked.channels, PLACE, "channel", stamps)
    owners: dict[str, str] = {}
    for name, named in columns.items():
        other = owners.setdefault(named.column, name)
        if other != name:
            raise PdsimError(
                f"--channel {name}={named.column}: this column is {other}'s already; name another"
            )
    values: dict[str, Any] = {}
    reasons: dict[str, str] = {}
    for quantity in (q for q in system.channels if q.name in columns):
        name = quantity.name
        alike = [
            columns[q.name].column
            for q in system.channels
            if q.name in columns and q.kind == quantity.kind
        ]
        unit, why = _unit(tables, columns[name], quantity, alike, frame_time, "channel")
        values[name] = {"column": columns[name].column, "unit": unit}
        reasons[name] = why
    if asked.absolute:
        angles = [q.name for q in wanted if q.kind == "angle"]
        for before, after in pairwise(angles):
            values[after]["minus"] = before
    return Guessed(values, reasons)


def guess_inputs(tables: Tables, system: System, asked: Asked) -> Guessed:
    """Say which columns hold what acts on the system.

    Raises:
        PdsimError: a column or its unit is not clear.
    """
    _check_asked("input", asked.inputs, [q.name for q in system.inputs], system.name)
    if not is_driven(tables, asked):
        _check_efforts(tables, system)
        return Guessed(
            {q.name: {"constant": 0.0, "unit": q.unit} for q in system.inputs},
            {q.name: "no column is called like one" for q in system.inputs},
        )
    columns = _columns_of(tables, system.inputs, asked.inputs, EFFORT, "input")
    values: dict[str, Any] = {}
    reasons: dict[str, str] = {}
    for quantity in system.inputs:
        named = columns[quantity.name]
        if named.column not in tables.first:
            try:
                values[quantity.name] = {"constant": float(named.column)}
            except ValueError:
                tables.column(named.column)
            values[quantity.name]["unit"] = named.unit or quantity.unit
            reasons[quantity.name] = "as asked for"
            continue
        unit, why = _unit(tables, named, quantity, [named.column], 1.0, "input")
        values[quantity.name] = {"column": named.column, "unit": unit}
        reasons[quantity.name] = why
    return Guessed(values, reasons)


def _check_efforts(tables: Tables, system: System) -> None:
    """Refuse columns that are called torques and hold none: that nothing acts is to be said."""
    empty = [name for name in other_columns(tables.path, tables.csv) if kind(name) == EFFORT]
    if empty:
        flags = " ".join(f"--input {q.name}=0" for q in system.inputs)
        raise PdsimError(
            f"{tables.path}: column {empty[0]!r} is called like a torque or force and holds no "
            f"numbers{tables.left_out()}; fill it, or, where nothing acts, "
            f"{f'say so: {flags}' if flags else 'take it out of the table'}"
        )


def _check_asked(flag: str, asked: Mapping[str, Named], known: list[str], system: str) -> None:
    for name in asked:
        if name not in known:
            hint = close_name(name, known) if known else "; it has none"
            raise PdsimError(f"--{flag} {name}=…: {system} has no such {flag}{hint}")


def _columns_of(
    tables: Tables,
    wanted: Sequence[Quantity],
    asked: Mapping[str, Named],
    sought: str,
    flag: str,
    stamps: str | None = None,
) -> dict[str, Named]:
    """A column for each quantity: those asked for, and for the rest those that the names tell.

    Args:
        stamps: a column that is none of them.
    """
    for named in asked.values() if flag == "channel" else ():
        tables.column(named.column)
    names = [quantity.name for quantity in wanted if quantity.name not in asked]
    taken = {named.column for named in asked.values()} | {stamps}
    free = [column for column in tables.first if column not in taken]
    candidates = [column for column in free if kind(column) == sought]
    if not candidates and sought == PLACE:
        candidates = [column for column in free if kind(column) is None]
    found = ordered(names, candidates) if names else []
    if found is None:
        names_shown = (candidates or free)[:SHOWN]
        more = ", …" if len(candidates or free) > SHOWN else ""
        listed = f"{', '.join(names_shown)}{more}" or "none"
        example = " ".join(f"--{flag} {name}=COLUMN:UNIT" for name in names)
        rest = ", or 0 where nothing acts" if flag == "input" else ""
        raise PdsimError(
            f"{tables.path}: which columns are {', '.join(names)} is not clear from their names; "
            f"candidates: {listed}; say which: {example}{rest}{tables.left_out()}"
        )
    return {**asked, **dict(zip(names, map(Named, found), strict=True))}


def _unit(
    tables: Tables,
    named: Named,
    quantity: Quantity,
    alike: Sequence[str],
    frame_time: float,
    flag: str,
) -> Unit:
    """The unit of a column: asked for, named, by its range, or else that of the system.

    Args:
        alike: columns that share it.
    """
    wanted = quantity.unit
    if named.unit:
        try:
            conversion(named.unit, wanted)
        except ValueError as error:
            raise PdsimError(
                f"--{flag} {quantity.name}={named.column}:{named.unit}: {error}"
            ) from None
        return Unit(named.unit, "as asked for")
    stated = tables.units.get(named.column, "")
    given = convertible(stated, wanted)
    if given is not None:
        return Unit(given, f"as its attribute says: units = {stated!r}")
    given = unit_in_name(named.column, wanted)
    if given is not None:
        return Unit(given, "as its name says")
    for other in alike:
        given = unit_in_name(other, wanted)
        if given is not None:
            return Unit(given, f"as the name of column {other!r} says")
    if quantity.kind not in POSITIONS:
        return Unit(wanted, "nothing speaks for another")
    columns = [column for name in alike for column in tables.column(name)]
    guess = angle_unit(columns, frame_time) if quantity.kind == "angle" else length_unit(columns)
    if not guess.unit:
        units = ("deg", "rad") if quantity.kind == "angle" else ("m", "mm")
        choices = " or ".join(f"--{flag} {quantity.name}={named.column}:{u}" for u in units)
        raise PdsimError(
            f"{tables.path}: column {named.column!r}: its unit is not clear ({guess.why}); say "
            f"which it is: {choices}"
        )
    return guess
