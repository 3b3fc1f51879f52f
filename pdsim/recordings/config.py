"""Section ``recording`` of an experiment: where data come from, and how they are cut."""

from typing import Literal

import numpy as np
from pydantic import Field, model_validator

from pdsim.config.runs import Count, Positive, Section


class FrameWindow(Section):
    """A stretch of one recorded run."""

    run: int = Field(ge=0, description="number of the run: the file is `<run>.csv`")
    through: int | None = Field(
        None, description="last run, where this one and those up to it have the same frames"
    )
    frames: tuple[int, int] = Field(description="first frame, and the one after the last")

    @model_validator(mode="after")
    def _check(self) -> "FrameWindow":
        first, last = self.frames
        if first < 0 or last - first < 20:
            raise ValueError(f"frames {first}:{last} must start at 0 or later and hold 20 or more")
        if self.through is not None and self.through < self.run:
            raise ValueError(f"through ({self.through}) must not be below run ({self.run})")
        return self

    def each(self) -> "list[FrameWindow]":
        """One window for each run it names."""
        last = self.run if self.through is None else self.through
        return [FrameWindow(run=run, frames=self.frames) for run in range(self.run, last + 1)]


class SmoothingConfig(Section):
    """Savitzky–Golay filter that estimates start states."""

    frames: int = Field(11, ge=3, description="odd length of the filter [frames]")
    order: int = Field(4, ge=1, description="order of the polynomial")

    @model_validator(mode="after")
    def _check(self) -> "SmoothingConfig":
        if self.frames % 2 == 0 or self.order >= self.frames:
            raise ValueError(
                f"frames ({self.frames}) must be odd and larger than order ({self.order})"
            )
        return self


class SyntheticRun(Section):
    """One simulated run of the camera."""

    q: tuple[float, float] = Field(description="start angles q0, q1 [rad]")
    dq: tuple[float, float] = Field((0.0, 0.0), description="start rates [rad/s]")
    parameters: dict[str, float] = Field(
        {}, description="system parameters of this run that differ from `camera.parameters`"
    )


class PopulationConfig(Section):
    """A Gaussian from which the parameters of each run are drawn (Sec. V-A)."""

    parameters: dict[str, tuple[str, ...]] = Field(
        min_length=1, description="name as under `simulator.parameters`, and what it sets"
    )
    mean: tuple[float, ...] = Field(description="in the order of `parameters`")
    covariance: tuple[tuple[float, ...], ...] = Field(description="in the order of `parameters`")
    run_count: Count = Field(description="runs; each starts as the first of `camera.runs`")
    seed: int = Field(0, description="of the draws")

    @model_validator(mode="after")
    def _check(self) -> "PopulationConfig":
        size = len(self.parameters)
        matrix = np.array([row + (0.0,) * (size - len(row)) for row in self.covariance])
        if len(self.mean) != size or matrix.shape != (size, size):
            raise ValueError(f"mean and covariance need {size} rows, one for each of parameters")
        if not np.array_equal(matrix, matrix.T) or np.linalg.eigvalsh(matrix).min() <= 0:
            raise ValueError(f"covariance must be symmetric and positive (got {self.covariance})")
        return self


class CameraConfig(Section):
    """A synthetic camera in front of a double pendulum with known parameters."""

    parameters: dict[str, float] = Field(
        description="the truth: system parameters in the system's units; others at their defaults"
    )
    runs: tuple[SyntheticRun, ...] = Field(min_length=1, description="one recording each")
    frame_count: int = Field(ge=20, description="length of every run [frames]")
    pixels_per_metre: Positive = Field(description="image scale [pixel/m]")
    link_2_length: Positive = Field(description="from joint 1 to the tip marker [m]")
    pivot_drift: float = Field(2.0, ge=0, description="amplitude of the pivot's drift [pixel]")
    population: PopulationConfig | None = Field(
        None, description="draw each run's parameters from a distribution"
    )

    @property
    def run_count(self) -> int:
        """Number of runs the camera records."""
        return self.population.run_count if self.population else len(self.runs)


class RecordingConfig(Section):
    """Where the data come from and how they are cut."""

    source: Literal["ibm", "camera"] = Field(description="a data source of pdsim/recordings")
    rate_hz: Positive = Field(description="nominal frame rate [Hz]")
    train: tuple[FrameWindow, ...] = Field(min_length=1, description="what estimators see")
    test: tuple[FrameWindow, ...] = Field(min_length=1, description="held out, for metrics")
    smoothing: SmoothingConfig = SmoothingConfig()
    camera: CameraConfig | None = Field(None, description="for source `camera` only")

    @model_validator(mode="after")
    def _check(self) -> "RecordingConfig":
        if (self.source == "camera") != (self.camera is not None):
            raise ValueError("`camera` belongs to source `camera`, and that source needs it")
        train, test = self.windows("train"), self.windows("test")
        lengths = {last - first for first, last in (w.frames for w in train + test)}
        if len(lengths) != 1:
            raise ValueError(f"all windows must have one length, not {sorted(lengths)} frames")
        if min(lengths) <= self.smoothing.frames:
            raise ValueError("windows must be longer than smoothing.frames")
        shared = {(w.run, w.frames) for w in train} & {(w.run, w.frames) for w in test}
        if shared:
            raise ValueError(f"run and frames {sorted(shared)} are in train and in test")
        if self.camera is not None:
            for window in train + test:
                if window.run >= self.camera.run_count:
                    raise ValueError(
                        f"run {window.run} does not exist: the camera records "
                        f"{self.camera.run_count}, from 0"
                    )
                if window.frames[1] > self.camera.frame_count:
                    raise ValueError(
                        f"frames {window.frames} go beyond camera.frame_count "
                        f"({self.camera.frame_count})"
                    )
        return self

    def windows(self, split: str) -> list[FrameWindow]:
        """Windows of one split, one for each run."""
        chosen = self.train if split == "train" else self.test
        return [window for entry in chosen for window in entry.each()]

    def run_numbers(self) -> list[int]:
        """Numbers of all runs the windows name."""
        return sorted({w.run for split in ("train", "test") for w in self.windows(split)})
