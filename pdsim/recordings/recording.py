"""The type every source returns: one run of a real or simulated system."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Recording:
    """One run, or a window of one.

    Attributes:
        run: its name.
        frame_time: between two frames [s].
        observed: (frame, channel) in the system's units, NaN where nothing was observed.
        input: (frame, input); row k acts from frame k to k + 1.
        states: (frame, state) estimated or measured, first guesses of window starts; NaN unknown.
        start: (state,) at the first frame.
        start_covariance: (state, state) of the error of ``start``.
        truth: the true values of system parameters, those that are known.
        first_frame: of the run, at which this window starts.
        derived: names of channels that are finite differences of others, no data of their own.
        segment: the window's name in the config; empty if it has none.
        source: the raw file.
        sha256: of the raw file.
    """

    run: str
    frame_time: float
    observed: np.ndarray
    input: np.ndarray
    states: np.ndarray
    start: np.ndarray
    start_covariance: np.ndarray
    truth: Mapping[str, float] = field(default_factory=dict)
    first_frame: int = 0
    derived: tuple[str, ...] = ()
    segment: str = ""
    source: str = ""
    sha256: str = ""

    @property
    def frames(self) -> int:
        """Number of frames."""
        return len(self.observed)


def unsmoothed(
    run: str,
    frame_time: float,
    observed: np.ndarray,
    input: np.ndarray,
    state_count: int,
    **known,
) -> Recording:
    """Return a whole run as a source reads it, before anything is known of its states."""
    unknown = np.full((len(observed), state_count), np.nan)
    return Recording(
        run,
        frame_time,
        observed,
        input,
        unknown,
        unknown[0],
        np.full((state_count, state_count), np.nan),
        **known,
    )
