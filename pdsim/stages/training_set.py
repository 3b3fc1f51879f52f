"""Stage ``training_set``: parameters from the prior, simulated from the recording's start state."""

import json
import logging

import numpy as np
import xarray as xr

from pdsim.experiment.slices import TrainingSet
from pdsim.inference.bayessim.sensor import sensor_noise
from pdsim.recordings.segments import SmoothingConfig
from pdsim.recordings.smoothing import white_noise
from pdsim.recordings.trajectories import inputs_of, is_position, load_trajectories, select
from pdsim.runtime import device
from pdsim.runtime.files import write_dataset
from pdsim.runtime.progress import Progress
from pdsim.systems.ensemble import first_frame, simulate_each
from pdsim.systems.simulator import build_simulator

log = logging.getLogger(__name__)


def training_set(options: TrainingSet, *, trajectories: str, output: str) -> None:
    """Write pairs of parameters and what the sensors would show.

    With ``noise``, simulations are seen through sensors like those of the recordings: a density
    that knows clean trajectories alone takes noise for motion. With several training recordings
    their start states take turns. Trajectories that are not finite are left out and counted
    (attribute ``lost``).
    """
    device.configure(options.precision)
    config = options.bayessim.training_set
    simulator = build_simulator(options.simulator)
    space = simulator.space
    data = load_trajectories(trajectories, simulator.system)
    train = select(data, "train")
    starts, inputs = train["start"].values, inputs_of(train)
    position = is_position(data)
    deviation = white_noise(train["observed"].values[..., position])
    random = np.random.default_rng([config.seed, 1])
    recording = json.loads(data.attrs["recording"])
    smoothing = SmoothingConfig(**recording["smoothing"]).build()
    fitted = isinstance(recording.get("states"), dict)
    covariance = train["start_covariance"].values
    total = config.count + config.held_out_count
    coordinates = np.asarray(space.sample_prior(total, config.seed))
    simulated = np.empty((total, train.sizes["time"], train.sizes["channel"]), np.float32)
    with Progress(total, 0, "trajectories") as progress:
        for first in range(0, total, config.chunk_size):
            rows = np.arange(first, min(first + config.chunk_size, total))
            noise = sensor_noise(
                position,
                deviation * config.noise,
                (len(rows), train.sizes["time"]),
                data.attrs["frame_time"],
                smoothing,
                random,
            )
            # What was smoothed from the recording is the true start and the noise's part of it;
            # the error of a fitted one comes from many frames and hardly from those seen here.
            error = noise.start
            if fitted:
                zero = np.zeros(starts.shape[1])
                draws = [
                    random.multivariate_normal(zero, covariance[row % len(starts)], method="eigh")
                    for row in rows
                ]
                error = config.noise * np.stack(draws)
            start = starts[rows % len(starts)] - error
            clean = simulate_each(
                simulator,
                coordinates[rows],
                start,
                inputs[rows % len(starts)],
                frame_time=data.attrs["frame_time"],
                precision=options.precision,
            )
            shown = first_frame(simulator, coordinates[rows], start)
            simulated[rows] = np.concatenate([shown[:, None], clean], 1) + noise.channels
            progress.advance(len(rows))
    # Beyond this a simulation has diverged, whether or not its numbers still fit the type.
    finite = (np.abs(simulated) < 1e6).all(axis=(1, 2))
    held_out = np.arange(total) >= config.count
    result = xr.Dataset(
        {
            "coordinates": (("sample", "parameter"), coordinates[finite]),
            "simulated": (("sample", "time", "channel"), simulated[finite]),
            "held_out": ("sample", held_out[finite]),
        },
        coords={
            "sample": np.flatnonzero(finite),
            "parameter": list(space.names),
            "channel": data["channel"].values,
            "time": train["time"],
        },
        attrs={"lost": int((~finite).sum()), "noise": deviation * config.noise},
    )
    write_dataset(output, result)
    log.info("%s: %d trajectories, %d lost", output, int(finite.sum()), int((~finite).sum()))
