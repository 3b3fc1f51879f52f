"""Whether numbers can be what a sensor saw of a motion: lost samples, spikes, freezes, noise alone.

A motion is smooth at the rate of its recording: the steps from row to row tell how fast it can be,
and a sample that steps away by far more and comes back was not measured. All is compared with the
steps of the same column, so that no unit, rate or size of a robot is assumed. Most findings are
warnings, since a collision or a slow camera may do nearly the same; what is beyond every machine,
or random from row to row in every position, is refused.
"""

import logging
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pdsim.runtime.errors import PdsimError

log = logging.getLogger(__name__)

# Fewer rows than this tell nothing.
_LEAST = 20
# Steps away, over the 90 % quantile of the steps: none of a motion is so much larger.
_JUMP = 10.0
# A spike is at most so many rows long; its surroundings step by less than this share of it.
_LONGEST_SPIKE, _CALM = 3, 0.2
# A sensor that shows one number for so many rows, and then jumps, was frozen.
_FROZEN = 5
# Variance of the steps over twice the variance of the numbers: 1 of white noise, and below 0.1 of
# what has more than 14 samples in a period.
_WHITE = 0.7
# The middle half of a sensor's noise at rest is narrower than this [rad or m].
_AT_REST = 0.1
# Rows that a message lists.
_LISTED = 3


class Oddity(NamedTuple):
    """Rows of a column that do not look measured.

    Attributes:
        rows: (n,) of the column, from 0.
        text: what is odd; ``{value}`` is what the first of them holds.
    """

    rows: np.ndarray
    text: str


def check_size(values: np.ndarray, where: str, unit: str, largest: float) -> None:
    """Refuse numbers that no machine reaches.

    Args:
        values: (row,), in ``unit``; NaN where nothing was observed.

    Raises:
        PdsimError: says in how many rows, and which is first.
    """
    beyond = np.flatnonzero(np.abs(values) > largest)
    if len(beyond):
        raise PdsimError(
            f"{where} is beyond ±{largest:g} {unit} in {len(beyond):,} of {len(values):,} rows "
            f"({100 * len(beyond) / len(values):.3g} %), first {values[beyond[0]]:.6g} {unit} in "
            f"row {beyond[0] + 1}; check its unit; where such numbers mean that nothing was "
            "measured, name them: recording.missing: [...]"
        )


def warn(column: np.ndarray, where: str, remedy: str, turn: float = np.inf) -> None:
    """Tell what looks wrong in a column of positions, but may be meant.

    Args:
        column: (row,) as in the table, before turns are taken off; NaN where not observed.
        where: file and column, for the message.
        remedy: what to do with rows that were not measured; ``{value}`` is the number they hold.
        turn: by which an angle may jump, in the unit of the column; infinite of a length.
    """
    seen = column[np.isfinite(column)]
    if len(seen) < len(column) / 2:
        log.warning("%s: %.3g %% of its rows are empty", where, 100 * (1 - len(seen) / len(column)))
    if len(seen) and np.ptp(seen) == 0:
        log.warning("%s: all rows hold %g; does this sensor work?", where, seen[0])
        return
    for odd in oddities(column, turn):
        listed = ", ".join(str(row + 1) for row in odd.rows[:_LISTED])
        more = ", …" if len(odd.rows) > _LISTED else ""
        value = f"{column[odd.rows[0]]:.6g}"
        log.warning(
            "%s: %s in %s of %s rows (%.3g %%): row %s%s; if nothing was measured there, %s",
            where, odd.text.format(value=value), f"{len(odd.rows):,}", f"{len(column):,}",
            100 * len(odd.rows) / len(column), listed, more, remedy.format(value=value),
        )  # fmt: skip


def oddities(column: np.ndarray, turn: float = np.inf) -> list[Oddity]:
    """Find the rows of a column that do not look measured; arguments as of ``warn``."""
    rows = np.flatnonzero(np.isfinite(column))
    values = column[rows]
    found = []
    for value in _candidates(values):
        lost = values == value
        if _is_sentinel(values, lost, turn):
            text = "the number {value}, far from the rows around it,"
            found.append(Oddity(rows[lost], text))
            rows, values = rows[~lost], values[~lost]
    for find, text in (
        (_spikes, "a spike, to {value} in the first,"),
        (_frozen, "a sensor that freezes, first at {value}, and then jumps,"),
    ):
        if len(values) < _LEAST:
            break
        # Over rows that are not there a motion may go any way.
        steps = np.where(np.diff(rows) == 1, _steps(values, turn), np.nan)
        places = find(steps)
        if len(places):
            found.append(Oddity(rows[places], text))
            rows, values = np.delete(rows, places), np.delete(values, places)
    return found


def _candidates(values: np.ndarray) -> list[float]:
    """Numbers that may stand for: not measured. Each is there twice or more."""
    different, counts = np.unique(values, return_counts=True)
    often = different[counts > 1]
    likely = dict.fromkeys((0.0, -1.0, different[0], different[-1])) if len(different) > 2 else {}
    return [value for value in likely if value in often]


def _steps(values: np.ndarray, turn: float) -> np.ndarray:
    """Steps from row to row, without whole turns."""
    steps = np.diff(values)
    return steps - turn * np.round(steps / turn) if np.isfinite(turn) else steps


def _ordinary(steps: np.ndarray) -> float:
    """How long the steps are, where there are some: the 90 % quantile."""
    sizes = np.abs(steps[np.isfinite(steps) & (steps != 0)])
    return float(np.quantile(sizes, 0.9)) if len(sizes) else 0.0


def _is_sentinel(values: np.ndarray, lost: np.ndarray, turn: float) -> bool:
    """Whether rows of one number are short stretches between jumps that the others do not make."""
    others, changes = values[~lost], np.flatnonzero(np.diff(lost.astype(int)))
    if len(others) < _LEAST or not len(changes):
        return False
    lengths = np.diff(np.concatenate([[-1], changes, [len(lost) - 1]]))
    first = lost[0]  # stretches alternate
    at_rest = np.median(lengths[first ^ 1 :: 2]) > np.median(lengths[first ^ 0 :: 2])
    ordinary = _ordinary(_steps(others, turn))
    edges = np.abs(_steps(values, turn))[changes]
    return bool(not at_rest and ordinary > 0 and np.median(edges) > _JUMP * ordinary)


def _spikes(steps: np.ndarray) -> np.ndarray:
    """Places (n,) of up to three numbers in a row that jump away from calm, and back.

    Args:
        steps: (row - 1,), NaN over rows that are not there.
    """
    found, ordinary = np.zeros(len(steps) + 1, bool), _ordinary(steps)
    travelled = np.append(0.0, np.cumsum(np.nan_to_num(steps)))
    for length in range(1, _LONGEST_SPIKE + 1):
        count = len(steps) - length - 2
        if count < 1:
            break
        # The steps before the jump, into the spike, back, and after.
        before, into = steps[:count], steps[1 : count + 1]
        back, after = steps[1 + length : count + 1 + length], steps[2 + length :]
        size = np.minimum(np.abs(into), np.abs(back))
        calm = np.maximum(np.abs(before), np.abs(after)) < _CALM * size
        left = np.abs(travelled[2 + length : -1] - travelled[1 : count + 1])
        returns = (into * back < 0) & (left < size / 2)
        for place in np.flatnonzero((size > _JUMP * ordinary) & calm & returns):
            found[place + 2 : place + 2 + length] = True
    return np.flatnonzero(found)


def _frozen(steps: np.ndarray) -> np.ndarray:
    """Places (n,) of stretches of one number that end with a jump; argument as of ``_spikes``."""
    edges = np.flatnonzero(steps)
    begins = np.append(0, edges[:-1] + 1)
    jumps = np.abs(steps[edges]) > _JUMP * _ordinary(steps)
    stretches = [
        np.arange(begin, edge + 1)
        for begin, edge, jump in zip(begins, edges, jumps, strict=True)
        if jump and edge + 1 - begin >= _FROZEN
    ]
    return np.concatenate(stretches) if stretches else np.zeros(0, int)


def is_noise(values: np.ndarray, *, angle: bool) -> bool:
    """Whether positions are random from row to row, and more than the noise of a sensor at rest.

    By the ranks of the numbers, which a single spike does not rule; of an angle by those of its
    sine and its cosine, which do not jump by turns.

    Args:
        values: (row,) [rad or m].
    """
    seen = values[np.isfinite(values)]
    if len(seen) < _LEAST:
        return False
    parts = [np.cos(seen), np.sin(seen)] if angle else [seen]
    spread = np.linalg.norm([np.subtract(*np.quantile(part, [0.75, 0.25])) for part in parts])
    if not spread > _AT_REST:
        return False
    ranks = [np.argsort(np.argsort(part)) for part in parts]
    return all(np.mean(np.diff(rank) ** 2.0) > _WHITE * 2 * np.var(rank) for rank in ranks)


def check_motion(
    positions: Sequence[tuple[str, np.ndarray, bool]], source: str, remedy: str
) -> None:
    """Refuse a recording whose positions are all random; warn where one of several is.

    Args:
        positions: name, values (row,) [rad or m] before turns are taken off, and whether an angle.

    Raises:
        PdsimError: none of them can be a motion.
    """
    random = [name for name, values, angle in positions if is_noise(values, angle=angle)]
    if not random:
        return
    text = (
        f"{source}: {', '.join(random)}: the numbers are random from row to row, as no motion is "
        "that was sampled fast enough"
    )
    if len(random) == len(positions):
        raise PdsimError(f"{text}; {remedy}")
    log.warning("%s; %s", text, remedy)
