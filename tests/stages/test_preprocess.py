"""What ``preprocess`` refuses, and what a training window may see."""

from dataclasses import replace

import numpy as np
import pytest
import yaml

from pdsim.cli.main import main
from pdsim.recordings.recording import unsmoothed
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import read_dataset
from pdsim.stages.preprocess import _check_copies

TABLE = {
    "title": "Oscillator",
    "simulator": {
        "system": "oscillator",
        "parameters": {"stiffness": {"lower": 1, "upper": 40, "unit": "N/m"}},
    },
    "recording": {
        "source": "table",
        "files": ["swing.csv"],
        "rate_hz": 100,
        "channels": {"x": {"column": "x", "unit": "m"}},
        "inputs": {"force": {"constant": 0, "unit": "N"}},
        "train": [{"run": "swing", "frames": [0, 100]}],
        "test": [{"run": "swing", "frames": [100, 200]}],
    },
    "likelihood": {"noise_relative": 0.1},
    "runs": [{"method": "svgd", "shooting": "single"}],
    "budgets": {"quick": {"particle_count": 4, "iteration_count": 1}},
}


def trajectories(folder, x):
    (folder / "swing.csv").write_text("x\n" + "\n".join(map(str, x)) + "\n")
    (folder / "mine.yaml").write_text(yaml.safe_dump(TABLE))
    output = folder / "trajectories.nc"
    assert main(["--quiet", "preprocess", str(folder / "mine.yaml"), "--output", str(output)]) == 0
    return read_dataset(output)


def test_a_training_window_does_not_see_the_held_out_one_beside_it(tmp_path):
    x = np.sin(0.1 * np.arange(200)) + 0.01 * np.random.default_rng(0).normal(size=200)
    one = trajectories(tmp_path, x)
    other = trajectories(tmp_path, np.where(np.arange(200) < 100, x, x + 5.0))
    np.testing.assert_array_equal(one["states"].values[0], other["states"].values[0])
    assert (one["states"].values[1] != other["states"].values[1]).any()


def test_a_copy_under_another_name_is_not_held_out():
    run = unsmoothed("a", 0.1, np.zeros((50, 1)), np.zeros((50, 0)), 1, source="a.csv", sha256="1")
    copy = replace(run, run="b", source="b.csv", first_frame=30)
    with pytest.raises(PdsimError, match=r"b\.csv: this held-out file is a copy.*a\.csv"):
        _check_copies([run, copy], ["train", "test"])
    _check_copies([run, replace(copy, first_frame=50)], ["train", "test"])
    _check_copies([run, copy], ["train", "train"])


def test_bayessim_is_refused_where_sensors_cannot_be_imitated(tmp_path, capsys):
    values = TABLE | {"bayessim": {}}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(values))
    assert main(["check", str(tmp_path / "mine.yaml")]) == 2
    assert "bayessim: channel dx is not observed" in capsys.readouterr().err
