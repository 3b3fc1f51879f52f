"""Which files are asked for, and which windows of them are learned from or held out."""

from pathlib import Path

import pytest
from recordings.tables import config, invalid

from pdsim.recordings import table
from pdsim.recordings.segments import Window
from pdsim.runtime.errors import PdsimError


def test_files_are_looked_for_beside_the_experiment_first(tmp_path, monkeypatch):
    places = [tmp_path / name for name in ("experiment", "environment", "work/data")]
    monkeypatch.setenv("PDSIM_DATA_DIR", str(places[1]))
    for folder in (places[1], tmp_path / "work"):
        folder.mkdir()
    monkeypatch.chdir(tmp_path / "work")
    settings = config(["mine/run_1.csv", "/somewhere/run_2.csv"])

    def found():
        return table.files(settings, str(places[0]))

    assert found() == {
        "run_1": str(places[0] / "mine/run_1.csv"),
        "run_2": "/somewhere/run_2.csv",
    }
    for place in reversed(places):
        (place / "mine").mkdir(parents=True)
        (place / "mine/run_1.csv").touch()
        assert Path(found()["run_1"]).resolve() == place / "mine/run_1.csv"


def test_files_that_no_window_names_are_not_asked_for():
    settings = config(["a.csv", "b.csv", "c.csv"], train=[{"run": "a"}], test=[{"run": "c"}])
    assert list(table.files(settings, ".")) == ["a", "c"]


def test_names_of_runs():
    assert config({0: "x/run 1.csv", "slow": "y.csv"}).files == {
        "0": "x/run 1.csv",
        "slow": "y.csv",
    }
    invalid(["'run'", "x/run.csv", "y/run.nc", "run_a"], ["x/run.csv", "y/run.nc"])
    invalid(["name holds letters"], ["run 1.csv"])
    invalid(["named twice"], {"a": "run.csv", "b": "run.csv"})
    invalid(["list of files"], 3)


# Windows


def test_windows_in_seconds_frames_and_whole():
    settings = config(
        ["run_1.csv", "run_2.csv", "run_3.csv"],
        train=[{"run": "run_1", "seconds": [0, 4], "name": "slow"}, {"run": "run_3"}],
        test=[{"run": "run_1", "seconds": [4, 5]}, {"run": "run_2", "frames": [10, 90]}],
    )
    assert settings.resolve(None, float("nan")) == []
    assert settings.resolve({"run_1": 3000, "run_2": 100, "run_3": 700}, 0.002) == [
        Window("train", "run_1", 0, 2000, "slow"),
        Window("train", "run_3", 0, 700, ""),
        Window("test", "run_1", 2000, 2500, ""),
        Window("test", "run_2", 10, 90, ""),
    ]
    with pytest.raises(
        PdsimError, match=r"run_1: seconds \[0.0, 4.0\], .* 1,500 frames, that is 3 s"
    ):
        settings.resolve({"run_1": 1500, "run_2": 100, "run_3": 700}, 0.002)


def test_what_the_config_alone_knows():
    frames = {"train": [{"run": "run", "frames": [0, 100]}]}
    assert config("run.csv", **frames).resolve(None, 0.0) == [Window("train", "run", 0, 100, "")]
    seconds = {"train": [{"run": "run", "seconds": [0, 1]}]}
    assert config("run.csv", **seconds).resolve(None, 0.0) == []
    known = config("run.csv", resample={"rate_hz": 250}, **seconds)
    assert known.resolve(None, 0.0) == [Window("train", "run", 0, 250, "")]


def test_by_default_all_that_is_not_held_out_is_learned_from():
    settings = config(["a.csv", "b.csv"], test=[{"run": "b", "frames": [0, 50]}])
    windows = settings.resolve({"a": 100, "b": 100}, 0.01)
    assert windows == [Window("train", "a", 0, 100, ""), Window("test", "b", 0, 50, "")]
    invalid(["every run is in test"], ["a.csv"], test=[{"run": "a"}])


def test_a_share_is_kept_for_testing():
    settings = config(["a.csv", "b.csv"], test_share=0.25)
    assert settings.resolve({"a": 100, "b": 200}, 0.01) == [
        Window("train", "a", 0, 75, ""),
        Window("train", "b", 0, 150, ""),
        Window("test", "a", 75, 100, ""),
        Window("test", "b", 150, 200, ""),
    ]
    with pytest.raises(PdsimError, match=r"test: run a, frames 45:60, is too short"):
        settings.resolve({"a": 60, "b": 200}, 0.01)


def test_windows_that_cannot_be():
    window = {"run": "run", "frames": [0, 100]}
    invalid(
        ["in test, but 50 of its frames"], train=[window], test=[window | {"frames": [50, 150]}]
    )
    invalid(["twice"], train=[window, window])
    invalid(["there is no run 'rum'", "did you mean 'run'"], train=[{"run": "rum"}])
    invalid(["frames and seconds"], train=[window | {"seconds": [0, 1]}])
    invalid(["end after it"], train=[{"run": "run", "seconds": [2, 1]}])
    invalid(["a window needs 20"], train=[window | {"frames": [0, 19]}])
    invalid(["longer than smoothing.frames (101)"], train=[window], smoothing={"frames": 101})
    invalid(["test and test_share"], test=[window], test_share=0.5)
    seconds = [{"run": "run", "seconds": [0, 1]}], [{"run": "run", "seconds": [0.9, 2]}]
    late = config("run.csv", train=seconds[0], test=seconds[1])
    with pytest.raises(PdsimError, match=r"recording: .* 10 of its frames"):
        late.resolve({"run": 300}, 0.01)
