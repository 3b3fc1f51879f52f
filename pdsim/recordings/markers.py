"""Marker pixels of a two-link pendulum to joint angles.

A recording in the IBM format has no header and six integers a line: (a, b) of pivot, elbow and
tip. **The first number of each pair is vertical and grows downwards, the second is horizontal.**
With the two exchanged gravity points sideways and no parameters fit, yet everything runs.
"""

from pathlib import Path

import numpy as np

from pdsim.recordings.recording import Recording, unsmoothed
from pdsim.runtime.errors import PdsimError
from pdsim.systems.system import System


def read_pixels(path: str | Path) -> np.ndarray:
    """Read a recording, shape (frame, marker, 2) with the last axis (down, across) [pixel]."""
    if not Path(path).read_bytes().strip():
        raise PdsimError(f"{path}: is empty; record it again, or name another --raw")
    try:
        table = np.loadtxt(path, delimiter=",", ndmin=2)
    except (OSError, ValueError) as error:
        raise PdsimError(
            f"{path}: cannot be read as comma-separated numbers: {error}; the format is six "
            "columns without a header, (down, across) of pivot, elbow and tip in pixels"
        ) from error
    if table.shape[1] != 6 or len(table) < 3:
        raise PdsimError(
            f"{path}: {table.shape[0]} lines of {table.shape[1]} columns, but the format has six "
            "columns, (down, across) of pivot, elbow and tip, and at least 3 lines"
        )
    if not np.isfinite(table).all():
        line = int(np.flatnonzero(~np.isfinite(table).all(axis=1))[0]) + 1
        raise PdsimError(f"{path}: line {line} holds a value that is not a finite number")
    return table.reshape(-1, 3, 2)


def joint_angles(pixels: np.ndarray) -> np.ndarray:
    """Absolute angle of link 1 and relative angle of link 2.

    The pivot drifts by pixels within and between runs; differences of successive markers do not
    see it, nor the image scale. Each absolute angle is atan2(across, down), 0 when hanging,
    unwrapped over the whole run before they are subtracted.

    Args:
        pixels: (frame, marker, 2).

    Returns:
        (frame, 2): q0, q1 [rad].
    """
    links = np.diff(pixels, axis=1)
    absolute = np.unwrap(np.arctan2(links[..., 1], links[..., 0]), axis=0)
    return np.stack([absolute[:, 0], absolute[:, 1] - absolute[:, 0]], axis=1)


def check_markers(system: System) -> None:
    """Refuse a system whose recordings markers cannot be.

    Raises:
        PdsimError: names the key below ``recording``.
    """
    names = [channel.name for channel in system.channels]
    if names[:2] != ["q0", "q1"] or system.inputs:
        raise PdsimError(
            "recording.source: markers show the angles q0 and q1 of a free double pendulum, but "
            f"{system.name} has channels {', '.join(names)}"
            + (f" and inputs {', '.join(i.name for i in system.inputs)}" if system.inputs else "")
        )


def read_markers(path: str, run: str, digest: str, frame_time: float, system: System) -> Recording:
    """Read a run of the double pendulum: both angles are observed, nothing acts on it.

    Args:
        digest: SHA-256 of the file.
        frame_time: [s].
    """
    angles = joint_angles(read_pixels(path))
    observed = np.full((len(angles), len(system.channels)), np.nan)
    observed[:, :2] = angles
    nothing = np.zeros((len(angles), 0))
    count = len(system.state)
    return unsmoothed(run, frame_time, observed, nothing, count, source=path, sha256=digest)
