"""Which stretches of which runs of a table are for training and which are held out."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, model_validator

from pdsim.recordings.channels import text_of_number
from pdsim.recordings.segments import LEAST_FRAMES, Window, check_overlap
from pdsim.settings.section import Name, Section


class TableWindow(Section):
    """A stretch of a run: in frames, in seconds, or all of it."""

    run: Annotated[Name, BeforeValidator(text_of_number)] = Field(
        description="name of the run: the file's stem, or its key under `files`"
    )
    frames: tuple[int, int] | None = Field(
        None, description="first frame, and the one after the last"
    )
    seconds: tuple[float, float] | None = Field(None, description="from the run's first frame [s]")
    name: Name | None = Field(None, description="what the report calls it")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.frames is not None and self.seconds is not None:
            raise ValueError("has frames and seconds; leave one of them out")
        first, last = self.frames or self.seconds or (0, 1)
        if first < 0 or last <= first:
            raise ValueError(f"{first} to {last}: must start at 0 or later, and end after it")
        return self

    def within(
        self, split: str, frames: Mapping[str, int] | None, frame_time: float | None
    ) -> Window | None:
        """Return the window in frames, or None where they are not known yet.

        Args:
            frames: length of each run; None before any was read.
            frame_time: [s]; None if unknown.

        Raises:
            ValueError: it goes beyond the run, or is too short.
        """
        length = frames[self.run] if frames is not None else None
        if self.frames is not None:
            first, last = self.frames
        elif self.seconds is not None and frame_time is not None:
            first, last = (round(second / frame_time) for second in self.seconds)
        elif self.seconds is None and length is not None:
            first, last = 0, length
        else:
            return None
        if length is not None and last > length:
            asked = f"seconds {list(self.seconds)}, " if self.seconds else ""
            lasts = f", that is {length * frame_time:.6g} s" if frame_time is not None else ""
            raise ValueError(
                f"{split}: run {self.run}: {asked}frames {first}:{last} go beyond its {length:,} "
                f"frames{lasts}"
            )
        return _long_enough(Window(split, self.run, first, last, self.name or ""))


def _long_enough(window: Window) -> Window:
    if window.last - window.first < LEAST_FRAMES:
        raise ValueError(
            f"{window.split}: run {window.run}, frames {window.first}:{window.last}, is too short; "
            f"a window needs {LEAST_FRAMES} frames"
        )
    return window


def stretches(
    train: Sequence[TableWindow],
    test: Sequence[TableWindow],
    test_share: float | None,
    frames: Mapping[str, int] | None,
    frame_time: float | None,
) -> list[Window] | None:
    """Return every window in frames, those for training first; None where one is not known yet.

    Args:
        test_share: last share of each training window that is kept for testing.
        frames, frame_time: as in ``TableWindow.within``.

    Raises:
        ValueError: a window cannot be, or test overlaps train.
    """
    entries = [("train", entry) for entry in train] + [("test", entry) for entry in test]
    found = [entry.within(split, frames, frame_time) for split, entry in entries]
    windows = [window for window in found if window is not None]
    if test_share is not None:
        parts = [_parted(window, test_share) for window in windows]
        windows = [part[0] for part in parts] + [part[1] for part in parts]
    pairs = {
        split: [(w.run, (w.first, w.last)) for w in windows if w.split == split]
        for split in ("train", "test")
    }
    check_overlap(pairs["train"], pairs["test"])
    return windows if None not in found else None


def _parted(window: Window, share: float) -> tuple[Window, Window]:
    border = window.last - round(share * (window.last - window.first))
    kept, held_out = window._replace(last=border), window._replace(split="test", first=border)
    return _long_enough(kept), _long_enough(held_out)
