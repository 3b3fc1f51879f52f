"""Recordings of any system from its tables: CSV, Parquet or NetCDF, a file for each run.

docs/recordings.md shows by example how to bring one. Where rows become frames is ``clock``, where
columns become channels is ``channels``, how files are read is ``columns``.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from pdsim.recordings.channels import (
    ChannelConfig,
    ColumnName,
    InputConfig,
    channel_values,
    check_names,
    check_references,
    check_shared,
    check_stated_units,
    input_values,
    text_of_number,
)
from pdsim.recordings.clock import (
    Every,
    ResampleConfig,
    Timeline,
    as_they_are,
    resampled,
    ticks,
)
from pdsim.recordings.columns import read_columns, units_in_file
from pdsim.recordings.csv_table import CsvConfig
from pdsim.recordings.fitted import FittedStates, check_near
from pdsim.recordings.pace import warn_of_rate, warn_of_stamps
from pdsim.recordings.recording import Recording, unsmoothed
from pdsim.recordings.segments import LEAST_FRAMES, SmoothingConfig, Window
from pdsim.recordings.stretches import TableWindow, stretches
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import find_file, sha256
from pdsim.settings.messages import close_name
from pdsim.settings.section import Name, Rate, Section
from pdsim.systems.system import POSITIONS, System
from pdsim.units.conversion import conversion


def _named(value: Any) -> Any:
    """Name runs after the stems of a list of files."""
    if isinstance(value, str):
        value = [value]
    if isinstance(value, dict):
        return {text_of_number(name): path for name, path in value.items()}
    if not isinstance(value, list | tuple) or not all(isinstance(path, str) for path in value):
        raise ValueError("needs a list of files, or a map of the run's name to its file")
    runs: dict[str, str] = {}
    for path in value:
        stem = Path(path).stem
        if stem in runs:
            raise ValueError(
                f"{runs[stem]} and {path} would both be run {stem!r}; name them: "
                f"{{{stem}_a: {runs[stem]}, {stem}_b: {path}}}"
            )
        runs[stem] = path
    return runs


Files = Annotated[
    dict[Name, str],
    BeforeValidator(_named),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "array", "items": {"type": "string"}},
                {"type": "object", "additionalProperties": {"type": "string"}},
            ]
        }
    ),
]


class TimeConfig(Section):
    """A column of times."""

    column: ColumnName = Field(description="name in the table's first line")
    unit: str = Field("s", description="of the column: s, ms, us, ns")

    @model_validator(mode="after")
    def _check_unit(self) -> Self:
        conversion(self.unit, "s")
        return self


# In a config file its column's name will do; then it has the unit of `time`.
Clock = Annotated[
    TimeConfig,
    WithJsonSchema({"anyOf": [{"type": ["string", "integer"]}, {"type": "object"}]}),
]


class Config(Section):
    """Recordings of any system from its tables: `source: table`."""

    source: Literal["table"] = Field(description="the data source")
    files: Files = Field(
        description="a list of tables, one for each run, which gets the file's stem as name; or a "
        "map of the run's name to its file",
        min_length=1,
    )
    csv: CsvConfig = CsvConfig()
    time: TimeConfig | None = Field(None, description="time stamps; or else `rate_hz`")
    rate_hz: Rate | None = Field(
        None, description="rate of the rows [Hz], where they have no time stamps"
    )
    clock: Clock | None = Field(
        None,
        description="column that counts in whole periods, where the time stamps are not regular: "
        "repeated rows are dropped, missing ones are not observed",
    )
    resample: ResampleConfig | None = Field(
        None, description="interpolation, where the time stamps are right but not regular"
    )
    drop_repeats: bool = Field(
        False, description="use the time stamps as `clock`: they count in whole periods"
    )
    channels: dict[str, ChannelConfig] = Field(
        min_length=1, description="by the system's names; those left out are not observed"
    )
    inputs: dict[str, InputConfig] = Field({}, description="by the system's names; all it has")
    missing: tuple[float, ...] = Field(
        (), description="numbers in the columns of channels that mean: not observed"
    )
    train: tuple[TableWindow, ...] = Field(
        (), description="what estimators see; default: all of each run that is not in test"
    )
    test: tuple[TableWindow, ...] = Field((), description="held out, for metrics")
    test_share: float | None = Field(
        None, gt=0, lt=1, description="instead of `test`: last share of each training window"
    )
    smoothing: SmoothingConfig = SmoothingConfig()
    states: Literal["smoothed", "channels"] | FittedStates = Field(
        "smoothed",
        description="channels: velocities are measured too, take states from channels; or a "
        "section: the channels are functions of the states, fit them",
    )
    derive_velocities: bool = Field(
        False,
        description="observe finite differences of the positions as velocities, as in the paper; "
        "they are no data of their own",
    )
    truth: dict[str, float] = Field({}, description="true values of system parameters, if known")

    @model_validator(mode="before")
    @classmethod
    def _name_clock(cls, values: Any) -> Any:
        if not isinstance(values, dict) or not isinstance(values.get("clock"), str | int):
            return values
        time = values.get("time")
        unit = {"unit": time["unit"]} if isinstance(time, dict) and "unit" in time else {}
        return values | {"clock": {"column": values["clock"], **unit}}

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.rate_hz is not None and (self.time is not None or self.clock is not None):
            raise ValueError("time is given twice: by rate_hz and by a column; leave one out")
        if self.rate_hz is None and self.time is None and self.clock is None:
            raise ValueError(
                "needs time: {column: ..., unit: s}, or rate_hz where there are no stamps"
            )
        ways = ("clock", "resample", "drop_repeats")
        chosen = [way for way in ways if getattr(self, way)]
        if len(chosen) > 1:
            raise ValueError(f"{' and '.join(chosen)} exclude each other; choose one of them")
        if self.time is None and (self.resample or self.drop_repeats):
            raise ValueError(f"{chosen[0]} works on time stamps; add time: {{column: ...}}")
        check_references(self.channels)
        paths = list(self.files.values())
        twice = next((path for i, path in enumerate(paths) if path in paths[:i]), None)
        if twice is not None:
            raise ValueError(f"files: {twice} is named twice")
        if self.test and self.test_share is not None:
            raise ValueError("has test and test_share; leave one of them out")
        for split in ("train", "test"):
            for window in getattr(self, split):
                if window.run not in self.files:
                    raise ValueError(
                        f"{split}: there is no run {window.run!r} in files"
                        f"{close_name(window.run, self.files)}"
                    )
        if not self.learned:
            raise ValueError("every run is in test; say in train what is to be learned from")
        self._windows(None, None)
        return self

    @property
    def holds_out(self) -> bool:
        """Whether there is a test set."""
        return bool(self.test) or self.test_share is not None

    @property
    def derives_velocities(self) -> bool:
        """Whether velocity channels are finite differences of the positions (appendix II-B)."""
        return self.derive_velocities

    @property
    def measured_states(self) -> bool:
        """Whether states are taken from the channels of their names, and not smoothed."""
        return self.states == "channels"

    @property
    def fitted_states(self) -> FittedStates | None:
        """How states are fitted to channels that are functions of them, where they are."""
        return self.states if isinstance(self.states, FittedStates) else None

    @property
    def known_rate(self) -> float | None:
        """Frame rate [Hz], if the config says it."""
        return self.resample.rate_hz if self.resample else self.rate_hz

    @property
    def learned(self) -> tuple[TableWindow, ...]:
        """What estimators see: `train`, or else all of each run that is not in `test`."""
        held_out = {window.run for window in self.test}
        rest = [TableWindow(run=run) for run in self.files if run not in held_out]
        return self.train or tuple(rest)

    def resolve(self, frames: Mapping[str, int] | None, frame_time: float) -> list[Window]:
        """Return every window in frames, those for training first.

        Args:
            frames: length of each run; None before any was read: then the list is empty, unless
                the config alone says where all windows are.
            frame_time: [s]; unused before any run was read.

        Raises:
            PdsimError: a window is too short or beyond its run, or test overlaps train.
        """
        try:
            return self._windows(frames, None if frames is None else frame_time) or []
        except ValueError as error:
            raise PdsimError(f"recording: {error}") from None

    def _windows(
        self, frames: Mapping[str, int] | None, frame_time: float | None
    ) -> list[Window] | None:
        if frame_time is None and self.known_rate:
            frame_time = 1 / self.known_rate
        windows = stretches(self.learned, self.test, self.test_share, frames, frame_time)
        for window in windows or []:
            count = window.last - window.first
            if count <= self.smoothing.frames:
                raise ValueError(
                    f"windows must be longer than smoothing.frames ({self.smoothing.frames}); that "
                    f"of run {window.run} in {window.split} has {count}"
                )
        return windows


def check(config: Config, system: System) -> None:
    """Refuse what does not fit the system.

    Raises:
        PdsimError: the key is named below ``recording``.
    """
    check_names("channels", config.channels, system.channels, system.name)
    check_names("inputs", config.inputs, system.inputs, system.name)
    for quantity in system.inputs:
        if quantity.name not in config.inputs:
            raise PdsimError(
                f"recording.inputs.{quantity.name}: is missing; {system.name} needs to know every "
                f"input: {{column: ..., unit: {quantity.unit}}}, or {{constant: 0, unit: "
                f"{quantity.unit}}} where nothing acts"
            )
    for name in config.truth:
        if name not in system.parameters:
            raise PdsimError(
                f"recording.truth.{name}: {system.name} has no such parameter"
                f"{close_name(name, system.parameters)}"
            )
    if config.fitted_states:
        check_near(config.fitted_states, system)
    for quantity in () if config.fitted_states else system.state:
        needed = config.measured_states or quantity.kind in POSITIONS
        if needed and quantity.name not in config.channels:
            reason = (
                "states: channels needs every" if config.measured_states else "smoothing needs each"
            )
            what = "state variable" if config.measured_states else "position of the state"
            raise PdsimError(
                f"recording.channels.{quantity.name}: is missing; {reason} {what} as a channel"
            )
    if config.derive_velocities:
        for quantity in system.channels:
            if quantity.kind == "velocity" and quantity.name in config.channels:
                raise PdsimError(
                    f"recording.derive_velocities: would overwrite the measured channel "
                    f"{quantity.name}; leave one of them out"
                )
    clocks = [time.column for time in (config.time, config.clock) if time is not None]
    check_shared(clocks, config.channels, config.inputs)


def files(config: Config, folder: str) -> dict[str, str]:
    """Return the file of each run that a window names (``pdsim.runtime.files.find_file``).

    Args:
        folder: of the experiment's file.
    """
    used = {window.run for window in (*config.learned, *config.test)}
    return {run: str(find_file(path, folder)) for run, path in config.files.items() if run in used}


def _timeline(config: Config, columns: Mapping[str, Any], source: str) -> Timeline:
    """Say how rows become frames.

    Raises:
        PdsimError: there are too few, or their stamps cannot be used as they are.
    """
    count = len(next(iter(columns.values())))
    if count < LEAST_FRAMES:
        raise PdsimError(f"{source}: has {count} rows; a recording needs {LEAST_FRAMES} or more")
    if config.rate_hz is not None:
        return Every(1 / config.rate_hz)
    time = config.clock or config.time
    assert time is not None
    stamps = columns[time.column]
    where = f"{source}: column {time.column!r}"
    empty = (stamps != stamps).nonzero()[0]
    if len(empty):
        raise PdsimError(
            f"{where}: has no time in {len(empty):,} of {count:,} rows "
            f"({100 * len(empty) / count:.3g} %), first in row {empty[0] + 1}"
        )
    seconds = conversion(time.unit, "s") * (stamps - stamps[0])
    if config.clock is not None or config.drop_repeats:
        return ticks(seconds, where)
    if config.resample is not None:
        return resampled(seconds, config.resample, where)
    return as_they_are(seconds, where)


def _units(config: Config) -> dict[str, tuple[str, str]]:
    """Key of each column that is used → the column, and its unit."""
    used: dict[str, Any] = {"clock": config.clock} if config.clock else {"time": config.time}
    used |= {f"channels.{name}": channel for name, channel in config.channels.items()}
    used |= {f"inputs.{name}": acting for name, acting in config.inputs.items()}
    return {key: (c.column, c.unit) for key, c in used.items() if c is not None and c.column}


def read(config: Config, run: str, path: str, system: System) -> Recording:
    """Read a whole run.

    Args:
        path: of its file.

    Raises:
        PdsimError: the file, a column or a cell cannot be used.
    """
    check(config, system)
    used = _units(config)
    names = list(dict.fromkeys(column for column, _ in used.values()))
    columns = read_columns(path, names, config.csv)
    check_stated_units(used, units_in_file(path, names), path)
    timeline = _timeline(config, columns, path)
    if clock := config.clock or config.time:
        warn_of_stamps(timeline.frame_time, clock.column, clock.unit, path)
    else:
        warn_of_rate(timeline.frame_time, path)
    channels = channel_values(config.channels, columns, system.channels, config.missing, path)
    inputs = input_values(config.inputs, columns, system.inputs, len(channels), path)
    observed = timeline.observed(channels)
    if len(observed) < LEAST_FRAMES:
        raise PdsimError(f"{path}: gives {len(observed)} frames; {LEAST_FRAMES} or more are needed")
    return unsmoothed(
        run,
        timeline.frame_time,
        observed,
        timeline.acting(inputs),
        len(system.state),
        truth=config.truth,
        source=path,
        sha256=sha256(path),
    )


def channels(config: Config, system: System) -> list[str]:
    """Return the channels that hold values."""
    if config.derives_velocities:
        return [channel.name for channel in system.channels]
    return list(config.channels)


def truths(config: Config, defaults: Mapping[str, float]) -> list[dict[str, float]]:
    """True system parameters, those the config names."""
    del defaults
    return [dict(config.truth)] if config.truth else []
