"""Two recordings one after the other through the stages, the first posterior a file."""

import json

import numpy as np
import pytest
import yaml

from pdsim.cli.main import main
from pdsim.runtime.files import read_dataset

NAMES = ("stiffness", "damping")
BUDGET = {"particle_count": 800, "iteration_count": 100, "learning_curve": False}


@pytest.fixture(scope="module")
def folder(root, tmp_path_factory):
    """Experiments on one recording, on the next with the first's posterior, and on both."""
    folder = tmp_path_factory.mktemp("next_prior")
    path = root / "config/experiments/calibration_oscillator.yaml"
    values = yaml.safe_load(path.read_text())
    # Less than the likelihood says, so that the starts, which count as known, are.
    values["recording"]["noise"] = {"x": 0.002}
    values["recording"]["runs"] = [
        {"start": {"x": 0.3, "dx": -0.5}, "inputs": {"force": [4, -3, 2, -5, 5, -2]}},
        {"start": {"x": -0.2, "dx": 0.4}, "inputs": {"force": [-2, 5, -4, 3, 1, -5]}},
    ]
    values["likelihood"] = {"combination": "product", "noise": {"x": 0.02, "dx": 0.2}}
    methods = ("least_squares", "svgd")
    values["runs"] = [{"method": method, "shooting": "single"} for method in methods]
    values["budgets"] = {"quick": BUDGET}
    values["tuning"] = {"budget": {"particle_count": 40, "iteration_count": 20}}
    values["runs"][0]["tune"] = {"start_count": [2, 4]}
    values["bayessim"] = {"training_set": {"count": 40, "held_out_count": 4}}
    values["calibration"] = {
        "data_sets": 8,
        "draws": 9,
        "budget": {"particle_count": 40, "iteration_count": 20},
    }
    earlier = {"experiment": "first", "run": "least_squares_single"}
    for name, runs in (("first", [0]), ("second", [1]), ("both", [0, 1])):
        values["recording"]["train"] = [{"run": run, "frames": [0, 61]} for run in runs]
        values["simulator"].pop("prior_from", None)
        if name == "second":
            values["simulator"]["prior_from"] = earlier
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(values, sort_keys=False))
    pdsim("record", folder / "first.yaml", "--output", folder / "raw")
    for name in ("first", "second", "both"):
        files = ("--raw", folder / "raw", "--output", folder / f"{name}.nc")
        pdsim("preprocess", folder / f"{name}.yaml", *files)
    infer(folder, "first")
    return folder


def pdsim(verb, *arguments, code=0):
    assert main(["--quiet", verb, *map(str, arguments)]) == code


def infer(folder, name, *more):
    files = ("--trajectories", folder / f"{name}.nc", "--output", folder / name / "posterior.nc")
    run = ("--run", "least_squares_single", "--budget", "quick")
    pdsim("infer", folder / f"{name}.yaml", *run, *files, *more)


def prior_from(folder):
    return ("--prior-from", folder / "first/posterior.nc")


def read(folder, name, group="posterior"):
    data = read_dataset(folder / name / "posterior.nc", group)
    return np.stack([data[name].values.ravel() for name in NAMES], axis=1)


def test_one_after_the_other_is_both_at_once(folder):
    """The first posterior is told by 800 draws, whose mean errs by 0.035 deviations, and the motion
    is not quite linear in stiffness and damping."""
    infer(folder, "second", *prior_from(folder))
    infer(folder, "both")
    first, second, both = (read(folder, name) for name in ("first", "second", "both"))
    deviation = both.std(axis=0)
    assert np.abs((second.mean(axis=0) - both.mean(axis=0)) / deviation).max() < 0.15
    assert np.abs(second.std(axis=0) / deviation - 1).max() < 0.05
    found, expected = (np.corrcoef(x, rowvar=False)[0, 1] for x in (second, both))
    assert found == pytest.approx(expected, abs=0.05)
    # The first knew less.
    assert (first.std(axis=0) / deviation).min() > 1.15


def test_the_file_tells_the_prior_it_had(folder):
    infer(folder, "second", *prior_from(folder))
    prior, first = read(folder, "second", "prior"), read(folder, "first")
    assert np.abs((prior.mean(axis=0) - first.mean(axis=0)) / first.std(axis=0)).max() < 0.15
    assert np.abs(prior.std(axis=0) / first.std(axis=0) - 1).max() < 0.1
    said = json.loads(read_dataset(folder / "second/posterior.nc").attrs["config"])["simulator"]
    assert said["prior_from"] is None
    assert said["joint_prior"]["parameters"] == list(NAMES)
    log_prior = read_dataset(folder / "second/posterior.nc", "sample_stats")["log_prior"].values
    assert np.ptp(log_prior) > 1


def test_truths_of_a_calibration_are_drawn_from_it(folder):
    output = folder / "calibration.nc"
    files = ("--trajectories", folder / "second.nc", "--output", output)
    run = ("--run", "least_squares_single")
    pdsim("calibrate", folder / "second.yaml", *run, *files, code=2)
    pdsim("calibrate", folder / "second.yaml", *run, *files, *prior_from(folder))
    truth, first = read_dataset(output)["truth"].values, read(folder, "first")
    assert np.abs((truth - first.mean(axis=0)) / first.std(axis=0)).max() < 5


def test_bayessim_simulates_from_it(folder):
    output = folder / "training_set.nc"
    files = ("--trajectories", folder / "second.nc", "--output", output, "--budget", "quick")
    pdsim("training-set", folder / "second.yaml", *files, code=2)
    pdsim("training-set", folder / "second.yaml", *files, *prior_from(folder))
    # Unit coordinates; the first posterior fills a small part of the box.
    coordinates = read_dataset(output)["coordinates"].values
    assert (coordinates.std(axis=0) < 0.15).all()


@pytest.mark.slow
def test_a_search_of_settings_needs_it(folder):
    """`pdsim tune` refuses to start without the posterior that its prior is."""
    files = ("--trajectories", folder / "second.nc", "--output", folder / "tuning.csv")
    run = ("--run", "least_squares_single")
    pdsim("tune", folder / "second.yaml", *run, *files, code=2)
    pdsim("tune", folder / "second.yaml", *run, *files, *prior_from(folder))
