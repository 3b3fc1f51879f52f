"""Particles and chains on several cores give what they give on one."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tiers import slow

from pdsim.cli.main import main
from pdsim.runtime import device
from pdsim.runtime.device import available_cores
from pdsim.runtime.errors import PdsimError

SCRIPT = Path(__file__).with_name("on_cores.py")


@pytest.fixture(scope="module")
def trajectories(root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("oscillator")
    experiment = str(root / "config/experiments/calibration_oscillator.yaml")
    raw, file = str(folder / "raw"), str(folder / "trajectories.nc")
    assert main(["--quiet", "record", experiment, "--output", raw]) == 0
    assert main(["--quiet", "preprocess", experiment, "--raw", raw, "--output", file]) == 0
    return file


def compare(root, tmp_path, what, trajectories):
    found = []
    for cores in ("1", "2"):
        file = tmp_path / f"{cores}.npz"
        ended = subprocess.run(
            [sys.executable, str(SCRIPT), cores, what, str(file), trajectories],
            cwd=root,
            # As in a workflow, which states one thread.
            env=os.environ | {"PYTHONPATH": str(root), "JAX_PLATFORMS": "cpu", "NPROC": "1"},
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert ended.returncode == 0, ended.stderr
        found.append(np.load(file))
    one, two = found
    assert set(one) == set(two)
    for name in one:
        scale = np.abs(one[name]).max(initial=1e-300)
        np.testing.assert_allclose(two[name], one[name], atol=1e-10 * scale, rtol=0, err_msg=name)


two_cores = pytest.mark.skipif(available_cores() < 2, reason="needs two cores")


@two_cores
@pytest.mark.parametrize("what", ["rows", "matrices", slow("particles"), slow("steps")])
def test_two_cores_give_what_one_gives(root, tmp_path, what, trajectories):
    """Rows of a table of roll-outs, matrices, likelihoods and slopes, and steps of particles."""
    compare(root, tmp_path, what, trajectories)


@two_cores
@pytest.mark.slow
@pytest.mark.parametrize("what", ["chains", "vehicles"])
def test_chains_and_vehicles_on_two_cores_are_those_on_one(root, tmp_path, what, trajectories):
    """Programs that take long to compile: of both adaptations of NUTS, and of a controller."""
    compare(root, tmp_path, what, trajectories)


def test_the_command_line_asks_for_the_cores(root, tmp_path, monkeypatch, capsys):
    def configure(precision, cores, *, lapack):
        raise PdsimError(f"{precision} on {cores} cores, LAPACK {lapack}")

    monkeypatch.setattr(device, "configure", configure)
    monkeypatch.setattr("pdsim.cli.of_an_experiment._check_files", lambda *_: None)
    experiment = str(root / "config/experiments/calibration_oscillator.yaml")
    files = ("--trajectories", "none.nc", "--output", str(tmp_path / "posterior.nc"))
    command = ["infer", experiment, "--run", "csvgd_marginal", "--budget", "quick", *files]
    assert main([*command, "--cores", "3"]) == 2
    assert "float64 on 3 cores, LAPACK False" in capsys.readouterr().err
