"""Which stretches of the recordings are learned from, and which are held out.

A stretch is about as long as the slowest joint swings once, and cut out of what moves. Two are
learned from: from two recordings where there are several, of which the last third is held out; of
one recording alone stretches are taken in turn, two of them to learn from. They stand at different
places, since a motion that dies down says different things at its begin and its end.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from pdsim.recordings.cut import filled_gaps, position_columns
from pdsim.recordings.recording import Recording
from pdsim.recordings.segments import LEAST_FRAMES
from pdsim.recordings.smoothing import finite_differences, white_noise
from pdsim.runtime.errors import PdsimError
from pdsim.systems.system import System

# Frames of a stretch, where the recording is long enough: more cost more, and fewer say little.
SHORTEST, LONGEST = 200, 500
# Stretches learned from, and those held out at most.
_LEARNED, _HELD_OUT = 2, 8
# Of the noise, what a position scatters by where something moves.
_STIRS = 3.0
# Rates below this share of their mean square root are rest.
_REST = 0.05


class Stretches(NamedTuple):
    """Windows as the section `recording` has them, and why.

    Attributes:
        train, test: run and frames of each.
        frames: of each.
        period: of the slowest joint [s].
        reasons: by key.
    """

    train: list[dict[str, Any]]
    test: list[dict[str, Any]]
    frames: int
    period: float
    reasons: dict[str, str]


def positions_of(run: Recording, system: System) -> np.ndarray:
    """Positions of the state as they were observed, gaps filled, (frame, joint)."""
    return filled_gaps(run.observed[:, [column for column, _ in position_columns(system)]])


def moving_part(run: Recording, system: System) -> tuple[int, int]:
    """First frame that moves, and the one after the last."""
    positions = positions_of(run, system)
    rates = finite_differences(positions, run.frame_time)
    scale = np.sqrt((rates**2).mean(axis=0))
    noise = white_noise(positions[None])
    if not ((scale > 0) & (positions.std(axis=0) > _STIRS * noise)).any():
        raise PdsimError(f"{run.source}: nothing moves in run {run.run}; leave this file out")
    speed = ((rates[:, scale > 0] / scale[scale > 0]) ** 2).mean(axis=1)
    # Over a few frames, so that noise is no motion.
    kept = min(LEAST_FRAMES, len(speed))
    speed = np.convolve(speed, np.full(kept, 1 / kept), mode="same")
    moving = np.flatnonzero(speed > _REST**2 * speed.mean())
    return int(moving[0]), int(moving[-1]) + 1


def slowest_period(runs: Mapping[str, Recording], system: System) -> float:
    """2π · deviation of the position over that of its rate, of the slowest joint [s]."""
    slowest = 0.0
    for run in runs.values():
        q = positions_of(run, system)
        rates = finite_differences(q, run.frame_time).std(axis=0)
        moved = rates > 0
        if moved.any():
            slowest = max(slowest, float((2 * np.pi * q.std(axis=0)[moved] / rates[moved]).max()))
    return slowest


def choose_stretches(runs: Mapping[str, Recording], system: System) -> Stretches:
    """Choose what is learned from and what is held out.

    Raises:
        PdsimError: nothing moves, or it does not move for long enough.
    """
    parts = {name: moving_part(run, system) for name, run in runs.items()}
    period = slowest_period(runs, system)
    frame_time = next(iter(runs.values())).frame_time
    wanted = int(np.clip(round(period / frame_time), SHORTEST, LONGEST))
    names = list(runs)
    if len(names) == 1:
        return _of_one(names[0], parts[names[0]], wanted, period, runs)
    held = names[-max(1, len(names) // 3) :]
    learned = names[: -len(held)][:_LEARNED]
    spare = names[len(learned) : -len(held)]
    # Twice as much as is learned from one of them, so that stretches of it do not touch.
    shares = dict.fromkeys(held, 1) | dict.fromkeys(learned, 2 * _LEARNED // len(learned))
    room = min((parts[name][1] - parts[name][0]) // share for name, share in shares.items())
    frames = _checked(min(wanted, room), runs)
    owners = [learned[i * len(learned) // _LEARNED] for i in range(_LEARNED)]
    train = [
        _stretch(name, parts[name], place, frames)
        for name, place in zip(owners, np.linspace(0.0, 1.0, _LEARNED + 2)[1:-1], strict=True)
    ]
    test = [
        _stretch(name, parts[name], place, frames)
        for name in held
        for place in _places(parts[name], frames, max(1, _HELD_OUT // len(held)))
    ]
    seconds = frames * frame_time
    reasons = {
        "train": f"{len(train)} stretches of {frames} frames ({seconds:.3g} s), from "
        f"{' and '.join(learned)}: the slowest joint takes {period:.3g} s for a swing"
        + (f"; {_some(spare)} not used" if spare else ""),
        "test": f"{len(test)} stretches from {len(held)} of {len(names)} recordings, of which "
        "nothing is learned",
    }
    return Stretches(train, test, frames, period, reasons)


def _some(names: list[str]) -> str:
    """The subject of a sentence: one name, or how many."""
    return f"{names[0]} is" if len(names) == 1 else f"{names[0]} to {names[-1]} are"


def _places(part: tuple[int, int], frames: int, most: int) -> np.ndarray:
    """Places of stretches that do not overlap, 0 the begin of a part and 1 its end."""
    count = min(most, (part[1] - part[0]) // frames)
    return np.linspace(0.0, 1.0, count) if count > 1 else np.array([0.5])


def _of_one(
    name: str,
    part: tuple[int, int],
    wanted: int,
    period: float,
    runs: Mapping[str, Recording],
) -> Stretches:
    """One recording: stretches in turn."""
    moving = part[1] - part[0]
    count = min(moving // wanted, _LEARNED + _HELD_OUT)
    if count < 2 * _LEARNED:
        count = 2 * _LEARNED if moving >= 2 * _LEARNED * SHORTEST // 2 else 2
    frames = _checked(min(wanted, moving // count), runs)
    pieces = [_stretch(name, part, place, frames) for place in np.linspace(0.0, 1.0, count)]
    own = {0, count // 2} if count >= 2 * _LEARNED else {0}
    train = [piece for i, piece in enumerate(pieces) if i in own]
    test = [piece for i, piece in enumerate(pieces) if i not in own]
    seconds = frames * runs[name].frame_time
    reasons = {
        "train": f"{len(train)} of {count} stretches of {frames} frames ({seconds:.3g} s): the "
        f"slowest joint takes {period:.3g} s for a swing",
        "test": "the other stretches of the same recording: there is no second one to hold out",
    }
    return Stretches(train, test, frames, period, reasons)


def _stretch(name: str, part: tuple[int, int], place: float, frames: int) -> dict[str, Any]:
    first = part[0] + int(place * (part[1] - part[0] - frames))
    return {"run": name, "frames": [first, first + frames]}


def _checked(frames: int, runs: Mapping[str, Recording]) -> int:
    least = 2 * LEAST_FRAMES
    if frames < least:
        run = next(iter(runs.values()))
        raise PdsimError(
            f"{run.source}: what moves would give stretches of {frames} frames to learn from and "
            f"to hold out; {least} are needed: record for longer, or at a higher rate"
        )
    return frames
