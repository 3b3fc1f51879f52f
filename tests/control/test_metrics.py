import numpy as np
import pytest
import xarray as xr

from pdsim.control.config import ControlConfig
from pdsim.control.metrics import accuracy, failed, rmse, wilson
from pdsim.tables import control as tables


def test_rmse_adds_the_scored_variables_of_a_step():
    states = np.array([[[3.0, 4.0, 9.0], [0.0, 0.0, 9.0]]])
    assert rmse(states, np.zeros((2, 3)), (0, 1)) == pytest.approx([np.sqrt(12.5)])


def test_a_run_has_failed_if_it_ever_was_unsafe_or_lost():
    clearance = np.array([[0.1, 0.2], [0.1, -1e-9], [0.1, np.nan], [0.1, 0.2]])
    crashed = np.array([[False, False]] * 3 + [[False, True]])
    np.testing.assert_array_equal(failed(clearance, crashed), [False, True, True, True])


def test_accuracy_over_the_prior_s_width():
    truth, width = np.array([1.0, 0.1]), np.array([0.2, 0.02])
    assert accuracy(truth, truth, width) == 100
    assert accuracy(np.array([1.05, 0.1]), truth, width) == pytest.approx(87.5)
    # A parameter that is off by more than the prior counts as not known at all.
    assert accuracy(np.array([9.0, 0.1]), truth, width) == pytest.approx(50)


def test_wilson_s_interval():
    share = wilson(10, 10)
    assert (share.value, share.highest) == pytest.approx((1.0, 1.0))
    assert share.lowest == pytest.approx(0.7225, abs=1e-4)
    share = wilson(5, 10)
    assert (share.lowest, share.highest) == pytest.approx((0.2366, 0.7634), abs=1e-4)


CONFIG = ControlConfig.model_validate(
    {
        "kind": "control",
        "title": "two",
        "task": {"name": "quadrotor"},
        "controllers": [
            {"name": "oracle", "belief": "truth", "published": {"rmse": [0.15, 0.02]}},
            {"name": "prmppi", "belief": "svgd"},
        ],
        "budgets": {"smoke": {"simulations": 2, "laps": 2}},
    }
)


def hand_made(errors, clearance, fallback):
    """A log of two simulations and two laps of two steps: errors in x, (simulation, step)."""
    errors = np.array(errors)
    state = np.zeros((2, 4, 6))
    state[..., 0] = errors
    over = ("simulation", "step")
    return xr.Dataset(
        {
            "state": ((*over, "variable"), state),
            "reference": (("step", "variable"), np.zeros((4, 6))),
            "mean": ((*over, "parameter"), np.tile([0.027, 1.5e-5], (2, 4, 1))),
            "clearance": (over, np.array(clearance, float)),
            "crashed": (over, np.zeros((2, 4), bool)),
            "fallback": (over, np.array(fallback, bool)),
            "covers_truth": (over, np.array([[1, 1, 1, 0]] * 2, bool)),
            "covers_draw": (over, np.ones((2, 4), bool)),
            "truth": (("simulation", "parameter"), np.tile([0.027, 1.4e-5], (2, 1))),
            "prior": (("limit", "parameter"), np.array([[0.0135, 0.7e-5], [0.0405, 2.1e-5]])),
        },
        coords={"lap": ("step", [0, 0, 1, 1])},
        attrs={"title": "", "step_seconds": 0.02, "batch_step_seconds": 0.01},
    )


@pytest.fixture
def logs():
    quiet = np.zeros((2, 4))
    return {
        "oracle": hand_made([[1, 1, 1, 1], [3, 3, 3, 3]], np.ones((2, 4)), quiet),
        "prmppi": hand_made(
            [[2, 2, 1, 1], [0, 0, 0, 0]], [[1, 1, 1, 1], [1, 1, 1, -1]], [[0, 0, 0, 1]] * 2
        ),
    }


def test_the_table_of_hand_made_logs(logs):
    table = tables.metrics(CONFIG, logs)
    lap = table.set_index(["controller", "simulation", "lap"])
    assert lap.loc[("prmppi", 0, 1), "rmse"] == 2
    assert lap.loc[("prmppi", 1, 2), "failed"]
    assert not lap.loc[("prmppi", 1, 1), "failed"]
    assert lap.loc[("prmppi", 0, 2), "fallback"] == 0.5
    # The step on the robust plan is left out: of the other three, all are covered.
    assert lap.loc[("prmppi", 0, 2), "covers_truth"] == 1
    assert lap.loc[("oracle", 0, 2), "covers_truth"] == 0.5
    assert np.isnan(lap.loc[("oracle", 0, 1), "accuracy"])
    assert lap.loc[("prmppi", 0, 1), "accuracy"] == pytest.approx(100 - 50 * 0.1 / 1.4)
    made = tables.build(CONFIG, table, logs)
    oracle, ours = (row.cells for row in made.rows)
    assert oracle["rmse"].text() == "2 ± 1.4"
    assert ours["rmse"].value == pytest.approx(np.sqrt(2.5) / 2)
    assert (oracle["success"].value, ours["success"].value) == (100, 50)
    assert "accuracy" not in oracle
    assert oracle["published_rmse"].published
