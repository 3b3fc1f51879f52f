"""Figures of robots, and of alike bodies."""

import matplotlib.image
import numpy as np
import pytest
import xarray as xr

from pdsim.figures import positions, rendering, scene
from pdsim.figures.figure import Request
from pdsim.recordings.recording import Recording
from pdsim.recordings.trajectories import trajectory_set
from pdsim.runtime.files import write_dataset
from pdsim.systems.config import SimulatorConfig
from pdsim.systems.simulator import build_system

PAIRS = (("weight1_x", "weight1_y"), ("weight2_x", "weight2_y"))
PLACES = np.array([[0.1, 0.0], [-0.1, 0.0]])
TARGETS = {name: f"body/{name[:7]}/pos/{name[-1]}" for pair in PAIRS for name in pair}


@pytest.fixture(scope="module")
def sections(root):
    joints = [f"joint{i}" for i in range(1, 8)]
    limits = {"lower": -0.14, "upper": 0.14, "unit": "m"}
    options = {
        "model": str(root / "data/models/panda_box.xml"),
        "actuation": "pd",
        "joints": joints,
        "observe": {"positions": [], "velocities": [], "frames": {"box": "box"}},
    }
    parameters = {name: limits | {"sets": [target]} for name, target in TARGETS.items()}
    simulator = {"system": "articulated", "options": options, "parameters": parameters}
    return {
        "title": "Two weights",
        "simulator": SimulatorConfig.model_validate(simulator),
        "exchangeable": PAIRS,
    }


@pytest.fixture(scope="module")
def trajectories(sections, tmp_path_factory):
    system = build_system(sections["simulator"])
    turn = np.linspace(0, 1, 30)[:, None]
    origin = np.hstack([0.3 + 0 * turn, 0 * turn, 0.5 + 0 * turn])
    axes = [origin + axis + 0.1 * np.sin(turn) for axis in np.eye(3)]
    recording = Recording(
        run="0",
        frame_time=0.1,
        observed=np.hstack([origin, *axes]),
        input=np.zeros((30, 7)),
        states=np.zeros((30, 18)),
        start=np.array([0.0, -0.8, 0.0, -2.3, 0.0, 1.6, *[0.0] * 12]),
        start_covariance=np.zeros((18, 18)),
        truth=dict(zip(TARGETS.values(), PLACES.ravel(), strict=True)),
    )
    path = tmp_path_factory.mktemp("robot") / "trajectories.nc"
    write_dataset(path, trajectory_set(system, [recording], ["train"], {}))
    return str(path)


@pytest.mark.parametrize("module", [scene, positions])
def test_figures_of_the_arm_are_drawn(module, sections, trajectories, tmp_path):
    posterior = tmp_path / "posterior.nc"
    draws = PLACES + 0.02 * np.random.default_rng(0).normal(size=(20, 2, 2))
    names = [name for pair in PAIRS for name in pair]
    group = {
        name: (("chain", "draw"), values[None])
        for name, values in zip(names, draws.reshape(20, 4).T, strict=True)
    }
    whose = {"run": "svgd_single", "method": "svgd", "shooting": "single"}
    groups = {"/": xr.Dataset(attrs=whose), "posterior": xr.Dataset(group)}
    write_dataset(posterior, xr.DataTree.from_dict(groups))
    files = {"trajectories": [trajectories], "posterior": [str(posterior), str(posterior)]}
    module.draw(Request(sections, None, files, str(tmp_path / "figure")))
    assert matplotlib.image.imread(tmp_path / "figure.png").std() > 0.01
    assert (tmp_path / "figure.pdf").is_file()


STILL = [0.0, -0.8, 0.0, -2.3, 0.0, 1.6, 0.0, 0.0, 0.0]
RED = [(np.array([[0.6, -0.4, 0.5], [0.6, -0.1, 0.7]]), "#ff0000")]


def test_the_robot_is_rendered_with_lines_in_its_scene(root):
    model = root / "data/models/panda_box.xml"
    pictures = [rendering.render(model, STILL, lines, (0.2, 0, 0.4), 1.5) for lines in (RED, [])]
    if pictures[0] is None:
        pytest.skip("no off-screen renderer")
    with_line, without = (picture.astype(int) for picture in pictures)
    red = with_line[..., 0] - with_line[..., 1:].max(axis=-1) > 60
    assert 200 < red.sum() < 0.05 * red.size
    assert (with_line != without).any(axis=-1).sum() < 3 * red.sum()
    # The arm is grey before white.
    assert (without.max(axis=-1) < 200).mean() > 0.02 and (without == 255).all(axis=-1).mean() > 0.3


def test_without_a_renderer_the_traces_are_drawn_alone(
    sections, trajectories, tmp_path, monkeypatch
):
    stem = tmp_path / "with"
    scene.draw(Request(sections, None, {"trajectories": [trajectories]}, str(stem)))
    monkeypatch.setenv("MUJOCO_GL", "disabled")
    assert rendering.render("robot.xml", [], [], (0, 0, 0), 1.0) is None
    scene.draw(Request(sections, None, {"trajectories": [trajectories]}, str(tmp_path / "alone")))
    alone = matplotlib.image.imread(tmp_path / "alone.png")
    assert alone.std() > 0.01 and alone.shape[1] <= matplotlib.image.imread(f"{stem}.png").shape[1]
