"""Units as tables have them, and the factors between them."""

import numpy as np
import pytest

from pdsim.units.conversion import agree, conversion, meanings, unit


def test_units():
    assert conversion("deg", "rad") == pytest.approx(np.pi / 180)
    assert conversion("rpm", "rad/s") == pytest.approx(2 * np.pi / 60)
    for text, factor in (
        *(("mN m", 1e-3), ("mNm", 1e-3), ("Nm", 1), ("N·m", 1), ("kN*m", 1e3)),
        *(("g cm^2/s^2", 1e-7), ("kg m²/s²", 1), ("J", 1)),
    ):
        assert conversion(text, "N m") == pytest.approx(factor), text
    assert conversion("mm/s/s", "m/s^2") == pytest.approx(1e-3)
    assert conversion("strange", "strange") == 1.0
    assert unit("g").factor == 1e-3 and unit("g0").factor == 9.80665


@pytest.mark.parametrize(("given", "wanted"), [("Hz", "rad/s"), ("N", "N m"), ("1", "rad")])
def test_units_of_different_things(given, wanted):
    with pytest.raises(ValueError, match="units that can"):
        conversion(given, wanted)


@pytest.mark.parametrize(
    "text", ["", "m/s kg", "m//s", "degrees", "m^", "m^x", "kkg", "mdeg", "3 m"]
)
def test_what_is_no_unit(text):
    with pytest.raises(ValueError, match="unit"):
        unit(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("degrees", ["deg"]), ("Degree", ["deg"]), ("radians per second", ["rad/s"]), ("m s-1", ["m s^-1"]),
        ("rad s-1", ["rad s^-1"]), ("Newton-meter", ["N m"]), ("newton meters", ["N m"]), ("N.m", ["N m"]),
        ("nm", ["nm", "N m"]), ("milliseconds since 2024-01-01", ["ms"]), ("days", ["day"]),
        ("RPM", ["rpm"]), ("deg/sec", ["deg/s"]), ("rad", ["rad"]),
        ("", []), ("1", []), ("-", []), ("g", []), ("counts", []), ("joint angle", []), ("degC", []),
    ],
)  # fmt: skip
def test_units_as_files_spell_them(text, found):
    assert meanings(text) == found


def test_what_is_no_unit_disagrees_with_none():
    assert agree("counts", "rad") and agree("nm", "N m") and agree("deg/s", "deg/s")
    assert not agree("degrees", "rad") and not agree("deg/s", "rad") and not agree("ms", "s")
