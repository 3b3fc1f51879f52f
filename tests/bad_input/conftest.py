"""Good files, to be given where others are wanted."""

import json

import numpy as np
import pytest
import xarray as xr

from pdsim.cli.main import main
from pdsim.runtime.files import read_dataset, write_dataset


@pytest.fixture(scope="session")
def good(root, tmp_path_factory):
    """A folder of the demo's trajectories, and of a posterior that only looks like one."""
    folder = tmp_path_factory.mktemp("good")
    demo = str(root / "config/experiments/demo.yaml")
    assert main(["record", demo, "--output", str(folder / "raw")]) == 0
    raw, trajectories = str(folder / "raw"), str(folder / "trajectories.nc")
    assert main(["preprocess", demo, "--raw", raw, "--output", trajectories]) == 0
    simulator = {
        "system": "oscillator",
        "parameters": {"stiffness": {"lower": 10.0, "upper": 30.0, "unit": "N/m"}},
    }
    attributes = {
        "run": "svgd_single", "method": "svgd", "shooting": "single", "seed": 0,
        "config": json.dumps({"simulator": simulator}),
    }  # fmt: skip
    draws = (("chain", "draw"), np.full((1, 5), 20.0))
    tree = {
        "/": xr.Dataset(attrs=attributes),
        "posterior": xr.Dataset({"stiffness": draws}),
        "sample_stats": xr.Dataset({"diverging": (("chain", "draw"), np.ones((1, 5), int))}),
    }
    write_dataset(str(folder / "posterior.nc"), xr.DataTree.from_dict(tree))
    tree["sample_stats"] = 0 * tree["sample_stats"]
    write_dataset(str(folder / "draws.nc"), xr.DataTree.from_dict(tree))
    data = read_dataset(trajectories)
    whole = (folder / "trajectories.nc").read_bytes()
    (folder / "half.nc").write_bytes(whole[: len(whole) // 2])
    write_dataset(str(folder / "blind.nc"), data.assign(observed=np.nan * data["observed"]))
    held_out = data.assign(split=("trajectory", ["test"] * data.sizes["trajectory"]))
    write_dataset(str(folder / "untrained.nc"), held_out)
    for name, time in (("backwards", -0.01), ("standing", 0.0)):
        write_dataset(str(folder / f"{name}.nc"), data.assign_attrs(frame_time=time))
    timeless = data.copy()
    del timeless.attrs["frame_time"]
    write_dataset(str(folder / "timeless.nc"), timeless)
    write_dataset(str(folder / "empty.nc"), xr.Dataset())
    return folder
