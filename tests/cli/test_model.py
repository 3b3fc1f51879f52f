"""A robot that no code knows: from its file to a section, and from a table to a posterior."""

import numpy as np
import pytest
import xarray as xr
import yaml

from pdsim.cli.main import main

mujoco = pytest.importorskip("mujoco")

URDF = """<robot name="crane">
  <link name="base"/>
  <link name="boom"><inertial><origin xyz="0 0 -0.2"/><mass value="1.2"/>
    <inertia ixx="0.02" iyy="0.02" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="hook"><inertial><origin xyz="0 0 -0.15"/><mass value="0.7"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="continuous"><parent link="base"/><child link="boom"/><axis xyz="0 1 0"/>
    <dynamics damping="0.05"/></joint>
  <joint name="elbow" type="continuous"><parent link="boom"/><child link="hook"/><origin xyz="0 0 -0.4"/>
    <axis xyz="0 1 0"/><dynamics damping="0.02"/></joint>
</robot>"""
EXPERIMENT = """
title: A crane
simulator:
  system: articulated
  options: {model: crane.urdf, actuation: torque, joints: [shoulder]}
  integrator: rk4
  parameters:
    hook_mass: {lower: 0.3, upper: 2.0, unit: kg, scale: log, sets: [body/hook/mass]}
    damping: {lower: 0.005, upper: 0.3, unit: N m s, scale: log, sets: [joint/*/damping]}
recording:
  source: table
  files: [run.csv]
  time: {column: t, unit: s}
  channels: {shoulder: {column: a, unit: rad}, elbow: {column: b, unit: rad}}
  inputs: {torque_shoulder: {column: u, unit: N m}}
  train: [{run: run, frames: [20, 140]}]
  smoothing: {frames: 11, order: 4}
likelihood: {combination: product, noise: {shoulder: 0.02, elbow: 0.02}}
runs: [{method: cem, shooting: single}]
budgets: {paper: {particle_count: 40, iteration_count: 25}}
"""


@pytest.fixture
def crane(tmp_path):
    """The robot's file, and a recording that MuJoCo made of one with another mass."""
    path = tmp_path / "crane.urdf"
    path.write_text(URDF)
    m = mujoco.MjModel.from_xml_string(URDF)
    m.body("hook").mass = 1.1
    m.dof_damping[:] = 0.04
    m.opt.timestep, m.opt.integrator = 1e-3, mujoco.mjtIntegrator.mjINT_RK4
    d = mujoco.MjData(m)
    d.qpos[:] = 0.8, -0.5
    rows = []
    for k in range(1200):
        if k % 5 == 0:
            force = 0.8 * np.sin(3e-3 * k)
            rows.append([1e-3 * k, *d.qpos, force])
        d.qfrc_applied[0] = force
        mujoco.mj_step(m, d)
    np.savetxt(tmp_path / "run.csv", rows, delimiter=",", header="t,a,b,u", comments="")
    (tmp_path / "crane.yaml").write_text(EXPERIMENT)
    return tmp_path


def test_a_robot_is_told_with_a_section_that_can_be_used(crane, capsys):
    assert main(["model", str(crane / "crane.urdf")]) == 0
    text = capsys.readouterr().out
    assert "  base\n    boom  by shoulder (hinge)\n      hook  by elbow (hinge)" in text
    assert any(line.split() == ["body/hook/mass", "0.7", "kg"] for line in text.splitlines())
    section = yaml.safe_load(text[text.index("simulator:") :])["simulator"]
    assert section["parameters"]["hook_mass"]["upper"] == 1.4
    experiment = yaml.safe_load(EXPERIMENT) | {"simulator": section}
    torques = {f"torque_{j}": {"column": "u", "unit": "N m"} for j in ("shoulder", "elbow")}
    experiment["recording"]["inputs"] = torques
    (crane / "told.yaml").write_text(yaml.safe_dump(experiment))
    assert main(["check", str(crane / "told.yaml")]) == 0


def test_a_file_that_cannot_be_used_says_so(crane, capsys):
    assert main(["model", str(crane / "crone.urdf")]) == 2
    assert "crone.urdf: no such file" in capsys.readouterr().err


def test_an_unknown_robot_and_its_table_give_a_posterior(crane, monkeypatch):
    monkeypatch.chdir(crane)
    assert main(["preprocess", "crane.yaml", "--output", "t.nc"]) == 0
    files = ["--trajectories", "t.nc", "--output", "p.nc"]
    assert main(["infer", "crane.yaml", "--run", "cem_single", *files]) == 0
    draws = xr.open_dataset("p.nc", group="posterior")
    for name, truth in (("hook_mass", 1.1), ("damping", 0.04)):
        value, width = float(draws[name].median()), float(draws[name].std())
        assert abs(value - truth) < 4 * width + 0.02 * truth, (name, value, width)
        assert width < 0.2 * truth


def test_a_model_that_is_not_there_is_told_before_anything_runs(crane, capsys):
    (crane / "crane.yaml").write_text(EXPERIMENT.replace("crane.urdf", "crone.urdf"))
    assert main(["check", str(crane / "crane.yaml")]) == 2
    error = capsys.readouterr().err
    assert "simulator.options.model: crone.urdf: no such file beside the experiment's" in error
