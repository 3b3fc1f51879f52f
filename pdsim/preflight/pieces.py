"""Recordings cut into pieces of one length, each simulated from its own start."""

import numpy as np
import xarray as xr

from pdsim.trajectories import inputs_of


def pieces(train: xr.Dataset, frames: int) -> tuple[np.ndarray, np.ndarray]:
    """Starts (piece, S) and inputs (piece, frame, I) of whole pieces, one after the other.

    Args:
        train: training trajectories.
        frames: of a piece, beyond its start; those of the shortest recording where it has fewer.
    """
    inputs = inputs_of(train)
    frames = min(frames, int(train["length"].values.min()) - 1)
    places = [
        (i, first)
        for i, length in enumerate(train["length"].values)
        for first in range(0, int(length) - frames, frames)
    ]
    starts = np.stack([train["states"].values[i, first] for i, first in places])
    drives = np.stack([inputs[i, first : first + frames] for i, first in places])
    return starts, drives
