"""Draws of a posterior as a table and as robots' files."""

import shutil

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from posteriors import write_posterior

from pdsim.cli.main import main
from pdsim.rigid_body.load import load_model
from pdsim.runtime.files import sha256, write_dataset
from pdsim.systems.articulated import located

DRAWS = 30


def posterior(path, simulator, **more):
    """A posterior file of random draws within the limits; the first one diverges."""
    random = np.random.default_rng(0)
    draws = {
        name: random.uniform(one["lower"], one["upper"], DRAWS)
        for name, one in simulator["parameters"].items()
    }
    diverging = np.eye(1, DRAWS, dtype=int)[0]
    return write_posterior(path, draws, simulator, stats={"diverging": diverging}, **more)


@pytest.fixture
def pendubot(root, tmp_path):
    """The simulator of a robot from its file, which lies in the test's own folder."""
    path = tmp_path / "pendubot.urdf"
    shutil.copy(root / "data/models/pendubot.urdf", path)
    model = load_model(path, ("contacts",))
    body, joint = model.bodies[-1].name, model.joints[0].name
    return {
        "system": "articulated",
        "options": {"model": str(path), "sha256": sha256(path), "ignore": ["contacts"],
                    "actuation": "torque", "consistent": [body]},
        "parameters": {
            "size": {"lower": -0.5, "upper": 0.5, "unit": "-", "sets": [f"body/{body}/cholesky/alpha"]},
            "dry": {"lower": 0.1, "upper": 0.2, "unit": "N m", "sets": ["joint/*/friction"]},
            "delay": {"lower": 0.001, "upper": 0.002, "unit": "s", "sets": ["sensor/delay"]},
        },
        "fixed": {f"joint/{joint}/damping": 0.25},
    }  # fmt: skip


def test_a_robot_has_the_numbers_of_its_draw(pendubot, tmp_path, caplog):
    path, folder = posterior(tmp_path / "posterior.nc", pendubot), tmp_path / "robots"
    assert main(["export", path, "--count", "4", "--output", str(folder)]) == 0
    table = pd.read_csv(folder / "draws.csv", index_col="draw")
    assert list(table.columns) == ["size", "dry", "delay"]
    assert sorted(p.name for p in folder.glob("*.xml")) == [f"robot_00{i}.xml" for i in range(4)]
    body = pendubot["options"]["consistent"][0]
    for number, row in table.iterrows():
        model = load_model(folder / f"robot_00{number}.xml", ("contacts",))
        assert model.values[f"body/{body}/mass"] == pytest.approx(np.exp(2 * row["size"]), rel=2e-5)
        dry = [model.values[f"joint/{joint.name}/friction"] for joint in model.joints]
        np.testing.assert_allclose(dry, row["dry"], rtol=2e-5)
        assert model.values[f"joint/{model.joints[0].name}/damping"] == pytest.approx(0.25)
    assert len(table["dry"].unique()) == 4
    # The delay has no place in the file, and is told of alone.
    assert "in draws.csv alone: sensor/delay\n" in caplog.text + "\n"


def test_a_first_moment_becomes_a_centre_of_mass(pendubot, tmp_path, caplog):
    body = pendubot["options"].pop("consistent")[0]
    pendubot["options"]["linear"] = [body]
    own = load_model(pendubot["options"]["model"], ("contacts",)).values
    axis = max("xyz", key=lambda a: abs(own[f"body/{body}/com/{a}"]))
    at = own[f"body/{body}/mass"] * own[f"body/{body}/com/{axis}"]
    pendubot["parameters"] = {
        "moment": {"lower": at - 1e-4, "upper": at + 1e-4, "unit": "kg m",
                   "sets": [f"body/{body}/moment/{axis}"]},
    }  # fmt: skip
    path, folder = posterior(tmp_path / "posterior.nc", pendubot), tmp_path / "robots"
    assert main(["export", path, "--count", "2", "--output", str(folder)]) == 0
    table = pd.read_csv(folder / "draws.csv", index_col="draw")
    for number, row in table.iterrows():
        model = load_model(folder / f"robot_00{number}.xml", ("contacts",))
        found = model.values[f"body/{body}/mass"] * model.values[f"body/{body}/com/{axis}"]
        assert found == pytest.approx(row["moment"], rel=2e-5)
    assert len(table["moment"].unique()) == 2
    assert "draws.csv alone" not in caplog.text


def test_draws_are_the_seed_s_and_none_diverges(tmp_path):
    simulator = {
        "system": "oscillator",
        "parameters": {"stiffness": {"lower": 10.0, "upper": 30.0, "unit": "N/m"}},
    }
    path = posterior(tmp_path / "posterior.nc", simulator)
    tables = []
    for name, seed, count in (("a", 0, 29), ("b", 0, 29), ("c", 1, 29), ("d", 0, 40)):
        words = ["--count", str(count), "--seed", str(seed), "--output", str(tmp_path / name)]
        assert main(["export", path, *words]) == 0
        tables.append(pd.read_csv(tmp_path / name / "draws.csv", index_col="draw")["stiffness"])
    first, again, other, more = tables
    assert list(first) == list(again) != list(other)
    with xr.open_dataset(path, group="posterior") as data:
        expected = set(data["stiffness"].values[0, 1:])
    assert set(first) == expected and len(more) == 40 and set(more) <= expected
    assert not list((tmp_path / "a").glob("*.xml"))


def test_what_cannot_be_exported_is_named(pendubot, tmp_path, capsys):
    path = posterior(tmp_path / "posterior.nc", pendubot)

    def told(*words):
        assert main(["export", *words]) == 2
        return capsys.readouterr().err

    there = tmp_path / "there"
    there.mkdir()
    (there / "mine.txt").write_text("mine")
    assert "there is something else already" in told(path, "--output", str(there))
    assert (there / "mine.txt").read_text() == "mine"
    new = str(tmp_path / "new")
    other = tmp_path / "other.nc"
    write_dataset(other, xr.Dataset({"x": ("y", [1.0])}))
    assert (
        "other.nc: is no file of pdsim infer (it has no posterior), and a posterior is wanted"
        in told(str(other), "--output", new)
    )
    assert "nothing.nc: no such file" in told(str(tmp_path / "nothing.nc"), "--output", new)
    with (tmp_path / "pendubot.urdf").open("a") as file:
        file.write("<!-- changed -->\n")
    assert "has changed since the posterior was made" in told(path, "--output", new)
    (tmp_path / "pendubot.urdf").unlink()
    (tmp_path / "pendubot.urdf").mkdir()
    assert "pendubot.urdf: is a folder, not a regular file" in told(path, "--output", new)
    (tmp_path / "pendubot.urdf").rmdir()
    assert "pendubot.urdf: no such file" in told(path, "--output", new)


def test_a_change_in_what_the_file_reads_is_seen(tmp_path, capsys):
    part = '<mujoco><worldbody><body name="arm"><joint name="hinge"/>{}</body></worldbody></mujoco>'
    inertial = '<inertial pos="0 0 -1" mass="{}" diaginertia="1 1 1"/>'
    (tmp_path / "part.xml").write_text(part.format(inertial.format(1)))
    robot = tmp_path / "robot.xml"
    robot.write_text('<mujoco><include file="part.xml"/></mujoco>')
    options = located({"model": str(robot)}, tmp_path)
    damping = {"lower": 0.1, "upper": 0.2, "unit": "N m s", "sets": ["joint/hinge/damping"]}
    simulator = {"system": "articulated", "options": options, "parameters": {"damping": damping}}
    path = posterior(tmp_path / "posterior.nc", simulator)
    assert main(["export", path, "--count", "1", "--output", str(tmp_path / "first")]) == 0
    (tmp_path / "part.xml").write_text(part.format(inertial.format(2)))
    assert located({"model": str(robot)}, tmp_path)["sha256"] != options["sha256"]
    assert main(["export", path, "--count", "1", "--output", str(tmp_path / "second")]) == 2
    assert "robot.xml: it or a file that it reads has changed since" in capsys.readouterr().err
