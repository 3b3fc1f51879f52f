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


def test_check_is_silent_when_all_is_well(root, capsys):
    assert main(["check", str(root / "config/experiments/demo.yaml")]) == 0
    assert capsys.readouterr().out == ""
