"""Units a table may be in, and what they are in SI.

A unit is a product of symbols with whole powers, as ``N m``, ``deg/s``, ``kg m^2`` or ``mm/s^2``.
Angles keep a dimension of their own, so that turns are not taken for plain numbers. The grammar is
small on purpose: ``a/b c`` is refused, since people disagree on what it means.
"""

import math
import re
from typing import NamedTuple

from pdsim.settings.messages import close_name

# Exponents of kilogram, metre, second, radian, ampere.
Dimension = tuple[int, ...]


class Unit(NamedTuple):
    """A unit as ``factor`` times the SI unit of its dimension."""

    factor: float
    dimension: Dimension


_PREFIXES = {"n": 1e-9, "u": 1e-6, "µ": 1e-6, "μ": 1e-6, "m": 1e-3, "c": 1e-2, "k": 1e3, "M": 1e6}
# With these a prefix may stand.
_PREFIXED = {
    "g": Unit(1e-3, (1, 0, 0, 0, 0)),
    "m": Unit(1.0, (0, 1, 0, 0, 0)),
    "s": Unit(1.0, (0, 0, 1, 0, 0)),
    "rad": Unit(1.0, (0, 0, 0, 1, 0)),
    "A": Unit(1.0, (0, 0, 0, 0, 1)),
    "N": Unit(1.0, (1, 1, -2, 0, 0)),
    "Nm": Unit(1.0, (1, 2, -2, 0, 0)),
    "J": Unit(1.0, (1, 2, -2, 0, 0)),
    "W": Unit(1.0, (1, 2, -3, 0, 0)),
    "V": Unit(1.0, (1, 2, -3, 0, -1)),
    "Pa": Unit(1.0, (1, -1, -2, 0, 0)),
    "Hz": Unit(1.0, (0, 0, -1, 0, 0)),
}
_PLAIN = {
    "1": Unit(1.0, (0, 0, 0, 0, 0)),
    "-": Unit(1.0, (0, 0, 0, 0, 0)),
    "deg": Unit(math.pi / 180, (0, 0, 0, 1, 0)),
    "°": Unit(math.pi / 180, (0, 0, 0, 1, 0)),
    "rev": Unit(2 * math.pi, (0, 0, 0, 1, 0)),
    "rpm": Unit(2 * math.pi / 60, (0, 0, -1, 1, 0)),
    "min": Unit(60.0, (0, 0, 1, 0, 0)),
    "h": Unit(3600.0, (0, 0, 1, 0, 0)),
    "day": Unit(86400.0, (0, 0, 1, 0, 0)),
    "in": Unit(0.0254, (0, 1, 0, 0, 0)),
    "bar": Unit(1e5, (1, -1, -2, 0, 0)),
    # Of accelerometers; a plain g is a gram.
    "g0": Unit(9.80665, (0, 1, -2, 0, 0)),
}
# What messages offer.
_OFFERED = (
    *("rad", "mrad", "deg", "rev", "rad/s", "deg/s", "rpm", "rad/s^2", "deg/s^2"),
    *("m", "cm", "mm", "um", "in", "m/s", "cm/s", "mm/s", "m/s^2", "mm/s^2", "g0"),
    *(
        "N",
        "mN",
        "kN",
        "N m",
        "mN m",
        "kN m",
        "N s",
        "N m s",
        "A",
        "mA",
        "V",
        "mV",
        "Pa",
        "kPa",
        "bar",
    ),
    *("s", "ms", "us", "ns", "min", "h", "Hz", "kg", "g", "kg m^2", "g cm^2", "W", "1"),
)
# Words that people write in full, or in the letters of another program → symbol.
_WORDS = {
    "degree": "deg", "arcdegree": "deg", "radian": "rad", "revolution": "rev", "turn": "rev",
    "sec": "s", "second": "s", "msec": "ms", "milli": "ms", "millisecond": "ms", "usec": "us",
    "micro": "us", "microsecond": "us", "nsec": "ns", "nano": "ns", "nanosecond": "ns",
    "minute": "min", "hour": "h", "day": "day", "metre": "m", "meter": "m", "millimetre": "mm",
    "millimeter": "mm", "centimetre": "cm", "centimeter": "cm", "newton": "N", "newtonmeter": "N m",
    "newtonmetre": "N m", "nm": "N m", "mnm": "mN m", "knm": "kN m", "dps": "deg/s", "hertz": "Hz",
    "hz": "Hz", "ampere": "A", "amp": "A", "volt": "V", "kilogram": "kg", "gram": "g",
}  # fmt: skip
# Dimensionless, as files say of anything; and what is a gram to some and gravity to others.
_SAY_NOTHING = ("1", "-", "g")
_TOKEN = re.compile(r"(?P<symbol>[^\d^\s]+?\d?|[1-])(\^(?P<power>-?\d))?")
_SPELLINGS = {"**": "^", "*": " ", "·": " ", "⋅": " ", "²": "^2", "³": "^3", "⁻": "^-", "¹": "1"}


def _symbol(symbol: str, text: str) -> Unit:
    for table in (_PLAIN, _PREFIXED):
        if symbol in table:
            return table[symbol]
    base = _PREFIXED.get(symbol[1:])
    if symbol[:1] in _PREFIXES and base is not None:
        return Unit(_PREFIXES[symbol[0]] * base.factor, base.dimension)
    raise ValueError(f"unit {text!r} is not known{close_name(text, _OFFERED)}")


def unit(text: str) -> Unit:
    """Read a unit.

    Raises:
        ValueError: says what is not understood.
    """
    plain = text.strip()
    for spelling, meaning in _SPELLINGS.items():
        plain = plain.replace(spelling, meaning)
    factor = 1.0
    total: Dimension = (0, 0, 0, 0, 0)
    parts = plain.split("/")
    for i, part in enumerate(parts):
        tokens = part.split()
        if not tokens or (i > 0 and len(tokens) > 1):
            raise ValueError(
                f"unit {text!r} is not clear; write products with spaces, one symbol after each /, "
                "and powers as ^2: N m, deg/s, kg m^2, m/s/s"
            )
        for token in tokens:
            match = _TOKEN.fullmatch(token)
            if match is None:
                raise ValueError(f"unit {text!r} is not known{close_name(text, _OFFERED)}")
            power = int(match["power"] or 1) * (-1 if i else 1)
            base = _symbol(match["symbol"], text)
            factor *= base.factor**power
            total = tuple(a + power * b for a, b in zip(total, base.dimension, strict=True))
    return Unit(factor, total)


def conversion(given: str, wanted: str) -> float:
    """Return what a number in ``given`` is multiplied with to be in ``wanted``.

    Raises:
        ValueError: the two measure different things; the message lists units that would do.
    """
    if given == wanted:
        return 1.0
    source, target = unit(given), unit(wanted)
    if source.dimension != target.dimension:
        fitting = [name for name in _OFFERED if unit(name).dimension == target.dimension]
        raise ValueError(
            f"{given!r} cannot be converted to {wanted!r}; units that can: "
            f"{', '.join(fitting) or wanted}"
        )
    return source.factor / target.factor


def meanings(text: str) -> list[str]:
    """Return the units that a file or a person may mean, none where the text is no unit.

    Words are understood in full, in the plural and in any case: ``degrees``, ``Newton-meter``,
    ``rad s-1``, ``radians per second``, ``milliseconds since 2024-01-01``.
    """
    plain = text.partition(" since ")[0].strip()
    worded = re.sub(r"\s*\bper\b\s*", "/", plain.lower())
    worded = re.sub(r"(?<=[a-z])[-._](?=[a-z])", " ", worded)
    worded = re.sub(r"([a-z])(-\d)\b", r"\1^\2", worded)
    worded = re.sub(r"[a-z]+", _symbol_of_word, worded)
    found = []
    for candidate in dict.fromkeys((plain, worded.replace("n m", "N m"))):
        try:
            unit(candidate)
        except ValueError:
            continue
        if candidate not in _SAY_NOTHING:
            found.append(candidate)
    return found


def _symbol_of_word(match: re.Match[str]) -> str:
    word = match[0]
    return _WORDS.get(word) or _WORDS.get(word.removesuffix("s")) or word


def agree(stated: str, wanted: str) -> bool:
    """Whether a unit as a file states it can be ``wanted``; what is no unit disagrees with none."""
    found = meanings(stated)
    return not found or any(_same(meaning, wanted) for meaning in found)


def _same(given: str, wanted: str) -> bool:
    try:
        return math.isclose(conversion(given, wanted), 1.0, rel_tol=1e-6)
    except ValueError:
        return False
