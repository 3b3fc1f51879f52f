"""Is the doctor right, and does it find what is wrong?"""

import os
from importlib import metadata

import numpy as np
import pytest

from pdsim.cli.main import main
from pdsim.doctor import checks, pendulum

PARAMETERS = {
    "mass_1": 0.5, "inertia_1": 9e-4, "com_x_1": 0.02, "com_y_1": 0.06, "friction_1": 1e-3,
    "length": 0.09, "mass_2": 0.1, "inertia_2": 1e-4, "com_x_2": -0.01, "com_y_2": 0.04,
    "friction_2": 2e-3, "gravity": 9.81,
}  # fmt: skip
START = np.array([1.0, -0.5, 2.0, 7.0])


def test_the_plain_pendulum_is_mujoco_s():
    import mujoco
    from reference import mujoco_model

    model = mujoco_model(PARAMETERS)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = START[:2], START[2:]
    mujoco.mj_forward(model, data)
    found = pendulum._rates(START, PARAMETERS)
    np.testing.assert_allclose(found, [*START[2:], *data.qacc], rtol=1e-10)


def test_slopes_of_complex_steps_are_those_of_differences():
    def cost(mass):
        found = pendulum.angles(PARAMETERS | {"mass_2": mass}, START, 5, 0.01)
        return (found**2 / 2).sum()

    difference = (cost(0.1 + 1e-6) - cost(0.1 - 1e-6)) / 2e-6
    assert pendulum.slope("mass_2", PARAMETERS, START, 5, 0.01) == pytest.approx(
        difference, rel=1e-6
    )


def test_this_machine_is_fit(tmp_path, capsys):
    assert main(["doctor", "--results", str(tmp_path / "not" / "yet")]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[-1] == "fit"
    names = [line.split()[1] for line in told[:-1]]
    assert names == ["python", "packages", "machine", "disk", "netcdf", "snakemake", "device",
                     "arithmetic"]  # fmt: skip
    assert str(tmp_path) in told[3]


def test_code_that_counts_wrong_is_found(monkeypatch):
    from pdsim.systems import double_pendulum

    right = double_pendulum.accelerations

    def miscompiled(state, torque, k):
        first, second = right(state, torque, k)
        return first * (1 + 1e-6), second

    monkeypatch.setattr(double_pendulum, "accelerations", miscompiled)
    found = checks.arithmetic()
    assert found.state == "wrong"
    assert "compiled motion by" in found.text and "take another version of jax" in found.text


def test_versions_that_are_excluded_or_missing_are_named(monkeypatch):
    right = metadata.version
    monkeypatch.setattr(
        metadata, "version", lambda name: "0.10.2" if name == "jax" else right(name)
    )
    found = checks.packages()
    assert (found.state, "jax 0.10.2 (allowed: " in found.text) == ("wrong", True)
    assert "requirements.lock" in found.text

    def missing(name):
        if name == "emcee":
            raise metadata.PackageNotFoundError(name)
        return right(name)

    monkeypatch.setattr(metadata, "version", missing)
    assert checks.packages().text.startswith("emcee is missing")


def test_an_older_python_is_named(monkeypatch):
    monkeypatch.setattr("sys.version", "3.9.1 (main)")
    found = checks.python()
    assert (found.state, ">=3.11 is needed" in found.text) == ("wrong", True)


def test_a_full_disk_and_one_that_cannot_be_written_to_are_wrong(monkeypatch, tmp_path):
    usage = type("Usage", (), {"free": 1e8})
    monkeypatch.setattr("shutil.disk_usage", lambda where: usage)
    assert checks.disk(tmp_path).state == "wrong"
    usage.free = 1.5e9
    assert checks.disk(tmp_path).state == "note"
    monkeypatch.setattr(os, "access", lambda where, mode: False)
    found = checks.disk(tmp_path)
    assert (found.state, str(tmp_path) in found.text) == ("wrong", True)


def test_what_fails_is_a_finding_and_the_exit_code_says_it(monkeypatch, tmp_path, capsys):
    def broken():
        raise RuntimeError("no such thing")

    monkeypatch.setattr(checks, "netcdf", broken)
    monkeypatch.setattr(checks, "arithmetic", lambda: checks.Finding("arithmetic", "fit", ""))
    assert main(["doctor", "--results", str(tmp_path)]) == 2
    told = capsys.readouterr()
    assert "RuntimeError: no such thing" in told.out
    assert told.err.strip() == "pdsim doctor: not fit: netcdf"
