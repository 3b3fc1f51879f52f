import json

import numpy as np
import pandas as pd
import pytest
import yaml

from pdsim.cli.main import main
from pdsim.control.config import ControlConfig
from pdsim.runtime.files import checkpoint_of, read_dataset
from pdsim.stages import control as stage

TINY = {
    "kind": "control",
    "title": "Tiny",
    "task": {"name": "quadrotor"},
    "controllers": [
        {"name": "prmppi", "belief": "svgd", "sequences": 16, "horizon": 5, "particles": 8,
         "iterations": 2, "published": {"rmse": [0.17, 0.03]}},
    ],
    "budgets": {
        "smoke": {"simulations": 2, "laps": 1, "steps": 20, "chunk_size": 5, "timed_steps": 1}
    },
    "precision": "float64",
}  # fmt: skip


@pytest.fixture
def experiment(tmp_path):
    path = tmp_path / "tiny.yaml"
    path.write_text(yaml.safe_dump(TINY))
    return str(path)


def run(experiment, output):
    words = ["control", experiment, "--controller", "prmppi", "--budget", "smoke"]
    return main([*words, "--output", str(output)])


@pytest.mark.slow
def test_a_killed_job_goes_on_and_ends_as_if_it_had_not_been(
    experiment, tmp_path, monkeypatch, caplog, capsys
):
    """A control job goes on from its checkpoint to the same numbers."""
    whole, halved = tmp_path / "whole.nc", tmp_path / "halved.nc"
    assert run(experiment, whole) == 0
    saved = stage.save

    def killed(path, fingerprint, checkpoint):
        saved(path, fingerprint, checkpoint)
        if len(checkpoint.history["state"]) == 10:
            raise KeyboardInterrupt

    monkeypatch.setattr(stage, "save", killed)
    assert run(experiment, halved) == 130
    assert (
        "interrupted; the same command goes on from the last checkpoint" in capsys.readouterr().err
    )
    assert checkpoint_of(halved).exists()
    monkeypatch.setattr(stage, "save", saved)
    caplog.set_level("INFO")
    assert run(experiment, halved) == 0
    assert "resuming after control step 10" in caplog.text
    assert not checkpoint_of(halved).exists()
    one, two = read_dataset(whole), read_dataset(halved)
    for name in one.data_vars:
        np.testing.assert_array_equal(one[name], two[name], err_msg=name)
    assert one["particles"].dims == ("simulation", "kept", "particle", "parameter")
    assert list(one["kept"]) == [9, 19]


def test_from_a_log_to_the_report(experiment, tmp_path):
    log, folder = str(tmp_path / "log.nc"), tmp_path / "tables"
    assert run(experiment, log) == 0
    assert main(["control-table", experiment, "--logs", log, "--folder", str(folder)]) == 0
    laps = pd.read_csv(folder / "laps.csv")
    assert list(laps["controller"]) == ["prmppi"] * 2
    assert np.isfinite(laps["rmse"]).all()
    medians = pd.read_csv(folder / "by_lap.csv", index_col=0)
    assert list(medians.index) == ["prmppi, lap 1"]
    assert medians["rmse"].iloc[0] == pytest.approx(laps["rmse"].median())
    row = pd.read_csv(folder / "comparison.csv", index_col=0).loc["prmppi"]
    assert row["published_rmse"] == 0.17
    assert row["step"] > 0
    figures = []
    for figure, file, suffix in (
        ("path", log, "png"),
        ("laps", folder / "laps.csv", "png"),
        ("film", log, "gif"),
    ):
        stem = tmp_path / figure
        words = ["control-plot", figure, experiment, "--file", str(file), "--stem", str(stem)]
        assert main(words) == 0
        figures.append(f"{stem}.{suffix}")
    output = tmp_path / "report.html"
    words = ["control-report", experiment, "--logs", log, "--figures", *figures]
    assert main([*words, "--output", str(output)]) == 0
    text = output.read_text()
    assert "data:image/gif" in text
    assert "0.17 ± 0.03" in text


MISTAKES = {
    "unknown task": (("task", "name"), "quadrotr", ["task.name", "'quadrotor'"]),
    "unknown option": (("task", "options"), {"radus": 1.0}, ["task.options.radus", "'radius'"]),
    "bad option": (("task", "options"), {"spread": 2.0}, ["task.options.spread", "less than 1"]),
    "misspelt key": (("controllers", 0, "beliefs"), "svgd", ["controllers.0.beliefs", "'belief'"]),
    "unknown belief": (("controllers", 0, "belief"), "kalman", ["controllers.0.belief", "'svgd'"]),
    "unknown shown": (("shown",), "prmpi", ["shown", "'prmppi'"]),
    "too few samples": (
        ("controllers", 0, "risk"),
        0.01,
        ["controllers.0.samples: 10", "too few for a risk of 0.01", "give 99 or more"],
    ),
    "risk of one": (("controllers", 0, "risk"), 1.0, ["controllers.0.risk", "less than 1"]),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_names_file_key_and_remedy(mistake, tmp_path, capsys):
    path, value, told = MISTAKES[mistake]
    values = json.loads(json.dumps(TINY))
    *parents, last = path
    place = values
    for key in parents:
        place = place[key]
    place[last] = value
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.safe_dump(values))
    assert main(["check", str(file)]) == 2
    text = capsys.readouterr().err
    for part in (str(file), *told):
        assert part in text


def test_verbs_tell_the_kinds_of_experiment_apart(experiment, root, tmp_path, capsys):
    output = str(tmp_path / "log.nc")
    demo = str(root / "config/experiments/demo.yaml")
    assert main(["control", demo, "--controller", "prmppi", "--output", output]) == 2
    assert "experiments of kind control" in capsys.readouterr().err
    assert main(["preprocess", experiment, "--output", output]) == 2
    assert "experiments of kind identification" in capsys.readouterr().err


def test_what_is_published_or_shown_reruns_no_simulation():
    changed = json.loads(json.dumps(TINY)) | {"title": "Other", "notes": ["one"]}
    changed["controllers"][0]["published"] = None
    runs = [ControlConfig.model_validate(v).run("prmppi", "smoke") for v in (TINY, changed)]
    assert runs[0] == runs[1]
