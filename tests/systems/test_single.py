"""Single parameters drawn after the combinations: from the config's section to a group of a file."""

import numpy as np
import pytest

from pdsim.posterior import single_group
from pdsim.runtime.errors import PdsimError
from pdsim.systems.config import SimulatorConfig
from pdsim.systems.pendulum_links import base_parameters
from pdsim.systems.simulator import build_simulator, build_system, check_parameters

MASS = {"lower": 0.05, "upper": 0.5, "unit": "kg"}
BASE = {"system": "double_pendulum", "options": {"parameters": "base"}}
ESTIMATED = {
    "J1": {"lower": 0.03, "upper": 0.3, "unit": "kg m^2"},
    "S2y": {"lower": 0.03, "upper": 0.3, "unit": "kg m"},
}
INERTIA = {"lower": 1e-5, "upper": 5e-3, "unit": "kg m^2", "scale": "log"}
SHARED = {"com_x_1": 0.0, "com_x_2": 0.0, "friction_1": 0.0, "friction_2": 0.0, "length": 0.09}


def config(single, **changes):
    fixed = {"S1x": 0.0, "S1y": 1.0, "S2x": 0.0, "J2": 0.0069, "length": 0.09}
    frictions = {"friction_1": 0.0, "friction_2": 0.0}
    section = BASE | {"parameters": ESTIMATED, "fixed": fixed | frictions, "single": single}
    return SimulatorConfig.model_validate(section | changes)


SINGLE = {
    "parameters": {
        "mass_1": MASS,
        "mass_2": MASS | {"lower": 0.02},
        "com_y_1": {"lower": 0.0, "upper": 0.1, "unit": "m"},
        "com_y_2": {"lower": 0.0, "upper": 0.1, "unit": "m"},
        "inertia_1": INERTIA,
        "inertia_2": INERTIA,
    },
    "fixed": SHARED,
}


def test_a_draw_s_single_parameters_have_its_combinations():
    simulator = build_simulator(config(SINGLE))
    # The last is one that no links within these limits have.
    draws = np.array([[[0.090, 0.101], [0.091, 0.100], [0.29, 0.29]]])
    group = single_group(config(SINGLE), simulator, draws, seed=3)
    assert set(group.data_vars) == {*SINGLE["parameters"], "effective"}
    assert group["mass_1"].attrs == {"units": "kg", "lower": 0.05, "upper": 0.5}
    assert (group["effective"].values[0] > 0).tolist() == [True, True, False]
    links = {name: group[name].values[0] for name in SINGLE["parameters"]} | SHARED
    assert all(np.isnan(links[name][2]) for name in SINGLE["parameters"])
    again = base_parameters(links)
    np.testing.assert_allclose((again["J1"] / again["S1y"])[:2], draws[0, :2, 0], rtol=1e-9)
    np.testing.assert_allclose((again["S2y"] / again["S1y"])[:2], draws[0, :2, 1], rtol=1e-9)
    assert (links["mass_1"][:2] > 0.05).all()


def test_nothing_is_drawn_where_nothing_is_asked_for():
    plain = config(None)
    assert not single_group(plain, build_simulator(plain), np.zeros((1, 1, 2)), 0).data_vars


@pytest.mark.parametrize(
    ("single", "changes", "message"),
    [
        (
            SINGLE,
            {"options": {}, "parameters": {"mass_1": MASS}, "fixed": {}},
            "are single ones already",
        ),
        ({"parameters": {"J1": MASS}}, {}, r"single\.parameters\.J1: .* has no parameter 'J1'"),
        (
            {"parameters": {"mass_1": MASS | {"unit": "g"}}},
            {},
            r"single\.parameters\.mass_1\.unit: mass_1 is in 'kg'",
        ),
        (
            {"parameters": {"com_x_2": {"lower": 0, "upper": 1, "unit": "m"}}},
            {},
            r"single\.parameters: .* nothing is left to draw",
        ),
    ],
    ids=["links already", "no such parameter", "unit", "nothing free"],
)
def test_a_prior_that_does_not_suit_is_named(single, changes, message):
    section = config(single, **changes)
    with pytest.raises(PdsimError, match=message):
        check_parameters(section, build_system(section))
