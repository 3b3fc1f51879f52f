"""Files of earlier stages against the experiment that they are given to."""

import json
import logging
from pathlib import Path

import numpy as np
import pytest
import yaml
from posteriors import write_posterior

from pdsim.cli.main import main
from pdsim.experiment.checks.made_with import check_posterior, check_trajectories
from pdsim.experiment.load import load_experiment
from pdsim.experiment.slices import slice_of
from pdsim.posterior import read_posterior
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import read_dataset, write_dataset

DRAWS = {"stiffness": np.linspace(18.0, 22.0, 5), "damping": np.linspace(0.5, 0.7, 5)}
RUN = "svgd_single"


@pytest.fixture
def experiment(root, tmp_path):
    """An oscillator's experiment in a folder of its own."""
    values = yaml.safe_load((root / "config/experiments/calibration_oscillator.yaml").read_text())
    values["runs"] = [{"method": "svgd", "shooting": "single"}]
    values |= {"reference": None, "detailed": []}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(values))
    return load_experiment(tmp_path / "mine.yaml")


def posterior(path, experiment, **changes):
    """A posterior of the experiment's run, as its job would write it."""
    job = slice_of("infer", experiment, run=RUN, budget=next(iter(experiment.budgets)))
    values = job.model_dump(mode="json")
    settings = {key: values[key] for key in ("run", "likelihood")}
    write_posterior(path, DRAWS, values["simulator"], run=RUN, settings=settings, **changes)
    return read_posterior(path)


def test_what_was_made_with_the_experiment_passes(experiment, tmp_path):
    found = posterior(tmp_path / "p.nc", experiment)
    check_posterior(found, experiment, run=RUN, seed=0)
    assert found.usable.all()
    # A prior that became part of the settings is no difference.
    joint = {"parameters": ["stiffness"], "mean": [20.0], "covariance": [[4.0]]}
    simulator = found.settings["simulator"] | {"joint_prior": joint}
    settings = {key: found.settings[key] for key in ("run", "likelihood")}
    write_posterior(tmp_path / "q.nc", DRAWS, simulator, run=RUN, settings=settings)
    check_posterior(read_posterior(tmp_path / "q.nc"), experiment)


def test_a_moved_recording_is_the_same_and_a_changed_one_is_not(experiment, tmp_path):
    assert main(["record", str(tmp_path / "mine.yaml"), "--output", str(tmp_path / "raw")]) == 0
    path = str(tmp_path / "t.nc")
    raw = ["--raw", str(tmp_path / "raw")]
    assert main(["preprocess", str(tmp_path / "mine.yaml"), *raw, "--output", path]) == 0
    check_trajectories(path, experiment)
    source = Path(str(read_dataset(path)["source"].values[0]))
    with source.open("a") as file:
        file.write("\n")
    with pytest.raises(PdsimError, match="which has changed since; run pdsim preprocess again"):
        check_trajectories(path, experiment)
    (tmp_path / "raw").rename(tmp_path / "moved")
    check_trajectories(path, experiment)
    data = read_dataset(path)
    section = json.loads(data.attrs["recording"]) | {"rate_hz": 1.0}
    write_dataset(path, data.assign_attrs(recording=json.dumps(section)))
    with pytest.raises(PdsimError, match=r"recording\.rate_hz 1\.0, and the experiment has"):
        check_trajectories(path, experiment)


def test_force_tells_and_goes_on(experiment, tmp_path, caplog):
    path, folder = tmp_path / "p.nc", tmp_path / "robots"
    posterior(path, experiment)
    write_posterior(path, DRAWS | {"stiffness": [1e9, 20.0, 20.0, 20.0, 20.0]}, run=RUN,
                    simulator=read_posterior(path).settings["simulator"])  # fmt: skip
    command = ["export", str(path), "--count", "5", "--output", str(folder)]
    assert main(command) == 2
    assert not folder.exists()
    with caplog.at_level(logging.WARNING):
        assert main([*command, "--force"]) == 0
    assert "outside its bounds" in caplog.text
    assert "taken as it is" in caplog.text
    assert (folder / "draws.csv").exists()


def test_rounding_and_what_the_estimator_says_itself_are_no_fault(tmp_path):
    """Draws of single precision lie on their bounds to seven digits; some estimators pass them."""
    draws = {"mass": [1.0 + 1e-7, 0.5, 0.2, 0.3]}
    simulator = {
        "system": "oscillator",
        "parameters": {"mass": {"lower": 0.0, "upper": 1.0, "unit": "kg"}},
    }
    read_posterior(write_posterior(tmp_path / "a.nc", draws, simulator))
    beyond = {"mass": [1.1, 0.5, 0.2, 0.3]}
    path = write_posterior(tmp_path / "b.nc", beyond, simulator)
    with pytest.raises(PdsimError, match="1 of 4 draws of mass are outside"):
        read_posterior(path)
    for stats in ({"limit_violation": [0.1, 0, 0, 0]}, {"diverging": [1, 0, 0, 0]}):
        read_posterior(write_posterior(tmp_path / "c.nc", beyond, simulator, stats=stats))
