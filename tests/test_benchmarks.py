"""What the programs in benchmarks/ share."""

import math
import runpy
from operator import attrgetter

import pytest

from pdsim.config.experiment import load_experiment


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


def test_the_pendulum_of_earlier_tables_is_that_of_today_with_less(fits, root):
    today = load_experiment(root / "config/experiments/trusted_chaotic.yaml")
    still, viscous = fits["still_air"](today), fits["viscous"](today)
    dry, drag = ({f"{name}_{joint}" for joint in (1, 2)} for name in ("dry_friction", "drag"))
    for part in ("parameters", "single.parameters"):
        names = [
            set(attrgetter(part)(experiment.simulator)) for experiment in (today, still, viscous)
        ]
        assert names[0] - names[1] == drag and names[1] - names[2] == dry
    assert "drag_arm" in today.simulator.fixed and "drag_arm" not in still.simulator.fixed
    motors = load_experiment(root / "config/experiments/trusted_pendubot.yaml")
    assert fits["viscous"](motors).simulator == motors.simulator
