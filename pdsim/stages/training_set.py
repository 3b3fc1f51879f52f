"""Stage ``training_set``: parameters from the prior, simulated from the recording's start state."""

import logging
from typing import Any

import jax.numpy as jnp
import numpy as np
import xarray as xr

from pdsim import device
from pdsim.bayessim.config import BayesSimConfig
from pdsim.files import read_dataset, write_dataset
from pdsim.likelihood.config import LikelihoodConfig
from pdsim.likelihood.noise import channel_noise
from pdsim.progress import Progress
from pdsim.simulator import build_simulator
from pdsim.simulator_config import SimulatorConfig
from pdsim.stages.simulate import roll_out
from pdsim.trajectories import select

log = logging.getLogger(__name__)


def training_set(options: dict[str, Any], *, trajectories: str, output: str) -> None:
    """Write pairs of parameters and what the sensors would show.

    With several training recordings their start states take turns. Trajectories that are not
    finite are left out and counted (attribute ``lost``).

    Args:
        options: ``simulator``, ``likelihood``, ``bayessim`` and ``precision`` of the config.
    """
    device.configure(options["precision"])
    simulator = SimulatorConfig.model_validate(options["simulator"])
    config = BayesSimConfig.model_validate(options["bayessim"]).training_set
    system, space = build_simulator(simulator)
    data = read_dataset(trajectories)
    starts = select(data, "train")["smoothed"].values[:, 0]
    noise = channel_noise(LikelihoodConfig.model_validate(options["likelihood"]), data)
    random = np.random.default_rng([config.seed, 1])
    total = config.count + config.held_out_count
    unit = space.sample_prior(total, config.seed)
    physical = np.asarray(space.to_physical(jnp.asarray(unit)))
    simulated = np.empty((total, data.sizes["time"], data.sizes["channel"]), np.float32)
    turn = np.arange(total) % len(starts)
    with Progress(total, 0, "trajectories") as progress:
        for first in range(0, total, config.chunk_size):
            rows = np.arange(first, min(first + config.chunk_size, total))
            for i, start in enumerate(starts):
                chosen = rows[turn[rows] == i]
                if len(chosen) == 0:
                    continue
                (rolled,) = roll_out(
                    system,
                    space,
                    physical[chosen],
                    start[None],
                    frames=data.sizes["time"] - 1,
                    frame_time=data.attrs["frame_time"],
                    substeps=simulator.substeps,
                    precision=options["precision"],
                )
                shown = np.stack([np.asarray(x) for x in system.observe(tuple(start))], axis=-1)
                whole = np.concatenate(
                    [np.broadcast_to(shown, (len(chosen), 1, len(shown))), rolled], axis=1
                )
                if config.noise:
                    whole = whole + random.normal(size=whole.shape) * noise
                simulated[chosen] = whole
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
        attrs={"lost": int((~finite).sum())},
    )
    write_dataset(output, result)
    log.info("%s: %d trajectories, %d lost", output, int(finite.sum()), int((~finite).sum()))
