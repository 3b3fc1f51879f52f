"""The layout of a set of trajectories, and how it is cut into shooting windows.

A trajectories file has dims ``(trajectory, time, channel)`` and holds

- ``observed``: what the sensors showed; velocities are finite differences at the nominal rate,
- ``smoothed``: the state estimated from the positions by a local polynomial,
- ``split``: ``train`` or ``test`` for each trajectory; ``source``, ``first_frame``, ``sha256``.
"""

import numpy as np
import xarray as xr

from pdsim.runtime.errors import PdsimError
from pdsim.systems.system import System


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
