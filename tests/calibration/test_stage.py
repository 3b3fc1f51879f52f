"""The stage from end to end on a tiny oscillator: the same after an interruption, and compiled once."""

import jax.monitoring
import pytest
import xarray as xr
import yaml

from pdsim.cli.main import main
from pdsim.inference.least_squares import LeastSquares
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import checkpoint_of, read_dataset
from pdsim.stages import calibrate as stage

DATA_SETS = 8


@pytest.fixture(scope="module")
def tiny(root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("calibration")
    path = root / "config/experiments/calibration_oscillator.yaml"
    values = yaml.safe_load(path.read_text())
    # The noise known, and one window fewer: quick to compile.
    values["likelihood"]["window_count"] = 2
    values["likelihood"]["marginal"] |= {"sensor": None, "process": None}
    values["runs"] = [
        {"method": "least_squares", "shooting": shooting, "settings": {"start_count": 4}}
        for shooting in ("marginal", "single", "multiple")
    ]
    values["calibration"] = {
        "data_sets": DATA_SETS,
        "draws": 19,
        "budget": {"particle_count": 20, "iteration_count": 100},
    }
    (folder / "tiny.yaml").write_text(yaml.safe_dump(values, sort_keys=False))
    pdsim("record", folder / "tiny.yaml", "--output", folder / "raw")
    pdsim("preprocess", folder / "tiny.yaml", "--raw", folder / "raw",
          "--output", folder / "trajectories.nc")  # fmt: skip
    return folder


def pdsim(*arguments, code=0):
    assert main(["--quiet", *map(str, arguments)]) == code


def calibrate(tiny, output, run="least_squares_marginal", code=0):
    pdsim("calibrate", tiny / "tiny.yaml", "--run", run,
          "--trajectories", tiny / "trajectories.nc", "--output", output, code=code)  # fmt: skip
    return read_dataset(output).drop_vars("seconds") if code == 0 else None


@pytest.fixture(scope="module")
def whole(tiny):
    return calibrate(tiny, tiny / "whole.nc")


def test_ranks_truths_and_work_are_written(whole, tiny):
    assert whole["rank"].dims == ("data_set", "parameter")
    assert whole["parameter"].values.tolist() == ["stiffness", "damping"]
    assert ((whole["rank"] >= 0) & (whole["rank"] <= 19)).all()
    assert ((whole["truth"] > [10, 0.2]) & (whole["truth"] < [30, 2.0])).all()
    assert (whole["reason"] == "").all()
    assert (whole["evaluations"] > 0).all()
    assert whole["r_hat"].isnull().all()
    assert not checkpoint_of(tiny / "whole.nc").exists()


def test_an_interrupted_job_goes_on_and_ends_with_the_same(whole, tiny, monkeypatch):
    done, one = [], stage._one

    def interrupted(*arguments):
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append(arguments[3])
        return one(*arguments)

    output = tiny / "resumed.nc"
    monkeypatch.setattr(stage, "_one", interrupted)
    calibrate(tiny, output, code=130)
    monkeypatch.setattr(stage, "_one", lambda *a: done.append(a[3]) or one(*a))
    xr.testing.assert_identical(calibrate(tiny, output), whole)
    assert done == list(range(DATA_SETS))


def test_a_failure_is_counted_with_its_reason(whole, tiny, monkeypatch):
    draws = LeastSquares.draws

    def failing(self, problem, state):
        if int(state.seed) == 3:
            raise PdsimError("made to fail")
        return draws(self, problem, state)

    monkeypatch.setattr(LeastSquares, "draws", failing)
    data = calibrate(tiny, tiny / "failed.nc")
    assert data["reason"].values.tolist() == ["", "", "made to fail"] + [""] * (DATA_SETS - 3)
    assert (data["rank"][2] == -1).all()
    xr.testing.assert_equal(data["rank"].drop_sel(data_set=2), whole["rank"].drop_sel(data_set=2))
    pdsim("gather", tiny / "whole.nc", tiny / "failed.nc", "--kind", "calibration",
          "--output", tiny / "table")  # fmt: skip
    text = (tiny / "table.md").read_text()
    assert "- least_squares_marginal, 1 times: made to fail" in text
    assert (tiny / "table_parameters.csv").read_text().count("\n") == 5


def test_nothing_is_compiled_after_the_first_data_set(tiny, monkeypatch):
    compiled, starts, one = [], [], stage._one

    def counted(name, _, **details):
        if name.endswith("backend_compile_duration"):
            compiled.append(details.get("fun_name"))

    def noted(*arguments):
        starts.append(len(compiled))
        return one(*arguments)

    monkeypatch.setattr(stage, "_one", noted)
    jax.monitoring.register_event_duration_secs_listener(counted)
    try:
        calibrate(tiny, tiny / "single.nc", "least_squares_single")
    finally:
        jax.monitoring.clear_event_listeners()
    assert starts[1] > starts[0]
    assert starts[-1] == len(compiled) == starts[1], compiled[starts[1] :]


def test_the_figure_is_drawn(whole, tiny):
    pdsim("plot", "sbc", tiny / "tiny.yaml", "--calibration", tiny / "whole.nc",
          "--stem", tiny / "sbc")  # fmt: skip
    assert (tiny / "sbc.png").stat().st_size > 10_000


def test_runs_with_gaps_are_not_calibrated(tiny, capsys):
    calibrate(tiny, tiny / "never.nc", "least_squares_multiple", code=2)
    assert "least_squares_multiple: not to be calibrated" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"calibration": {"draws": 200}}, "particle_count: 120 must not be below draws (200)"),
        ({"calibration": {"data_stes": 9}}, "calibration.data_stes"),
        ({"runs": [{"method": "nuts", "shooting": "multiple"}]}, "no run has marginal or single"),
        ({"recording": {"noise": {"y": 0.1}}}, "recording.noise: needs exactly the positions"),
        ({"recording": {"parameters": {"stifness": 9.0}}}, "'stiffness'"),
        ({"recording": {"frame_count": 40}}, "go beyond frame_count"),
    ],
)  # fmt: skip
def test_mistakes_are_named(root, tmp_path, capsys, change, words):
    path = root / "config/experiments/calibration_oscillator.yaml"
    values = yaml.safe_load(path.read_text())
    for section, new in change.items():
        values[section] = values[section] | new if isinstance(new, dict) else new
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(values, sort_keys=False))
    pdsim("check", tmp_path / "mine.yaml", code=2)
    assert words in capsys.readouterr().err


def test_a_sum_over_recordings_is_refused(root, tmp_path, capsys):
    path = root / "config/experiments/calibration_oscillator.yaml"
    values = yaml.safe_load(path.read_text())
    values["recording"]["train"] = [{"run": 0, "frames": [0, 30]}, {"run": 0, "frames": [30, 61]}]
    values["likelihood"]["combination"] = "sum"
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(values, sort_keys=False))
    pdsim("check", tmp_path / "mine.yaml", code=2)
    assert "calibration: the sum over recordings" in capsys.readouterr().err
