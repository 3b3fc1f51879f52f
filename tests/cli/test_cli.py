import subprocess
import sys

import pytest

from pdsim.cli.main import main


def test_help_teaches_the_stages(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    for word in ("preprocess", "infer", "evaluate", "snakemake demo", "exit codes"):
        assert word in text


def test_as_a_module():
    result = subprocess.run(
        [sys.executable, "-m", "pdsim", "--version"], capture_output=True, text=True, check=True
    )
    assert result.stdout.startswith("pdsim 0.")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["check", "none.yaml"], ["pdsim check", "none.yaml", "cannot be read"]),
        (
            ["infer", "{demo}", "--run", "svdg_single", "--trajectories", "t", "--output", "o"],
            ["no estimator's run", "'svdg_single'", "'svgd_single'"],
        ),
        (
            ["infer", "{demo}", "--run", "svgd_single", "--trajectories", "t.nc",
             "--output", "o", "--budget", "huge"],
            ["huge", "quick, paper"],
        ),
        (
            ["infer", "{demo}", "--run", "svgd_single", "--trajectories", "t.nc", "--output", "o"],
            ["t.nc", "no such file"],
        ),
        (["record", "{calibrated}", "--output", "o"], ["recording.source", "ibm", "nothing to record"]),
        (["plot", "density", "{demo}", "--stem", "s"], ["--trajectories", "--rollouts"]),
        (
            ["plot", "landscape", "{calibrated}", "--trajectories", "t", "--stem", "s"],
            ["landscape", "missing"],
        ),
        (["download", "--run", "77", "--output", "o"], ["0 to 20", "77"]),
    ],
)  # fmt: skip
def test_what_the_user_can_mend_is_said_without_a_trace(root, capsys, arguments, words):
    names = {
        "demo": root / "config/experiments/demo.yaml",
        "calibrated": root / "config/experiments/ibm_calibrated.yaml",
    }
    assert main([word.format(**names) for word in arguments]) == 2
    error = capsys.readouterr().err
    assert "Traceback" not in error
    for word in words:
        assert word in error


def test_check_is_silent_when_all_is_well(root, capsys):
    assert main(["check", str(root / "config/experiments/demo.yaml")]) == 0
    assert capsys.readouterr().out == ""
