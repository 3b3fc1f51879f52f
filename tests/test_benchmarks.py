"""What the programs in benchmarks/ share."""

import math
import runpy

import pytest

from pdsim.experiment.load import load_experiment


@pytest.fixture
def fits(root, tmp_path, monkeypatch):
    """Names of ``benchmarks/fits.py``, in a folder of its own for what it writes."""
    monkeypatch.chdir(tmp_path)
    return runpy.run_path(str(root / "benchmarks/fits.py"))


def test_rows_with_other_columns_than_the_first_keep_their_values(fits, capsys):
    fits["write"]("table", {"old": {"error": 1.0, "k": 0.5}, "new": {"error": 2.0, "r_hat": 1.01}})
    found = fits["finished"]("table")
    assert found["new"]["r_hat"] == 1.01
    assert math.isnan(found["new"]["k"]) and math.isnan(found["old"]["r_hat"])
    assert [row["error"] for row in found.values()] == [1.0, 2.0]
    assert "r_hat" in capsys.readouterr().out


@pytest.mark.parametrize("motion", ["trusted_calibrated", "trusted_chaotic"])
def test_the_pendulum_of_earlier_tables_is_that_of_today_with_other_numbers(fits, root, motion):
    today = load_experiment(root / f"config/experiments/{motion}.yaml")
    still = fits["both_frictions"](fits["still_air"](today))
    viscous, dry = fits["viscous"](today), fits["dry_alone"](still)
    names = {
        name: {f"{name}_{joint}" for joint in (1, 2)}
        for name in ("friction", "dry_friction", "drag")
    }
    base = {"J1", "S1x", "length", "J2", "S2x", "S2y"}
    for made, numbers in (
        (still, names["friction"] | names["dry_friction"]),
        (viscous, names["friction"]),
        (dry, names["dry_friction"]),
    ):
        sought = list(made.simulator.parameters)
        assert set(sought) == base | numbers
        order = list(made.system().parameters)
        assert sought == sorted(sought, key=order.index)
        # Each of the others at a value, or not there at all.
        told = set(sought) | set(made.simulator.fixed) | {"gravity"}
        assert told == {*order, "gravity"}
    assert viscous.simulator.parameters["friction_1"] == still.simulator.parameters["friction_1"]


def test_a_robot_with_motors_has_the_friction_it_had(fits, root):
    motors = load_experiment(root / "config/experiments/trusted_pendubot.yaml")
    assert fits["viscous"](motors).simulator == motors.simulator
