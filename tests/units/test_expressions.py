"""Combinations that a user names: what they are, their units, and what is refused."""

import numpy as np
import pytest
import yaml

from pdsim.experiment.load import load_experiment
from pdsim.report.asked import asked_lines, quantities
from pdsim.runtime.errors import PdsimError
from pdsim.systems.config import SimulatorConfig
from pdsim.systems.simulator import build_simulator
from pdsim.units.expressions import parse

KNOWN = {
    "J1": (np.array([2.0, 3.0]), "kg m^2"),
    "J2": (np.array([1.0, 6.0]), "kg m^2"),
    "mass": (np.array([0.5, 2.0]), "kg"),
    "lever": (np.array([100.0, 300.0]), "mm"),
    "angle": (np.array([90.0, 180.0]), "deg"),
    "friction": (np.array([0.1, 0.2]), "N m s"),
    "share": (np.array([0.25, 1.0]), "-"),
}


@pytest.mark.parametrize(
    ("text", "values", "unit"),
    [
        ("J2/J1", [0.5, 2.0], "-"),
        ("J1 + 2*J2", [4.0, 15.0], "kg m^2"),
        ("-J1 - J2", [-3.0, -9.0], "kg m^2"),
        ("mass*lever", [0.05, 0.6], "kg m"),
        ("mass*lever [g cm]", [5e3, 6e4], "g cm"),
        ("sqrt(J1/mass)", [2.0, 1.5**0.5], "m"),
        ("(J2/J1)**2", [0.25, 4.0], "-"),
        ("mass**-1", [2.0, 0.5], "kg^-1"),
        ("J1**0.5 / lever", [2**0.5 / 0.1, 3**0.5 / 0.3], "kg^1/2"),
        ("friction/J1 [1/s]", [0.05, 0.2 / 3], "1/s"),
        ("exp(log(share))", [0.25, 1.0], "-"),
        ("2**share", [2**0.25, 2.0], "-"),
        ("angle*J1 [kg m^2]", [np.pi, 3 * np.pi], "kg m^2"),
        ("angle [deg]", [90.0, 180.0], "deg"),
    ],
)
def test_values_and_units_of_what_is_combined(text, values, unit):
    found, shown = parse(text).of(KNOWN)
    np.testing.assert_allclose(found, values, rtol=1e-12)
    assert shown == unit


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("J1 +", "is no arithmetic"),
        ("", "is no arithmetic"),
        ("J1 J2", "is no arithmetic"),
        ("(" * 150 + "J1" + ")" * 150, "longer than 200"),
        ("+".join(["J1"] * 100), "longer than 200"),
        ("__import__('os').system('true')", "is not allowed"),
        ("J1.real", "is not allowed"),
        ("J1[0]", "unit"),
        ("[J1 for J1 in J2]", "unit"),
        ("open(J1)", "is not allowed"),
        ("sqrt(J1, J2)", "is not allowed"),
        ("lambda: J1", "is not allowed"),
        ("J1 if J2 else 1", "is not allowed"),
        ("J1 % J2", "is not allowed"),
        ("J1 and J2", "is not allowed"),
        ("True*J1", "is not allowed"),
        ("'a'*J1", "is not allowed"),
        ("2+3", "combines nothing"),
        ("J1 [kg m^2", "in square brackets at the end"),
        ("J1 [furlong]", "unit 'furlong' is not known"),
    ],
)
def test_what_is_no_arithmetic_is_refused(text, words):
    with pytest.raises(ValueError) as error:
        parse(text)
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("J1/J3", "no 'J3' to combine; known: J1, J2, angle"),
        ("J1 + mass", "kg m^2 and kg cannot be added"),
        ("J1 + 1", "kg m^2 and - cannot be added"),
        ("log(J1)", "log(J1) needs a plain number"),
        ("J1**share", "the power must be a plain number"),
        ("2**mass", "the power must be a plain number"),
        ("J2/J1 [kg]", "J2/J1 is in -, not in kg"),
    ],
)
def test_what_does_not_go_together_is_refused(text, words):
    with pytest.raises(ValueError) as error:
        parse(text).of(KNOWN)
    assert words in str(error.value)


@pytest.fixture(scope="module")
def oscillator():
    """Mass and stiffness sought; what is fixed, and what the motion determines, is there too."""
    limits = {"mass": (0.5, 2.0, "kg"), "stiffness": (10.0, 40.0, "N/m")}
    parameters = {n: {"lower": a, "upper": b, "unit": u} for n, (a, b, u) in limits.items()}
    config = {"system": "oscillator", "parameters": parameters, "fixed": {"damping": 0.2}}
    return build_simulator(SimulatorConfig.model_validate(config))


def test_fixed_parameters_and_the_system_s_combinations_can_be_combined(oscillator):
    draws = np.array([[1.0, 25.0], [0.5, 18.0]])
    known = quantities(oscillator, draws)
    for text, values in {
        "sqrt(stiffness/mass)": [5.0, 6.0],
        "sqrt(stiffness_over_mass)": [5.0, 6.0],
        "damping/mass": [0.2, 0.4],
    }.items():
        np.testing.assert_allclose(parse(text).of(known)[0], values, rtol=1e-6)
    assert set(quantities(oscillator, draws, fixed=False)) == {"mass", "stiffness"}


def test_a_combination_is_told_with_its_width_over_the_prior_s(oscillator):
    """Draws on a ridge: the ratio is known to a tenth of its prior's width, the mass is not."""
    level = np.linspace(0, 1, 201)
    mass, ratio = np.exp(level), 25 * np.exp(0.1 * np.roll(level, 67))
    draws = np.stack([mass, ratio * mass], axis=1)
    prior = np.stack([mass, 25 * np.exp(np.roll(level, 67)) * mass], axis=1)
    asked = {"rate": "sqrt(stiffness/mass)", "heavy": "mass [g]"}
    rate, heavy = asked_lines(asked, oscillator, draws, prior, np.array([1.0, 25.0]))
    assert (rate.name, rate.expression, rate.unit) == ("rate", "sqrt(stiffness/mass)", "s^-1")
    assert rate.width == pytest.approx(0.1, rel=1e-6)
    assert rate.median == f"{5 * np.exp(0.025):.4g}"
    assert (rate.truth, heavy.truth) == ("5", "1000")
    assert (rate.determined, heavy.determined) == (True, False)
    (blind,) = asked_lines({"rate": "stiffness/mass"}, oscillator, draws, None, None)
    assert (np.isnan(blind.width), blind.determined, blind.truth) == (True, True, "")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("link_1/link_3", "combinations.ratio: there is no 'link_3' to combine; did you mean"),
        ("link_1 +", "combinations.ratio: 'link_1 +' is no arithmetic"),
        ("link_1/(link_1 - link_1)", "no finite value at the centre"),
        ("link_1 [kg]", "combinations.ratio: link_1 is in m, not in kg"),
    ],
)
def test_the_file_is_refused_by_key(root, tmp_path, text, words):
    values = yaml.safe_load((root / "config/experiments/demo.yaml").read_text())
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(values | {"combinations": {"ratio": text}}))
    with pytest.raises(PdsimError) as error:
        load_experiment(path)
    assert str(error.value).startswith(f"{path}: combinations.ratio")
    assert words in str(error.value)


def test_a_good_one_passes(root, tmp_path):
    values = yaml.safe_load((root / "config/experiments/demo.yaml").read_text())
    asked = {"reach": "link_1 + link_2 [cm]", "heavy": "mass_1*link_1"}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(values | {"combinations": asked}))
    assert load_experiment(tmp_path / "mine.yaml").combinations == asked
