"""Where time is in the tables, its unit, and how rows become frames."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pdsim.draft.columns import TIME, convertible, kind, unit_in_name
from pdsim.draft.tables import SHOWN, Asked, Guessed, Named, Tables
from pdsim.draft.units import time_unit
from pdsim.recordings.clock import REGULAR, as_they_are, check_forward, measure, ticks
from pdsim.runtime.errors import PdsimError
from pdsim.units.conversion import conversion

# A rate that is this near to a whole number is one.
_WHOLE = 0.01


def guess_time(tables: Tables, asked: Asked) -> tuple[Guessed, float]:
    """Say where time is in the tables, and how rows become frames.

    Returns:
        The keys `rate_hz` or `time`, `resample` or `drop_repeats`; and the median time between
        rows [s].

    Raises:
        PdsimError: no column can be time, or its unit is not clear.
    """
    if asked.rate_hz is not None:
        if not 0 < asked.rate_hz < np.inf:
            raise PdsimError(f"--rate {asked.rate_hz:g}: a number of hertz above 0 is needed")
        reasons = {"rate_hz": "as asked for"}
        return Guessed({"rate_hz": asked.rate_hz}, reasons), 1 / asked.rate_hz
    named = asked.time or Named(_time_column(tables))
    columns = tables.column(named.column)
    where = f"{tables.path}: column {named.column!r}"
    unit, why = _stated_unit(tables, named)
    stamped = columns[0][np.isfinite(columns[0])]
    if len(stamped) > 1 and stamped.min() == stamped.max():
        raise PdsimError(
            f"{where}: all {len(stamped)} rows have the same time; name another column, --time "
            "COLUMN:s, or say the rate of the rows: --rate 500"
        )
    if not unit:
        unit, why = time_unit(stamped)
    if not unit:
        raise PdsimError(
            f"{where}: time in {why} may be in several units; say which: --time {named.column}:ms, "
            "or leave the stamps out: --rate 500"
        )
    try:
        factor = conversion(unit, "s")
    except ValueError as error:
        raise PdsimError(f"--time {named.column}:{unit}: {error}") from None
    stamps = [factor * (column - column[0]) for column in columns]
    for path, one in zip(tables.files.values(), stamps, strict=True):
        if not np.isfinite(one).all():
            row = int(np.flatnonzero(~np.isfinite(one))[0]) + 1
            raise PdsimError(
                f"{path}: column {named.column!r} has no time in row {row}; fill it, or say that "
                "rows come at an even rate: --rate 500"
            )
        check_forward(one, f"{path}: column {named.column!r}")
    values: dict[str, Any] = {"time": {"column": named.column, "unit": unit}}
    reasons = {"time": why}
    rows, more = _as_frames(tables, stamps, named.column)
    step = float(np.median(np.concatenate([np.diff(one) for one in stamps])))
    return Guessed({**values, **rows}, {**reasons, **more}), step


def _stated_unit(tables: Tables, named: Named) -> tuple[str, str]:
    """The unit that the user, the file or the column's name says, and which; empty if none does."""
    stated = tables.units.get(named.column, "")
    for unit, why in (
        (named.unit, "as asked for"),
        (convertible(stated, "s"), f"as its attribute says: units = {stated!r}"),
        (unit_in_name(named.column, "s"), "as its name says"),
    ):
        if unit:
            return unit, why
    return "", ""


def _time_column(tables: Tables) -> str:
    """The column of stamps, by its name or else the first that grows from row to row."""
    growing = [
        name
        for name, values in tables.first.items()
        if len(values) > 2 and (np.diff(values) >= 0).all() and values[-1] > values[0]
    ]
    by_name = [name for name in tables.first if kind(name) == TIME]
    found = [name for name in by_name if name in growing] or by_name
    found = found or [name for name in growing if kind(name) is None]
    if not found:
        shown = ", ".join(list(tables.first)[:SHOWN]) + ", …" * (len(tables.first) > SHOWN)
        raise PdsimError(
            f"{tables.path}: no column is called time, and none of {shown} grows "
            "from row to row; name one: --time COLUMN:s, or say the rate of the rows: --rate 500"
            f"{tables.left_out()}"
        )
    return found[0]


def _as_frames(tables: Tables, stamps: Sequence[np.ndarray], column: str) -> Guessed:
    """How rows become frames: as they are, by ticks, or resampled at a whole rate."""
    try:
        every = [
            as_they_are(one, f"{path}: column {column!r}").frame_time
            for path, one in zip(tables.files.values(), stamps, strict=True)
        ]
        if max(every) - min(every) <= 1e-6 * every[0]:
            return Guessed({}, {})
    except PdsimError:
        pass
    try:
        for one in stamps:
            ticks(one, "")
        return Guessed({"drop_repeats": True}, {"drop_repeats": "the stamps are whole periods"})
    except PdsimError:
        pass
    steps = measure(stamps[0])
    rate = 1 / float(np.median(np.concatenate([np.diff(one) for one in stamps])))
    rate = round(rate) if abs(rate - round(rate)) < _WHOLE * rate and rate > 1 else rate
    rate = float(f"{rate:.6g}")
    return Guessed(
        {"resample": {"rate_hz": rate, "method": "linear"}},
        {
            "resample": f"{100 * steps.off:.2g} % of the steps are more than {100 * REGULAR:g} % "
            f"off their median of {1e3 * steps.median:.4g} ms; rows are taken to be as late as "
            "stamped"
        },
    )
