"""What `check --data`, `preflight` and the file for the report say of a recording at hand."""

import numpy as np
import pytest
import yaml

from pdsim.cli.main import main
from pdsim.preflight.findings import read_preflight
from pdsim.runtime.errors import PdsimError

RATIOS = "only the ratios of mass, damping, stiffness: up to one common factor"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A free oscillator, ω = 5 /s, seen 25 times a second with noise of 1 mm, and its experiments."""
    place = tmp_path_factory.mktemp("mine")
    times = 0.04 * np.arange(200)
    seen = 0.3 * np.exp(-0.1 * times) * np.cos(5 * times)
    seen += 1e-3 * np.random.default_rng(0).normal(size=200)
    np.savetxt(
        place / "run.csv", np.stack([times, seen], axis=1), delimiter=",", header="t,x", comments=""
    )
    units = {"mass": "kg", "damping": "N s/m", "stiffness": "N/m"}
    middle = {"mass": 1.0, "damping": 0.2, "stiffness": 25.0}
    values = {
        "title": "mine",
        "simulator": {
            "system": "oscillator",
            "parameters": {
                name: {"lower": x * 0.9, "upper": x * 1.1, "unit": units[name], "scale": "log"}
                for name, x in middle.items()
            },
        },
        "recording": {
            "source": "table",
            "files": {"run": "run.csv"},
            "time": {"column": "t", "unit": "s"},
            "channels": {"x": {"column": "x", "unit": "m"}},
            "inputs": {"force": {"constant": 0.0, "unit": "N"}},
            "train": [{"run": "run", "frames": [0, 200]}],
            "smoothing": {"frames": 9, "order": 4},
        },
        "likelihood": {"combination": "product", "window_count": 10},
        "runs": [{"method": "least_squares", "shooting": "marginal"}],
        "budgets": {"quick": {"particle_count": 8, "iteration_count": 10}},
    }
    coarse = values["simulator"] | {"integrator": "semi_implicit_euler"}
    whole = [{"method": "svgd", "shooting": "single"}]
    for name, changes in {
        "fine": {},
        "coarse": {"simulator": coarse},
        "long": {"simulator": coarse, "runs": whole},
    }.items():
        (place / f"{name}.yaml").write_text(yaml.safe_dump(values | changes, sort_keys=False))
    return place


def test_check_tells_the_step_and_what_is_open(folder, capsys):
    path = f"{folder}/fine.yaml"
    assert main(["check", "--data", path]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{path}: error of one step halved: 0.0")
    assert f"{path}: open: {RATIOS}" in lines


def test_without_data_nothing_is_read(folder, capsys):
    assert main(["check", f"{folder}/coarse.yaml"]) == 0
    assert capsys.readouterr().out == ""


def step_of(folder, name, capsys):
    path = f"{folder}/{name}.yaml"
    assert main(["check", "--data", path]) == 2
    error = capsys.readouterr().err
    assert f"{path}: simulator.substeps: the error of a step is " in error
    return float(error.split("error of a step is ")[1].split()[0])


def test_a_step_that_errs_more_than_the_sensors_is_a_failure(folder, capsys):
    """Over what is simulated from one start: a window of 0.8 s, or all of the recording."""
    windows, whole = (step_of(folder, name, capsys) for name in ("coarse", "long"))
    assert 1 < windows < whole / 2


@pytest.mark.parametrize(
    ("name", "why"),
    [("demo", "its recording is simulated"), ("quadrotor_circle", "it is of kind control")],
)
def test_where_no_recording_is_at_hand_that_is_said(root, capsys, name, why):
    assert main(["check", "--data", str(root / f"config/experiments/{name}.yaml")]) == 0
    assert f"no recording to look at: {why}" in capsys.readouterr().out


def test_preflight_tells_the_costs_too_and_writes_them_for_the_report(folder, tmp_path, capsys):
    trajectories, output = str(tmp_path / "t.nc"), str(tmp_path / "preflight.json")
    path = f"{folder}/coarse.yaml"
    assert main(["preprocess", path, "--output", trajectories]) == 0
    words = ["preflight", path, "--budget", "quick", "--trajectories", trajectories]
    assert main(words) == 2
    shown = capsys.readouterr().out
    assert "least_squares_marginal: 480 roll-outs" in shown
    assert "damping: known to " in shown
    assert main([*words, "--output", output]) == 0
    found = read_preflight(output)
    assert not found.findings.fine
    assert found.findings.open[0] == RATIOS
    assert found.costs["least_squares_marginal"].rollouts == 480


def test_an_output_needs_the_file_that_it_is_about(folder, capsys):
    words = ["preflight", f"{folder}/fine.yaml", "--budget", "quick", "--output", "p.json"]
    assert main(words) == 2
    assert "--output: needs --trajectories" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["{}", "[]", "nothing", '{"costs": 3, "findings": null}'])
def test_a_foreign_file_is_told_apart(tmp_path, text):
    (tmp_path / "preflight.json").write_text(text)
    with pytest.raises(PdsimError, match="not written by pdsim preflight"):
        read_preflight(str(tmp_path / "preflight.json"))
