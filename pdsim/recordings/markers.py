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

# Offsets are found where an information's eigenvalues differ by less than this, and to this share
# of a link's length.
_FLAT, _UNSURE = 1e-9, 2e-3


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


def moved_onto_axes(pixels: np.ndarray, origin: str) -> np.ndarray:
    """Pixels of markers that sit beside the joints' axes, as if they sat on them.

    Markers at other distances from the camera than their axes, or not glued quite on them, show
    the links l₁ and l₂, of directions u and w, with u⊥ across u, as

        v₁ = l₁ u + a        v₂ = l₂ w + b + c u + d u⊥

    Links are rigid: a, b, c, d and both lengths are those for which the lengths of v₁ − a and
    v₂ − b − c u − d u⊥ change least over the run (least squares). A run that goes around
    determines them.

    Args:
        pixels: (frame, marker, 2).
        origin: file they are from, for messages.

    Returns:
        Of the same shape; the pivot stays where it was seen.

    Raises:
        PdsimError: the run moves too little for it.
    """
    # Imported here: every job reads an experiment, and SciPy takes as long to load as half of JAX.
    from scipy.optimize import least_squares

    first, second = np.moveaxis(np.diff(pixels, axis=1), 1, 0)
    sizes = np.array([np.linalg.norm(v, axis=1).mean() for v in (first, second)])

    def links(x):
        """Of a, b, (c, d) and lengths, all over the mean lengths seen."""
        one = first - sizes[0] * x[:2]
        u = one / np.linalg.norm(one, axis=1, keepdims=True)
        across = np.stack([-u[:, 1], u[:, 0]], axis=1)
        return one, second - sizes[1] * (x[2:4] + x[4] * u + x[5] * across)

    def stretched(x):
        return np.concatenate(
            [
                np.linalg.norm(link, axis=1) / size - length
                for link, size, length in zip(links(x), sizes, x[6:], strict=True)
            ]
        )

    found = least_squares(stretched, np.array([0.0] * 6 + [1.0, 1.0]))
    scatter = 2 * found.cost / max(len(found.fun) - len(found.x), 1)
    information = found.jac.T @ found.jac
    errors = np.sqrt(np.maximum(scatter * np.diagonal(np.linalg.pinv(information)), 0.0))
    if np.linalg.cond(information) > 1 / _FLAT or errors[:6].max() > _UNSURE:
        raise PdsimError(
            f"{origin}: recording.marker_offsets: links turn too little in this run to tell a "
            "marker's offset from a link's length; leave this key out"
        )
    return pixels[:, :1] + np.cumsum([np.zeros_like(first), *links(found.x)], axis=0).swapaxes(0, 1)


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


def read_markers(
    path: str, run: str, digest: str, frame_time: float, system: System, *, offsets: bool = False
) -> Recording:
    """Read a run of the double pendulum: both angles are observed, nothing acts on it.

    Args:
        digest: SHA-256 of the file.
        frame_time: [s].
        offsets: whether markers sit beside their axes (``moved_onto_axes``).
    """
    pixels = read_pixels(path)
    angles = joint_angles(moved_onto_axes(pixels, path) if offsets else pixels)
    observed = np.full((len(angles), len(system.channels)), np.nan)
    observed[:, :2] = angles
    nothing = np.zeros((len(angles), 0))
    count = len(system.state)
    return unsmoothed(run, frame_time, observed, nothing, count, source=path, sha256=digest)
