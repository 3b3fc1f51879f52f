"""What the sections of all data sources share: which stretches of which runs are used for what."""

from collections.abc import Mapping
from typing import NamedTuple, Self

from pydantic import Field, model_validator

from pdsim.recordings.fitted import FittedStates
from pdsim.recordings.smoothing import Smoothing
from pdsim.runtime.errors import PdsimError
from pdsim.settings.section import Name, Rate, Section

# A window shorter than this holds no motion worth fitting.
LEAST_FRAMES = 20


class Window(NamedTuple):
    """Frames ``first:last`` of a run, and what they are for.

    Attributes:
        split: "train" or "test".
        name: in the config; empty if it has none.
    """

    split: str
    run: str
    first: int
    last: int
    name: str


class SmoothingConfig(Section):
    """Savitzky–Golay filter that estimates start states."""

    frames: int = Field(11, ge=3, description="odd length of the filter [frames]")
    order: int = Field(4, ge=1, description="order of the polynomial")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.frames % 2 == 0 or self.order >= self.frames:
            raise ValueError(
                f"frames ({self.frames}) must be odd and larger than order ({self.order})"
            )
        return self

    def build(self) -> Smoothing:
        """Return the filter."""
        return Smoothing(self.frames, self.order)


class FrameWindow(Section):
    """A stretch of a numbered run."""

    run: int = Field(ge=0, description="number of the run: the file is `<run>.csv`")
    through: int | None = Field(
        None, description="last run, where this one and those up to it have the same frames"
    )
    frames: tuple[int, int] = Field(description="first frame, and the one after the last")
    name: Name | None = Field(None, description="what the report calls it")

    @model_validator(mode="after")
    def _check(self) -> Self:
        first, last = self.frames
        if first < 0 or last - first < LEAST_FRAMES:
            raise ValueError(
                f"frames {first}:{last} must start at 0 or later and hold {LEAST_FRAMES} or more"
            )
        if self.through is not None and self.through < self.run:
            raise ValueError(f"through ({self.through}) must not be below run ({self.run})")
        if self.through is not None and self.through - self.run > 10_000:
            raise ValueError(f"through ({self.through}) names more than 10,000 runs")
        return self

    def each(self) -> "list[FrameWindow]":
        """One window for each run it names."""
        last = self.run if self.through is None else self.through
        return [
            self.model_copy(update={"run": run, "through": None})
            for run in range(self.run, last + 1)
        ]


class NumberedRuns(Section):
    """What sources share whose runs are numbered files of positions at one rate."""

    rate_hz: Rate = Field(description="nominal frame rate [Hz]")
    train: tuple[FrameWindow, ...] = Field(min_length=1, description="what estimators see")
    test: tuple[FrameWindow, ...] = Field(
        (), description="held out, for metrics; none: nothing claims to be held out"
    )
    smoothing: SmoothingConfig = SmoothingConfig()

    @model_validator(mode="after")
    def _check_windows(self) -> Self:
        windows = [window for split in ("train", "test") for window in self.windows(split)]
        shortest = min(last - first for first, last in (w.frames for w in windows))
        if shortest <= self.smoothing.frames:
            raise ValueError(
                f"windows must be longer than smoothing.frames ({self.smoothing.frames}); the "
                f"shortest has {shortest}"
            )
        check_overlap(
            [(w.run, w.frames) for w in self.windows("train")],
            [(w.run, w.frames) for w in self.windows("test")],
        )
        return self

    def windows(self, split: str) -> list[FrameWindow]:
        """Windows of one split, one for each run."""
        chosen = self.train if split == "train" else self.test
        return [window for entry in chosen for window in entry.each()]

    def check_made(self, runs: int, frames: int) -> None:
        """Refuse windows beyond what a source makes: so many runs of so many frames."""
        for window in self.windows("train") + self.windows("test"):
            if window.run >= runs:
                raise ValueError(f"run {window.run} does not exist: there are {runs}, from 0")
            if window.frames[1] > frames:
                raise ValueError(f"frames {window.frames} go beyond frame_count ({frames})")

    def resolve(self, frames: Mapping[str, int] | None, frame_time: float) -> list[Window]:
        """Return every window in frames, those for training first.

        Args:
            frames: length of each run; None before any was read.
            frame_time: [s].
        """
        del frames, frame_time
        return [
            Window(split, str(window.run), *window.frames, window.name or "")
            for split in ("train", "test")
            for window in self.windows(split)
        ]

    def run_numbers(self) -> list[int]:
        """Numbers of all runs the windows name."""
        return sorted({w.run for split in ("train", "test") for w in self.windows(split)})

    @property
    def holds_out(self) -> bool:
        """Whether there is a test set."""
        return len(self.test) > 0

    @property
    def derives_velocities(self) -> bool:
        """Whether velocity channels are finite differences of the positions (appendix II-B)."""
        return True

    @property
    def measured_states(self) -> bool:
        """Whether states are taken from the channels of their names, and not smoothed."""
        return False

    @property
    def fitted_states(self) -> FittedStates | None:
        """How states are fitted to channels that are functions of them, where they are."""
        return None


def check_overlap(train, test) -> None:
    """Refuse windows that are named twice, or held-out ones that share frames with training ones.

    Args:
        train, test: pairs (run, (first, last)).

    Raises:
        ValueError: says which.
    """
    for split, windows in (("train", train), ("test", test)):
        twice = [w for i, w in enumerate(windows) if w in windows[:i]]
        if twice:
            run, (first, last) = twice[0]
            raise ValueError(f"{split} holds run {run}, frames {first}:{last}, twice")
    for run, (first, last) in test:
        for other, (start, end) in train:
            shared = min(last, end) - max(first, start)
            if run == other and shared > 0:
                raise ValueError(
                    f"run {run}, frames {first}:{last}, is in test, but {shared} of its frames are "
                    f"in train ({start}:{end}); held out means not seen"
                )


def check_within(window: Window, frames: int, source: str) -> None:
    """Refuse a window that goes beyond its recording.

    Raises:
        PdsimError: says how long the recording is.
    """
    if window.last > frames:
        raise PdsimError(
            f"{source}: has {frames} frames, but the experiment asks for "
            f"{window.first}:{window.last}"
        )
