"""Stage ``predict``: predict held-out recordings after their first frames."""

import numpy as np
import xarray as xr

from pdsim.experiment.slices import Predict
from pdsim.likelihood.prediction import predict as predict_from
from pdsim.likelihood.prediction import prefix_of
from pdsim.posterior import read_posterior
from pdsim.recordings.trajectories import load_trajectories
from pdsim.runtime import device
from pdsim.runtime.files import read_dataset, write_dataset
from pdsim.systems.simulator import build_simulator


def predict(
    options: Predict,
    *,
    seed: int,
    trajectories: str,
    posterior: str,
    output: str,
    force: bool = False,
) -> None:
    """Write ``predicted`` (frames beyond the prefix, process noise included) and
    ``predicted_observation`` (the measured channels, with sensor noise too).

    Args:
        force: as in ``pdsim.posterior.read_posterior``.
    """
    device.configure(options.precision)
    simulator = build_simulator(options.simulator)
    data = load_trajectories(trajectories, simulator.system)
    given = read_posterior(posterior, force=force)
    draws = given.of(simulator.space)
    noise = read_dataset(posterior, "noise")
    prefix = prefix_of(
        simulator,
        options.likelihood,
        data,
        frames=options.prediction.prefix,
        inferred=[str(name) for name in noise.data_vars],
        dtype=np.dtype(options.precision),
    )
    behind = prefix.problem.space.names[draws.shape[1] :]
    values = np.column_stack([draws, *(noise[name].values.reshape(-1) for name in behind)])
    repeats = -(-options.prediction.samples // len(values))
    found = predict_from(
        prefix, np.tile(values, (repeats, 1)), seed=seed, spread=options.prediction.noise_spread
    )
    test = prefix.trajectories
    dims = ("trajectory", "draw", "time")
    result = xr.Dataset(
        {
            "predicted": ((*dims, "channel"), found.channels.astype(np.float32)),
            "predicted_observation": ((*dims, "measured"), found.observations.astype(np.float32)),
        },
        coords={
            "trajectory": test["trajectory"].values,
            "draw": np.tile(np.arange(len(values)), repeats),
            "time": test["time"].isel(time=slice(prefix.frames, None)),
            "channel": test["channel"].values,
            "measured": test["channel"].values[list(prefix.problem.noise.channels)],
        },
        attrs={"prefix": prefix.frames, "seed": seed} | given.identity,
    )
    write_dataset(output, result)
