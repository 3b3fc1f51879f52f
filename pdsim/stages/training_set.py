"""Stage ``training_set``: parameters from the prior, simulated from the recording's start state."""

import json
import logging
from typing import Any

import numpy as np
import xarray as xr

from pdsim.runtime import device
from pdsim.bayessim.config import BayesSimConfig
from pdsim.bayessim.sensor import position_noise, sensor_noise
from pdsim.runtime.files import read_dataset, write_dataset
from pdsim.runtime.progress import Progress
from pdsim.recordings.smoothing import Smoothing
from pdsim.systems.simulator import build_simulator
from pdsim.systems.config import SimulatorConfig
from pdsim.stages.simulate import simulate_each
from pdsim.trajectories import select

log = logging.getLogger(__name__)


def training_set(options: dict[str, Any], *, trajectories: str, output: str) -> None:
    """Write pairs of parameters and what the sensors would show.

    With ``noise``, simulations are seen through sensors like those of the recordings: a density
    that knows clean trajectories alone takes noise for motion. With several training recordings
    their start states take turns. Trajectories that are not finite are left out and counted
    (attribute ``lost``).

    Args:
        options: ``simulator``, ``bayessim`` and ``precision`` of the config.
    """
    device.configure(options["precision"])
    simulator = SimulatorConfig.model_validate(options["simulator"])
    config = BayesSimConfig.model_validate(options["bayessim"]).training_set
    system, space = build_simulator(simulator)
    data = read_dataset(trajectories)
    train = select(data, "train")
    starts = train["smoothed"].values[:, 0]
    kind = data["channel_kind"].values
    deviation = position_noise(train["observed"].values[..., kind == "position"])
    random = np.random.default_rng([config.seed, 1])
    smoothing = Smoothing(**json.loads(data.attrs["recording"])["smoothing"])
    total = config.count + config.held_out_count
    unit = np.asarray(space.sample_prior(total, config.seed))
    shape = (total, data.sizes["time"], data.sizes["channel"])
    simulated = np.empty(shape, np.float32)
    with Progress(total, 0, "trajectories") as progress:
        for first in range(0, total, config.chunk_size):
            rows = np.arange(first, min(first + config.chunk_size, total))
            noise = sensor_noise(
                kind,
                deviation * config.noise,
                (len(rows), data.sizes["time"]),
                data.attrs["frame_time"],
                smoothing,
                random,
            )
            # What was smoothed from the recording is the true start and the noise's part of it.
            start = starts[rows % len(starts)] - noise.start
            clean = simulate_each(
                system,
                space,
                unit[rows],
                start,
                frames=data.sizes["time"] - 1,
                frame_time=data.attrs["frame_time"],
                substeps=simulator.substeps,
                precision=options["precision"],
            )
            first_frame = np.stack([np.asarray(x) for x in system.observe(tuple(start.T))], axis=-1)
            simulated[rows] = np.concatenate([first_frame[:, None], clean], 1) + noise.channels
            progress.advance(len(rows))
    # Beyond this a simulation has diverged, whether or not its numbers still fit the type.
    finite = (np.abs(simulated) < 1e6).all(axis=(1, 2))
    held_out = np.arange(total) >= config.count
    result = xr.Dataset(
        {
            "unit": (("sample", "parameter"), unit[finite]),
            "simulated": (("sample", "time", "channel"), simulated[finite]),
            "held_out": ("sample", held_out[finite]),
        },
        coords={
            "sample": np.flatnonzero(finite),
            "parameter": list(space.names),
            "channel": data["channel"],
            "time": data["time"],
        },
        attrs={"lost": int((~finite).sum()), "noise": deviation * config.noise},
    )
    write_dataset(output, result)
    log.info("%s: %d trajectories, %d lost", output, int(finite.sum()), int((~finite).sum()))
