"""Good files, to be given where others are wanted."""

import json

import numpy as np
import pytest
import xarray as xr
from posteriors import write_posterior

from pdsim.cli.main import main
from pdsim.experiment.load import load_experiment
from pdsim.experiment.slices import slice_of
from pdsim.runtime.files import read_dataset, write_dataset

OSCILLATOR = {
    "system": "oscillator",
    "parameters": {"stiffness": {"lower": 10.0, "upper": 30.0, "unit": "N/m"}},
}
STIFFNESS = {"stiffness": np.full(5, 20.0)}


def write_posteriors(folder, experiment):
    """Posteriors of the demo's first run: a right one, and others with one thing wrong."""
    draws = {"link_1": np.linspace(1.4, 1.6, 5), "link_2": np.linspace(1.9, 2.1, 5)}
    job = slice_of("infer", experiment, run="svgd_single", budget="quick").model_dump(mode="json")
    simulator, settings = job["simulator"], {key: job[key] for key in ("run", "likelihood")}

    def write(name, draws=draws, simulator=simulator, **changes):
        given = {"settings": settings} | changes
        write_posterior(folder / f"{name}.nc", draws, simulator, **given)

    write("right")
    write("nan", {name: np.full(5, np.nan) for name in draws})
    write("some_nan", draws | {"link_1": [1.4, np.nan, 1.5, 1.5, 1.6]})
    write("outside", draws | {"link_1": [1.4, 7.0, 1.5, 1.5, 1.6]})
    write("none", {name: [] for name in draws})
    write("kind", sample_kind="banana")
    write("config", config="{'simulator'")
    write("list", config="[]")
    write("no_diverging", stats={"diverging": None})
    write("no_method", method=None)
    write("other_seed", seed=7)
    write("stranger", run="somebody")
    write("other_method", method="svgd", run="csvgd_multiple")
    write("other_fixed", simulator=simulator | {"fixed": simulator["fixed"] | {"gravity": 1.62}})
    write("other_step", simulator=simulator | {"substeps": 3})
    wide = simulator["parameters"]["link_1"] | {"upper": 9.0}
    wider = simulator | {"parameters": simulator["parameters"] | {"link_1": wide}}
    write("other_bounds", simulator=wider)
    other = settings | {"run": settings["run"] | {"settings": {"step_size": 0.5}}}
    write("other_settings", settings=other)
    noisy = settings | {"likelihood": settings["likelihood"] | {"noise_relative": 0.5}}
    write("other_noise", settings=noisy)
    metres = simulator["parameters"]["link_1"] | {"unit": "cm"}
    parameters = simulator["parameters"] | {"link_1": metres}
    write("unit", simulator=simulator | {"parameters": parameters})


@pytest.fixture(scope="session")
def good(root, tmp_path_factory):
    """A folder of the demo's trajectories, and of a posterior that only looks like one."""
    folder = tmp_path_factory.mktemp("good")
    demo = str(root / "config/experiments/demo.yaml")
    assert main(["record", demo, "--output", str(folder / "raw")]) == 0
    raw, trajectories = str(folder / "raw"), str(folder / "trajectories.nc")
    assert main(["preprocess", demo, "--raw", raw, "--output", trajectories]) == 0
    write_posterior(folder / "posterior.nc", STIFFNESS, OSCILLATOR, stats={"diverging": np.ones(5)})
    write_posterior(folder / "draws.nc", STIFFNESS, OSCILLATOR)
    write_posteriors(folder, load_experiment(demo))
    shape = ("trajectory", "draw", "time", "channel"), np.zeros((6, 1, 399, 4))
    rolled = xr.Dataset({"simulated": shape, "fitted": shape})
    predicted = xr.Dataset({"predicted": shape, "predicted_observation": shape})
    for name, run in (("rolled", "svgd_single"), ("rolled_other", "somebody")):
        write_dataset(folder / f"{name}.nc", rolled.assign_attrs(run=run))
    write_dataset(folder / "rolled_few.nc", rolled.isel(trajectory=slice(0, 2)))
    write_dataset(folder / "predicted.nc", predicted.assign_attrs(run="svgd_single"))
    data = read_dataset(trajectories)
    whole = (folder / "trajectories.nc").read_bytes()
    (folder / "half.nc").write_bytes(whole[: len(whole) // 2])
    write_dataset(str(folder / "blind.nc"), data.assign(observed=np.nan * data["observed"]))
    held_out = data.assign(split=("trajectory", ["test"] * data.sizes["trajectory"]))
    write_dataset(str(folder / "untrained.nc"), held_out)
    metres = data.assign_coords(channel_unit=("channel", ["deg", "deg", "deg/s", "deg/s"]))
    write_dataset(str(folder / "degrees.nc"), metres)
    slower = json.loads(data.attrs["recording"]) | {"rate_hz": 50.0}
    write_dataset(str(folder / "slower.nc"), data.assign_attrs(recording=json.dumps(slower)))
    write_dataset(str(folder / "unread.nc"), data.assign_attrs(recording="rate_hz: 50"))
    whole_bytes = bytearray((folder / "trajectories.nc").read_bytes())
    middle = len(whole_bytes) // 3
    whole_bytes[middle : middle + 64] = bytes(64)
    (folder / "flipped.nc").write_bytes(whole_bytes)
    for name, time in (("backwards", -0.01), ("standing", 0.0)):
        write_dataset(str(folder / f"{name}.nc"), data.assign_attrs(frame_time=time))
    timeless = data.copy()
    del timeless.attrs["frame_time"]
    write_dataset(str(folder / "timeless.nc"), timeless)
    write_dataset(str(folder / "empty.nc"), xr.Dataset())
    return folder
