"""From rows with time stamps to frames at one rate.

Every later stage counts in frames of one length, so rows must be turned into frames. Stamps are
*regular* if each step is within 1 % of the mean step and each stamp within half a frame of the line
through the first and last: a stamp 1 % of a frame off moves a joint at 10 rad/s and 500 Hz by
0.2 mrad, below what encoders and cameras see. Regular stamps need nothing. With others there are
three ways:

- a **clock**: steps that are 0, 1, 2, … times one period, within 10 % of it. A row whose clock does
  not advance repeats the row before it and is dropped, and where the clock leaves out ticks there
  are frames in which nothing was observed. ``drop_repeats`` does this with the stamps themselves.
- **resample**: the stamps are believed, and values between rows are interpolated.

Which is right, the stamps cannot say: a logger that stamps late what a steady controller measured
has a clock, a camera that exposes late has not. So nothing is chosen for the user.

An input acts from its row to the next. Where rows are missing the last one goes on acting;
resampled, the input of a frame is the mean over this frame of what acted, which keeps its impulse.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import Field

from pdsim.runtime.errors import PdsimError
from pdsim.settings.section import Rate, Section

# Of a frame: by how much steps may be off, as they are and of a clock.
REGULAR = 0.01
TICK = 0.1
# Of the frames of a clock, at least this share must have been observed.
LEAST_SHARE = 0.5
# Frames further than this many steps from one row to the next are not interpolated.
LONGEST_GAP = 3.0
# Resampled frames for each row, at most: more would look like data that were not taken.
MOST_FRAMES = 2.0

Method = Literal["linear", "cubic", "nearest"]


class ResampleConfig(Section):
    """Interpolation of rows at irregular times."""

    rate_hz: Rate = Field(description="frame rate [Hz]")
    method: Method = Field("linear", description="between rows; cubic: a spline through all")


@dataclass(frozen=True)
class Steps:
    """What the steps between successive stamps look like.

    Attributes:
        rows: number of stamps.
        median, least, largest, mean: of the steps [s].
        off: share of steps that are more than 1 % off the median.
        repeats, backwards: number of steps that are 0 and below 0.
        drift: largest distance of a stamp from the line through the first and last [mean steps].
    """

    rows: int
    median: float
    least: float
    largest: float
    mean: float
    off: float
    repeats: int
    backwards: int
    drift: float

    def __str__(self) -> str:
        return (
            f"{self.rows:,} stamps; steps {_ms(self.median)} in the median, {_ms(self.least)} to "
            f"{_ms(self.largest)}; {_percent(self.off)} are more than 1 % off the median, "
            f"{self.repeats:,} steps are 0, {self.backwards:,} go backwards; stamps stand up to "
            f"{self.drift:.3g} steps from an even grid"
        )


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.5g} ms"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def measure(stamps: np.ndarray) -> Steps:
    """Return the statistics of stamps (row,) [s], two or more."""
    steps = np.diff(stamps)
    median = float(np.median(steps))
    mean = float(stamps[-1] - stamps[0]) / len(steps)
    line = stamps[0] + mean * np.arange(len(stamps))
    return Steps(
        rows=len(stamps),
        median=median,
        least=float(steps.min()),
        largest=float(steps.max()),
        mean=mean,
        off=float(np.mean(np.abs(steps - median) > REGULAR * abs(median))),
        repeats=int(np.sum(steps == 0)),
        backwards=int(np.sum(steps < 0)),
        drift=float(np.abs(stamps - line).max() / abs(mean)) if mean else np.inf,
    )


@dataclass(frozen=True)
class Every:
    """Every row is a frame.

    Attributes:
        frame_time: [s].
    """

    frame_time: float

    def observed(self, values: np.ndarray) -> np.ndarray:
        """Return channels of the rows (row, channel) by frames (frame, channel)."""
        return values

    def acting(self, values: np.ndarray) -> np.ndarray:
        """Return inputs of the rows (row, input) by frames (frame, input)."""
        return values


@dataclass(frozen=True)
class Ticks:
    """Rows stand at some of the ticks of a clock; nothing was observed at the others.

    Attributes:
        frame_time: period of the clock [s].
        rows: (seen,) the first row of each tick that has one.
        frames: (seen,) this tick, from 0.
    """

    frame_time: float
    rows: np.ndarray
    frames: np.ndarray

    def observed(self, values: np.ndarray) -> np.ndarray:
        """See ``Every``; NaN at ticks without a row."""
        shown = np.full((self.frames[-1] + 1, values.shape[1]), np.nan)
        shown[self.frames] = values[self.rows]
        return shown

    def acting(self, values: np.ndarray) -> np.ndarray:
        """See ``Every``; the last row goes on acting at ticks without one."""
        last = np.searchsorted(self.frames, np.arange(self.frames[-1] + 1), side="right") - 1
        return values[self.rows[last]]


@dataclass(frozen=True)
class Resampled:
    """Frames between rows at irregular times.

    Attributes:
        frame_time: [s].
        stamps: (row,) [s], strictly growing, the first 0.
        rows: (row,) where they stand in the table.
        count: of frames.
    """

    frame_time: float
    stamps: np.ndarray
    rows: np.ndarray
    count: int
    method: Method = "linear"

    def observed(self, values: np.ndarray) -> np.ndarray:
        """See ``Every``; NaN in gaps longer than three median steps, and than three frames."""
        times = np.arange(self.count) * self.frame_time
        longest = LONGEST_GAP * max(float(np.median(np.diff(self.stamps))), self.frame_time)
        columns = [self._column(column, times, longest) for column in values[self.rows].T]
        return np.stack(columns, axis=1) if columns else np.zeros((self.count, 0))

    def _column(self, column: np.ndarray, times: np.ndarray, longest: float) -> np.ndarray:
        seen = np.isfinite(column)
        stamps, column = self.stamps[seen], column[seen]
        if len(stamps) < 4:
            return np.full(len(times), np.nan)
        after = np.clip(np.searchsorted(stamps, times), 1, len(stamps) - 1)
        before = after - 1
        if self.method == "nearest":
            late = times - stamps[before] > stamps[after] - times
            shown = column[np.where(late, after, before)]
        elif self.method == "linear":
            shown = np.interp(times, stamps, column)
        else:
            # Imported here: it takes as long to load as JAX.
            from scipy.interpolate import CubicSpline

            shown = CubicSpline(stamps, column)(times)
        to_row = np.minimum(np.abs(times - stamps[before]), np.abs(times - stamps[after]))
        between = (times > stamps[0]) & (times < stamps[-1])
        between &= stamps[after] - stamps[before] <= longest
        # At a row, but for rounding, nothing is interpolated.
        return np.where(between | (to_row < 1e-6 * self.frame_time), shown, np.nan)

    def acting(self, values: np.ndarray) -> np.ndarray:
        """See ``Every``; the mean over each frame of what acted in it."""
        values = values[self.rows]
        edges = np.arange(self.count + 1) * self.frame_time
        # The impulse up to each stamp, and a last one beyond the end of all frames.
        stamps = np.append(self.stamps, max(edges[-1], self.stamps[-1]) + self.frame_time)
        impulse = np.zeros((len(stamps), values.shape[1]))
        impulse[1:] = np.cumsum(values * np.diff(stamps)[:, None], axis=0)
        columns = [np.diff(np.interp(edges, stamps, i)) / self.frame_time for i in impulse.T]
        return np.stack(columns, axis=1) if columns else np.zeros((self.count, 0))


Timeline = Every | Ticks | Resampled


def check_forward(stamps: np.ndarray, where: str) -> None:
    """Refuse stamps that go backwards, or do not move.

    Args:
        stamps: (row,) [s].
        where: file and column, for the message.
    """
    back = np.flatnonzero(np.diff(stamps) < 0)
    if len(back):
        row = int(back[0]) + 1
        raise PdsimError(
            f"{where}: time goes backwards in {len(back):,} of {len(stamps):,} rows "
            f"({_percent(len(back) / len(stamps))}), first from row {row} to row {row + 1}, by "
            f"{_ms(stamps[row - 1] - stamps[row])}; if the file holds several runs, cut it into "
            "one file each; if rows are out of order, sort them"
        )
    if stamps[-1] == stamps[0]:
        raise PdsimError(
            f"{where}: all {len(stamps):,} rows have the same time; name another column"
        )


def _rounded(frame_time: float, rows: int) -> float:
    """Take a whole number of hertz or microseconds, where stamps cannot tell the difference."""
    for candidate in (1 / max(round(1 / frame_time), 1), round(frame_time * 1e6) / 1e6):
        if abs(candidate - frame_time) * rows < REGULAR * frame_time:
            return candidate
    return frame_time


def as_they_are(stamps: np.ndarray, where: str) -> Every:
    """Take every row for a frame, if the stamps are regular.

    Raises:
        PdsimError: they are not; the message has their statistics and the three ways out.
    """
    check_forward(stamps, where)
    steps = measure(stamps)
    wrong = np.abs(np.diff(stamps) - steps.mean) > REGULAR * steps.mean
    if wrong.any() or steps.drift > 0.5:
        # Long steps move the mean; the median tells better which row is the first bad one.
        bad = np.abs(np.diff(stamps) - steps.median) > REGULAR * steps.median
        first = f"; the first odd step leads to row {int(np.argmax(bad)) + 2}" if bad.any() else ""
        raise PdsimError(
            f"{where}: the time stamps are not regular: {steps}{first}. Choose one way below "
            "`recording`:\n"
            "  clock: <column>   another column is regular, or counts in whole periods (repeated "
            "rows are dropped, missing ones are not observed)\n"
            f"  resample: {{rate_hz: {_nominal(steps):.6g}, method: linear}}   the stamps are "
            "right; interpolate between rows\n"
            "  drop_repeats: true   the stamps count in whole periods, but rows repeat or are "
            f"missing (these stamps {'do' if _counts(stamps, where) else 'do not'})\n"
            "Or, where rows come at an even rate and only their stamps do not: leave `time` out "
            "and write `rate_hz`."
        )
    return Every(_rounded(steps.mean, steps.rows))


def _counts(stamps: np.ndarray, where: str) -> bool:
    try:
        ticks(stamps, where)
    except PdsimError:
        return False
    return True


def _nominal(steps: Steps) -> float:
    """Return the rate to propose [Hz]: whole, if that is near."""
    rate = 1 / (steps.median if steps.median > 0 else steps.mean)
    return round(rate) if abs(rate - round(rate)) < REGULAR * rate and rate > 1 else rate


def ticks(stamps: np.ndarray, where: str) -> Ticks:
    """Place rows at the ticks of a clock, and drop those that repeat a tick.

    Raises:
        PdsimError: the steps are not whole periods, or most ticks have no row.
    """
    check_forward(stamps, where)
    steps = np.diff(stamps)
    forward = steps[steps > 0]
    period = float(np.mean(forward[forward < 1.5 * forward.min()]))
    periods = np.rint(steps / period)
    if np.abs(steps / period - periods).max() < 0.25:
        # No doubt which multiple each step is: all of them together know the period best.
        period = float(stamps[-1] - stamps[0]) / float(periods.sum())
    off = np.abs(steps / period - periods)
    # Steps may all be nearly whole, and yet add up to another number of periods.
    places = np.concatenate([[0.0], np.cumsum(periods)])
    drift = np.abs(stamps - stamps[0] - places * period).max() / period
    if off.max() > TICK or drift > 0.5:
        row, wrong = int(np.argmax(off)) + 2, int(np.sum(off > TICK))
        raise PdsimError(
            f"{where}: does not count in whole periods: with one of {_ms(period)}, {wrong:,} of "
            f"{len(steps):,} steps ({_percent(wrong / len(steps))}) are more than {100 * TICK:g} % "
            f"off a multiple, the worst, to row {row}, with {steps[row - 2] / period:.4g} periods, "
            f"and stamps drift by {drift:.3g} periods. {measure(stamps)}. If the stamps are right, "
            "use `resample`; if another column counts in periods, name it as `clock`"
        )
    seen = np.concatenate([[True], periods > 0])
    share = seen.sum() / (places[-1] + 1)
    if share < LEAST_SHARE:
        raise PdsimError(
            f"{where}: with the smallest step of {_ms(period)} as period only {_percent(share)} of "
            f"the frames have a row; that is no clock of these rows. {measure(stamps)}. Use "
            "`resample`, or name another column as `clock`"
        )
    rows = np.flatnonzero(seen)
    frames = places[seen].astype(int)
    return Ticks(_rounded(period, int(places[-1])), rows, frames)


def resampled(stamps: np.ndarray, resample: ResampleConfig, where: str) -> Resampled:
    """Lay frames between the rows; a row whose stamp does not advance is dropped.

    Raises:
        PdsimError: the rate is far above that of the rows, or two frames do not fit in.
    """
    check_forward(stamps, where)
    rows = np.flatnonzero(np.concatenate([[True], np.diff(stamps) > 0]))
    kept = stamps[rows] - stamps[0]
    frame_time = 1 / resample.rate_hz
    count = int(min(np.floor(kept[-1] / frame_time + 1e-6), 1e15)) + 1
    if count > MOST_FRAMES * len(rows) + 1:
        raise PdsimError(
            f"recording.resample.rate_hz: {resample.rate_hz:g} Hz would make {count:,} frames of "
            f"the {len(rows):,} rows of {where}, most of them no measurements; choose about "
            f"{(len(rows) - 1) / kept[-1]:.4g} Hz or less"
        )
    return Resampled(frame_time, kept, rows, count, resample.method)
