"""Which columns of a table are a system's channels and inputs: by their names, and in which order.

A name is cut into words: ``pos_meas1`` is *pos*, *meas*, *1*. A unit in it says what kind of
quantity the column is, or else one of its words does. Of columns of one kind those that say that
they were measured come first, then those that say nothing, filtered ones, commanded ones.
"""

import re
from collections.abc import Sequence

from pdsim.units.conversion import conversion, meanings

TIME, PLACE, RATE, EFFORT, OTHER = "time", "place", "rate", "effort", "other"

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_a-zA-Z]+")
_BRACKET = re.compile(r"[\[(]([^\])]+)[\])]")
# In this order: dtheta is a rate although it is an angle's, and a torque of a joint no angle.
_WORDS = (
    (OTHER, "acc accel acceleration ddq qdd ddot err error std cov temp temperature current"),
    (RATE, "vel velocity speed rate omega dq qd dot qdot dtheta dphi thetadot"),
    (EFFORT, "tau torque effort moment trq force u"),
    (TIME, "time t stamp timestamp clock seconds sec millis zeit"),
    (PLACE, "q pos position angle theta phi alpha beta joint enc encoder x link arm winkel"),
)
# Units that say the kind of a quantity, one for each dimension.
_KINDS = {
    "s": TIME, "rad": PLACE, "m": PLACE, "rad/s": RATE, "m/s": RATE, "N m": EFFORT, "N": EFFORT,
    "rad/s^2": OTHER, "m/s^2": OTHER, "A": OTHER, "V": OTHER,
}  # fmt: skip
_RANKS = (
    (0, "meas measured actual raw"),
    (2, "filt filtered filter smooth smoothed"),
    (3, "con cmd command commanded des desired ref reference target set setpoint goal fric"),
)


def words(name: str) -> list[str]:
    """Cut a name into words in lower case and numbers."""
    return [word.lower() for word in _WORD.findall(name)]


def _units_named(name: str) -> list[str]:
    """What of a name may be a unit: what stands in brackets, or its last words."""
    brackets = _BRACKET.findall(name)
    if brackets:
        return brackets
    pieces = [piece for piece in re.split(r"[_\s.]+", name) if piece]
    if len(pieces) < 2:
        return []
    return ["/".join(pieces[-2:]), pieces[-1]]


def unit_in_name(name: str, wanted: str) -> str | None:
    """Return the unit that a column's name gives, if it can be converted to ``wanted``."""
    found = (given for text in _units_named(name) if (given := convertible(text, wanted)))
    return next(found, None)


def convertible(text: str, wanted: str) -> str | None:
    """Return what a text may mean as a unit, if it can be converted to ``wanted``."""
    for candidate in meanings(text):
        try:
            conversion(candidate, wanted)
        except ValueError:
            continue
        return candidate
    return None


def kind(name: str) -> str | None:
    """Say what a column holds by its name; None where the name does not tell."""
    bracketed = bool(_BRACKET.search(name))
    for wanted, found in _KINDS.items():
        given = unit_in_name(name, wanted)
        # A letter at a name's end may be anything.
        if given is not None and (bracketed or len(given) > 1):
            return found
    own = set(words(name))
    return next((found for found, known in _WORDS if own & set(known.split())), None)


def _rank(name: str) -> int:
    own = set(words(name))
    return next((rank for rank, known in _RANKS if own & set(known.split())), 1)


def _plain(name: str) -> str:
    return "".join(words(name))


def _own(name: str) -> str:
    """What a name says beyond the kind of its quantity and a number: of ``torque_left``, left."""
    known = {word for _, texts in _WORDS for word in texts.split()}
    own = [word for word in words(name) if word not in known]
    return "" if all(word.isdecimal() for word in own) else "".join(own)


def _holding(name: str, candidates: Sequence[str]) -> list[str]:
    """Columns whose names hold that of a quantity, or else what is its own of it."""
    whole = [c for c in candidates if _plain(name) in _plain(c)]
    own = _own(name)
    return whole or [c for c in candidates if own and own in _plain(c)]


def ordered(wanted: Sequence[str], candidates: Sequence[str]) -> list[str] | None:
    """Return a column for each name of the system; None where there is more than one way.

    The columns whose names hold the system's; or that differ by a number alone, in the order of
    their numbers; or all there are, in the order of the table.
    """
    if not candidates:
        return None
    named = []
    for name in wanted:
        holding = _holding(name, candidates)
        best = [c for c in holding if _rank(c) == min(map(_rank, holding))]
        named += best if len(best) == 1 else []
    if len(named) == len(wanted) == len(set(named)):
        return named
    groups: dict[tuple[str, ...], dict[int, str]] = {}
    for candidate in candidates:
        own = words(candidate)
        numbers = [int(word) for word in own if word.isdecimal()]
        if len(numbers) == 1:
            stem = tuple(word for word in own if not word.isdecimal())
            groups.setdefault(stem, {})[numbers[0]] = candidate
    whole = [group for group in groups.values() if len(group) == len(wanted)]
    for chosen in (whole, [dict(enumerate(candidates))]):
        ranks = [max(map(_rank, group.values())) for group in chosen]
        best_groups = [g for g, rank in zip(chosen, ranks, strict=True) if rank == min(ranks)]
        if len(best_groups) == 1 and len(best_groups[0]) == len(wanted):
            return [best_groups[0][number] for number in sorted(best_groups[0])]
    best_rank = min(map(_rank, candidates))
    best = [c for c in candidates if _rank(c) == best_rank]
    return best if len(best) == len(wanted) else None
