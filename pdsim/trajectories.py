"""The layout of a set of trajectories, and how it is cut into shooting windows.

A trajectories file has dims ``(trajectory, time, channel)`` and holds

- ``observed``: what the sensors showed; velocities are finite differences at the nominal rate,
- ``smoothed``: the state estimated from the positions by a local polynomial,
- ``split``: ``train`` or ``test`` for each trajectory; ``source``, ``first_frame``, ``sha256``.
"""

from dataclasses import dataclass

import numpy as np
import xarray as xr
from scipy.signal import savgol_filter

from pdsim.errors import PdsimError
from pdsim.systems.system import System


@dataclass(frozen=True)
class Smoothing:
    """A Savitzky–Golay filter: a polynomial of ``order`` over ``frames`` frames."""

    frames: int
    order: int


def finite_differences(position: np.ndarray, frame_time: float) -> np.ndarray:
    """Central differences along the first axis, one-sided at the ends (appendix II-B)."""
    return np.gradient(position, frame_time, axis=0)


def smoothed_state(position: np.ndarray, frame_time: float, smoothing: Smoothing) -> np.ndarray:
    """Positions and velocities from a Savitzky–Golay filter.

    Args:
        position: (time, joint) [rad].

    Returns:
        (time, 2·joint): smoothed positions [rad], then velocities [rad/s].
    """
    filtered = [
        savgol_filter(
            position, smoothing.frames, smoothing.order, deriv=deriv, delta=frame_time, axis=0
        )
        for deriv in (0, 1)
    ]
    return np.concatenate(filtered, axis=1)


def cut(
    position: np.ndarray, first: int, last: int, frame_time: float, smoothing: Smoothing
) -> tuple[np.ndarray, np.ndarray]:
    """Take frames ``first:last`` of a longer run as (observed, smoothed) states.

    Filters and differences see the frames around the window, so its ends are as good as its
    middle; only at the ends of the recording are they one-sided. Whole turns are taken off so
    that every window starts with its angles in [−π, π]: runs become comparable.
    """
    margin = 2 * smoothing.frames
    low, high = max(first - margin, 0), min(last + margin, len(position))
    around = position[low:high]
    around = around - 2 * np.pi * np.round(position[first] / (2 * np.pi))
    observed = np.concatenate([around, finite_differences(around, frame_time)], axis=1)
    smoothed = smoothed_state(around, frame_time, smoothing)
    window = slice(first - low, last - low)
    return observed[window], smoothed[window]


def trajectory_set(
    system: System, observed, smoothed, *, frame_time: float, split, source, attributes
) -> xr.Dataset:
    """Assemble the dataset of a trajectories file.

    Args:
        observed: (trajectory, time, channel), in the system's channel units.
        smoothed: (trajectory, time, state).
        frame_time: [s].
        split: "train" or "test" for each trajectory.
        source: where each trajectory came from, a mapping of name → one value per trajectory.
        attributes: provenance of the whole set.
    """
    count, frames, _ = observed.shape
    return xr.Dataset(
        {
            "observed": (("trajectory", "time", "channel"), observed),
            "smoothed": (("trajectory", "time", "state"), smoothed),
        },
        coords={
            "trajectory": np.arange(count),
            "time": ("time", np.arange(frames) * frame_time, {"units": "s"}),
            "channel": [channel.name for channel in system.channels],
            "channel_unit": ("channel", [channel.unit for channel in system.channels]),
            "channel_kind": ("channel", [channel.kind for channel in system.channels]),
            "state": list(system.state),
            "split": ("trajectory", list(split)),
            **{name: ("trajectory", list(values)) for name, values in source.items()},
        },
        attrs={"frame_time": frame_time, **attributes},
    )


def select(trajectories: xr.Dataset, split: str) -> xr.Dataset:
    """Return the training or test trajectories."""
    chosen = trajectories.isel(trajectory=np.flatnonzero(trajectories["split"].values == split))
    if chosen.sizes["trajectory"] == 0:
        raise PdsimError(f"the trajectories hold none of split {split!r}")
    return chosen


def windows(observed: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Cut trajectories into shooting windows (Sec. IV-C).

    Window w starts at frame w·h and predicts frames w·h + 1 … (w + 1)·h; the last frame it
    predicts is the frame at which the next window starts.

    Args:
        observed: (trajectory, time, channel); frame 0 is the start and is not predicted.
        count: number of windows.

    Returns:
        ``(targets, starts)``: targets (h, trajectory, window, channel), NaN beyond the recording
        in the last window; the frame each window starts at, (window,).
    """
    trajectories, frames, channels = observed.shape
    length = -(-(frames - 1) // count)
    if length * (count - 1) >= frames - 1:
        raise PdsimError(
            f"{frames} frames cannot be cut into {count} windows; use at most {(frames - 1) // 2}"
        )
    padded = np.full((trajectories, count * length, channels), np.nan)
    padded[:, : frames - 1] = observed[:, 1:]
    targets = padded.reshape(trajectories, count, length, channels)
    return np.moveaxis(targets, 2, 0), np.arange(count) * length
