"""How a table's angles are counted: from link to link or against the vertical, 0 down or up.

The same motion read in another way is one that no pendulum makes. Of each way that the table may
be meant in, the system is fitted to the accelerations (``pdsim.draft.matching``), and what the best
fit misses of them is compared. The plain way, which is the system's own, is kept unless another one
misses less than half as much.
"""

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from pdsim.draft.matching import Motion
from pdsim.draft.tables import Asked, Guessed
from pdsim.systems.articulated import Articulated
from pdsim.systems.system import System
from pdsim.units.conversion import conversion

# Another way is taken if it misses less than this share of what the plain one misses.
_SHARE = 0.5


class Way(NamedTuple):
    """A way to count angles.

    Attributes:
        between: "relative": of each link from the one before; "absolute": of all against the
            vertical; "mirrored": relative, and growing in the other direction; "": one angle.
        zero: of the first angle: "hanging" or "upright".
    """

    between: str
    zero: str

    @property
    def words(self) -> str:
        """In words."""
        said = {
            "relative": "from link to link, ",
            "absolute": "each against the vertical, ",
            "mirrored": "from link to link in the other direction, ",
            "": "",
        }
        return f"{said[self.between]}0 {self.zero}"


def angles_of(system: System) -> list[int]:
    """Places among the positions of a system's angles against the vertical, and those after them.

    None of a robot from its file, which says where its joints are 0.
    """
    if isinstance(system, Articulated):
        return []
    half = len(system.state) // 2
    return [i for i, quantity in enumerate(system.state[:half]) if quantity.kind == "angle"]


def ways(system: System, asked: Asked) -> list[Way]:
    """Ways that are possible, the system's own first; one, where the user said which."""
    angles = angles_of(system)
    if not angles:
        return []
    between = ["relative", "absolute", "mirrored"]
    if asked.absolute is not None:
        between = ["absolute"] if asked.absolute else ["relative"]
    zeros = [asked.zero] if asked.zero else ["hanging", "upright"]
    return [Way(b, z) for z in zeros for b in (between if len(angles) > 1 else [""])]


def read_as(motion: Motion, angles: list[int], way: Way) -> Motion:
    """A motion whose angles were counted in a way, as the system counts them."""
    half = motion.accelerations.shape[1]
    map_ = np.eye(half)
    for before, after in pairwise(angles):
        if way.between == "absolute":
            map_[after, before] = -1.0
        if way.between == "mirrored":
            map_[after, after] = -1.0
    shift = np.zeros(half)
    if way.zero == "upright":
        shift[angles if way.between == "absolute" else angles[:1]] = np.pi
    positions = (motion.states[:, :half] + shift) @ map_.T
    rates = motion.states[:, half:] @ map_.T
    return motion._replace(
        states=np.concatenate([positions, rates], axis=1),
        accelerations=motion.accelerations @ map_.T,
    )


def choose_way(
    system: System, motion: Motion, asked: Asked, missed: Callable[[], Callable[[Motion], float]]
) -> tuple[Way | None, str]:
    """Choose how the angles are counted.

    Args:
        motion: as the table has it.
        missed: makes what tells of a motion, as the system counts it, the share of its
            accelerations that the best fit misses.

    Returns:
        The way, None of a system without such angles; and the reason.
    """
    possible = ways(system, asked)
    if len(possible) < 2:
        return (possible[0], "as asked for") if possible else (None, "")
    share_of = missed()
    shares = {way: share_of(read_as(motion, angles_of(system), way)) for way in possible}
    best = min(shares, key=lambda way: shares[way])
    chosen = best if shares[best] < _SHARE * shares[possible[0]] else possible[0]
    told = "; ".join(
        f"{'read ' if way == chosen else ''}{way.words}: {100 * share:.2g} %"
        for way, share in sorted(shares.items(), key=lambda one: (one[0] != chosen, one[1]))
    )
    return chosen, f"what a model fitted to the accelerations misses of them, {told}"


def with_way(channels: Guessed, system: System, way: Way) -> Guessed:
    """Channels of a table whose angles are counted in a way: `minus`, `sign`, `offset`."""
    half = len(system.state) // 2
    names = [system.state[i].name for i in angles_of(system) if i < half]
    values: dict[str, dict[str, Any]] = {name: dict(v) for name, v in channels.values.items()}
    for before, after in pairwise(names):
        values[after].pop("minus", None)
        if way.between == "absolute":
            values[after]["minus"] = before
        if way.between == "mirrored":
            values[after]["sign"] = -1
    if way.zero == "upright":
        for name in names if way.between == "absolute" else names[:1]:
            values[name]["offset"] = _half_turn(values[name])
    return Guessed(values, channels.reasons)


def _half_turn(value: Mapping[str, Any]) -> float:
    """Half a turn in a column's unit."""
    return round(float(np.pi / conversion(value["unit"], "rad")), 9)
