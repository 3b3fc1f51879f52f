"""A robot that is seen by markers alone, through the stages: two phases, and BayesSim's simulations."""

import numpy as np
import pytest
import yaml
from reference import NEAR_HANGING, hanging_arm

from pdsim.cli.main import main
from pdsim.runtime.files import read_dataset

DAMPING = {"lower": 0.0, "upper": 0.1, "unit": "N m s", "sets": ["joint/elbow/damping"]}
MASS = {"lower": 0.2, "upper": 1.0, "unit": "kg", "sets": ["body/lower/mass"]}
BUDGET = {"particle_count": 4, "iteration_count": 10, "learning_curve": False}


def experiment(parameters, **simulator):
    return {
        "title": "Arm",
        "simulator": {
            "system": "articulated",
            "options": {
                "model": "arm.xml",
                "actuation": "pd",
                "joints": ["shoulder"],
                "observe": {"positions": [], "velocities": [], "frames": {"tip": "lower"}},
            },
            "integrator": "implicit_damping",
            "parameters": parameters,
        }
        | simulator,
        "recording": {
            "source": "mujoco",
            "model": "arm.xml",
            "rate_hz": 50.0,
            "frame_count": 40,
            "train": [{"run": 0, "frames": [0, 40]}],
            "smoothing": {"frames": 11, "order": 4},
            "parameters": {"joint/elbow/damping": 0.02, "body/lower/mass": 0.6},
            "controllers": {"shoulder": {"at": 0.2, "kp": 100.0, "kd": 10.0, "speed": 1.0}},
            "frames": {"tip": {"body": "lower", "noise": 0.0005}},
            "runs": [{"moves": [{"joint": "shoulder", "after": 0.2, "to": 0.3}]}],
            "states": {"near": NEAR_HANGING, "rest": 5},
        },
        # Coordinates across the plane do not move.
        "likelihood": {"noise": {f"tip_{a}_{b}": 0.01 for a in "oxyz" for b in "xyz"}},
        "runs": [{"method": "emcee", "shooting": "single"}],
        "budgets": {"quick": BUDGET},
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stand_in")
    (folder / "arm.xml").write_text(hanging_arm("0 1 0"))
    earlier = {"experiment": "first", "run": "emcee_single"}
    training = {"count": 6, "held_out_count": 2}
    phases = {
        "first": experiment({"damping": DAMPING}) | {"bayessim": {"training_set": training}},
        "second": experiment({"mass": MASS}, fixed_from=earlier),
    }
    for name, values in phases.items():
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(values))
    pdsim("record", folder / "first.yaml", "--output", folder / "raw")
    files = ("--raw", folder / "raw", "--output", folder / "trajectories.nc")
    pdsim("preprocess", folder / "first.yaml", *files)
    return folder


def pdsim(verb, *arguments, code=0):
    assert main(["--quiet", verb, *map(str, arguments)]) == code


@pytest.mark.slow
def test_the_second_phase_starts_from_the_posterior_of_the_first(folder):
    """Values fixed from another experiment's posterior are those of its best draw, and required."""
    files = ("--trajectories", folder / "trajectories.nc", "--run", "emcee_single")
    first, second = folder / "first.nc", folder / "second.nc"
    pdsim("infer", folder / "first.yaml", "--budget", "quick", *files, "--output", first)
    given = (*files, "--budget", "quick", "--output", second)
    pdsim("infer", folder / "second.yaml", *given, code=2)
    pdsim("infer", folder / "second.yaml", *given, "--fixed-from", first)
    stats = read_dataset(first, "sample_stats")
    best = int(np.argmax((stats["log_likelihood"] + stats["log_prior"]).values))
    found = read_dataset(first, "posterior")["damping"].values.ravel()[best]
    assert f'"joint/elbow/damping": {float(found)!r}' in read_dataset(second).attrs["config"]
    assert list(read_dataset(second, "posterior").data_vars) == ["mass"]


def test_simulations_start_with_the_errors_of_the_fitted_start(folder):
    training = folder / "training_set.nc"
    files = ("--trajectories", folder / "trajectories.nc", "--output", training)
    pdsim("training-set", folder / "first.yaml", "--budget", "quick", *files)
    shown = read_dataset(training)["simulated"].values
    recorded = read_dataset(folder / "trajectories.nc")["observed"].values[0]
    assert shown.shape == (8, 40, 12)
    assert 1e-4 < shown[:, 0].std(axis=0).max() < 3e-3
    assert np.abs(shown[:, 0] - recorded[0]).max() < 5e-3
