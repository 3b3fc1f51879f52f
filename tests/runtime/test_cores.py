"""Particles and chains on several cores give what they give on one."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pdsim.cli.main import main
from pdsim.runtime import device
from pdsim.runtime.device import available_cores
from pdsim.runtime.errors import PdsimError

SCRIPT = Path(__file__).with_name("on_cores.py")


@pytest.mark.skipif(available_cores() < 2, reason="needs two cores")
def test_two_cores_give_what_one_gives(root, tmp_path):
    experiment = "config/experiments/calibration_oscillator.yaml"
    files = [tmp_path / "one.npz", tmp_path / "two.npz"]

    def call(*arguments):
        ended = subprocess.run(
            [sys.executable, *map(str, arguments)],
            cwd=root,
            env=os.environ | {"PYTHONPATH": str(root), "JAX_PLATFORMS": "cpu"},
            capture_output=True,
            text=True,
        )
        assert ended.returncode == 0, ended.stderr

    call("-m", "pdsim", "record", experiment, "--output", tmp_path / "raw")
    trajectories = tmp_path / "trajectories.nc"
    call("-m", "pdsim", "preprocess", experiment, "--raw", tmp_path / "raw",
         "--output", trajectories)  # fmt: skip
    for cores, file in enumerate(files, start=1):
        call(SCRIPT, cores, file, trajectories)
    one, two = (np.load(file) for file in files)
    assert set(one) == set(two)
    for name in one:
        scale = np.abs(one[name]).max(initial=1e-300)
        np.testing.assert_allclose(two[name], one[name], atol=1e-10 * scale, rtol=0, err_msg=name)


def test_the_command_line_asks_for_the_cores(root, tmp_path, monkeypatch, capsys):
    def configure(precision, cores):
        raise PdsimError(f"{precision} on {cores} cores")

    monkeypatch.setattr(device, "configure", configure)
    experiment = str(root / "config/experiments/calibration_oscillator.yaml")
    files = ("--trajectories", "none.nc", "--output", str(tmp_path / "posterior.nc"))
    command = ["infer", experiment, "--run", "csvgd_marginal", "--budget", "quick", *files]
    assert main([*command, "--cores", "3"]) == 2
    assert "float64 on 3 cores" in capsys.readouterr().err
