"""Recordings cut into pieces of one length, each simulated from its own start."""

from typing import NamedTuple

import numpy as np
import xarray as xr

from pdsim.recordings.trajectories import inputs_of

# Pieces that are looked at, at most; of more, as many are spread over them.
MOST = 12


class Pieces(NamedTuple):
    """Pieces that stand for whole recordings.

    Attributes:
        starts: (piece, S).
        inputs: (piece, frame, I).
        share: of all pieces.
    """

    starts: np.ndarray
    inputs: np.ndarray
    share: float


def pieces(train: xr.Dataset, frames: int) -> Pieces:
    """Cut recordings into whole pieces, one after the other.

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
    kept = np.linspace(0, len(places) - 1, min(MOST, len(places))).astype(int)
    starts = np.stack([train["states"].values[i, first] for i, first in np.array(places)[kept]])
    drives = np.stack([inputs[i, first : first + frames] for i, first in np.array(places)[kept]])
    return Pieces(starts, drives, len(kept) / len(places))
