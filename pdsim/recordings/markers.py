"""Marker pixels of a two-link pendulum to joint angles.

A recording in the IBM format has no header and six integers a line: (a, b) of pivot, elbow and
tip. **The first number of each pair is vertical and grows downwards, the second is horizontal.**
With the two exchanged gravity points sideways and no parameters fit, yet everything runs.
"""

import logging
from itertools import product
from pathlib import Path

import numpy as np

from pdsim.recordings.channels import unwrapped
from pdsim.recordings.plausible import check_motion, warn
from pdsim.recordings.raw_file import check_text_fits, check_there
from pdsim.recordings.recording import Recording, unsmoothed
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import sha256
from pdsim.systems.system import System

log = logging.getLogger(__name__)

# No image has as many [pixel].
_LARGEST_PIXEL = 1e9
# What to do about frames that a camera lost; its format has no sign for them.
_OTHER_WINDOWS = "choose windows without these lines (recording.train and recording.test)"
# Offsets are found where an information's eigenvalues differ by less than this, and to this share
# of a link's length.
_FLAT, _UNSURE = 1e-9, 2e-3


def read_pixels(path: str | Path) -> np.ndarray:
    """Read a recording, shape (frame, marker, 2) with the last axis (down, across) [pixel]."""
    check_there(path, "a run of six columns of pixels")
    check_text_fits(path)
    lines = Path(path).read_bytes().rstrip().splitlines()
    if not lines:
        raise PdsimError(f"{path}: is empty; record it again, or name another --raw")
    try:
        # A line that is commented out would close up the time around it.
        table = np.loadtxt(lines, delimiter=",", ndmin=2, comments=None, encoding="utf-8")
    except (OSError, ValueError) as error:
        raise PdsimError(
            f"{path}: cannot be read as comma-separated numbers: {error}; the format is six "
            "columns without a header, (down, across) of pivot, elbow and tip in pixels"
        ) from error
    if len(table) < len(lines):
        line = next(i for i, text in enumerate(lines, 1) if not text.strip())
        raise PdsimError(
            f"{path}: line {line} is empty, and the time around it would close up; record it again"
        )
    if table.shape[1] != 6 or len(table) < 3:
        raise PdsimError(
            f"{path}: {table.shape[0]} lines of {table.shape[1]} columns, but the format has six "
            "columns, (down, across) of pivot, elbow and tip, and at least 3 lines"
        )
    if not np.isfinite(table).all():
        line = int(np.flatnonzero(~np.isfinite(table).all(axis=1))[0]) + 1
        raise PdsimError(f"{path}: line {line} holds a value that is not a finite number")
    return table.reshape(-1, 3, 2)


def _check_pixels(pixels: np.ndarray, path: str) -> None:
    """Refuse pixels that no markers of two links have, and tell of those that look lost."""
    for i, (marker, axis) in enumerate(product(("pivot", "elbow", "tip"), ("down", "across"))):
        column = pixels.reshape(-1, 6)[:, i]
        where = f"{path}: column {i + 1}, {marker} {axis},"
        largest = np.flatnonzero(np.abs(column) > _LARGEST_PIXEL)
        if len(largest):
            raise PdsimError(
                f"{where} holds {column[largest[0]]:.6g} in line {largest[0] + 1}, and no image "
                f"has more than {_LARGEST_PIXEL:,.0f} pixels; record it again"
            )
        if np.ptp(column) > 0:
            warn(column, where.rstrip(","), _OTHER_WINDOWS)
    links = np.diff(pixels, axis=1)
    lost = np.flatnonzero((links == 0).all(axis=2).any(axis=1))
    if len(lost):
        told = (
            f"{path}: two markers are on one point in {len(lost):,} of {len(pixels):,} lines "
            f"({100 * len(lost) / len(pixels):.3g} %), first in line {lost[0] + 1}"
        )
        if len(lost) > len(pixels) / 2:
            raise PdsimError(f"{told}, so no link has a direction; record it again")
        log.warning("%s; the angles there are taken as not observed", told)
    turned = np.arctan2(links[..., 1], links[..., 0])
    positions = [("link 1", turned[:, 0], True), ("link 2", turned[:, 1], True)]
    check_motion(positions, path, "the markers were not followed: record it again")


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
        (frame, 2): q0, q1 [rad]; NaN where two markers are on one point.
    """
    links = np.diff(pixels, axis=1)
    turned = np.arctan2(links[..., 1], links[..., 0])
    turned[(links == 0).all(axis=2)] = np.nan
    absolute = np.stack([unwrapped(link) for link in turned.T], axis=1)
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
    path: str, run: str, frame_time: float, system: System, *, offsets: bool = False
) -> Recording:
    """Read a run of the double pendulum: both angles are observed, nothing acts on it.

    Args:
        frame_time: [s].
        offsets: whether markers sit beside their axes (``moved_onto_axes``).
    """
    pixels = read_pixels(path)
    _check_pixels(pixels, path)
    angles = joint_angles(moved_onto_axes(pixels, path) if offsets else pixels)
    observed = np.full((len(angles), len(system.channels)), np.nan)
    observed[:, :2] = angles
    nothing = np.zeros((len(angles), 0))
    count = len(system.state)
    return unsmoothed(run, frame_time, observed, nothing, count, source=path, sha256=sha256(path))
