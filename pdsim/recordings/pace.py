"""Whether frames are as far apart as those of a robot: stamps in ms that are read as s are not."""

import logging

from pdsim.units.conversion import conversion

log = logging.getLogger(__name__)

# Time between frames: fast drives are sampled at 100 kHz, slow plants twice a second [s].
_SHORTEST, _LONGEST = 1e-5, 0.5
# Units that stamps may be in, the likeliest first.
_UNITS = ("s", "ms", "us", "ns")


def doubt(frame_time: float) -> str:
    """Say of a time between frames [s] that no robot is recorded at; empty where one may be."""
    if _SHORTEST <= frame_time <= _LONGEST:
        return ""
    return f"steps of {frame_time:.4g} s between frames, and robots are recorded every 1 to 20 ms"


def suspicion(frame_time: float) -> str:
    """The same as the first words of a message about what follows from it."""
    told = doubt(frame_time)
    return f"recording: {told}: is their unit right? If it is, " if told else ""


def warn_of_rate(frame_time: float, source: str) -> None:
    """Tell of a rate of the config that no robot is recorded at."""
    if told := doubt(frame_time):
        log.warning("%s: recording.rate_hz: %s; is the rate right?", source, told)


def warn_of_stamps(frame_time: float, column: str, unit: str, source: str) -> None:
    """Tell of time stamps that no robot is recorded at, and what they may be.

    Args:
        column: of the stamps, which are taken to be in ``unit``.
        source: the file.
    """
    told = doubt(frame_time)
    if not told:
        return
    step = frame_time / conversion(unit, "s")
    likely = [other for other in _UNITS if not doubt(step * conversion(other, "s"))]
    asked = [f"are the stamps in {likely[0]}? Then write unit: {likely[0]}"] if likely else []
    if step == 1:
        asked.append("does the column count rows? Then leave time out, and write rate_hz")
    log.warning("%s: column %r: %s; %s", source, column, told, "; ".join(asked))
