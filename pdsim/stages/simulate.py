"""Stage ``simulate``: roll out every posterior draw from every start state."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from pdsim import device
from pdsim.config import SimulatorConfig
from pdsim.files import read_dataset, write_dataset
from pdsim.metrics.start_state import fit_start_states
from pdsim.posterior import read_draws
from pdsim.simulator import build_simulator
from pdsim.systems.rollout import rollout


def simulate(options: dict[str, Any], *, trajectories: str, posterior: str, output: str) -> None:
    """Write D^sim (Sec. III): each draw from each recorded trajectory's smoothed start state.

    Also written: the recorded trajectories again, simulated with the most likely draw from start
    states that were fitted to the window; the difference to the first shows what the start
    state's error, amplified by the motion, contributes.

    Args:
        options: ``simulator`` and ``precision`` of the experiment's config.
    """
    device.configure(options["precision"])
    simulator = SimulatorConfig.model_validate(options["simulator"])
    system, space = build_simulator(simulator)
    data = read_dataset(trajectories)
    draws = read_draws(posterior, space)
    stats = read_dataset(posterior, "sample_stats")
    best = int(np.argmax(stats["log_likelihood"].values[0]))
    frames, frame_time = data.sizes["time"] - 1, data.attrs["frame_time"]
    unit = space.to_unit(draws).astype(options["precision"])

    @jax.jit
    def roll(unit, start):
        states = rollout(
            system,
            space.system_parameters(unit),
            start,
            frames=frames,
            frame_time=frame_time,
            substeps=simulator.substeps,
        )
        return jnp.stack(system.observe(states), axis=-1)

    starts = data["smoothed"].values[:, 0].astype(options["precision"])
    simulated = np.stack(
        [
            np.moveaxis(
                np.asarray(roll(unit, tuple(jnp.full(len(unit), value) for value in start))), 0, 1
            )
            for start in starts
        ]
    )
    fitted_start, fitted = fit_start_states(
        lambda start: roll(unit[best], tuple(start.T)),
        starts,
        data["observed"].values[:, 1:],
        data["observed"].std("time").mean("trajectory").values,
    )
    dims = ("trajectory", "draw", "time", "channel")
    coords = {name: data[name] for name in data.coords if name not in ("state", "time")}
    result = xr.Dataset(
        {
            "simulated": (dims, simulated.astype(np.float32), {"long_name": "D^sim"}),
            "fitted": (("trajectory", "time", "channel"), fitted.astype(np.float32)),
            "fitted_start": (("trajectory", "state"), fitted_start),
        },
        coords={
            **coords,
            "state": list(system.state),
            "time": data["time"].isel(time=slice(1, None)),
            "draw": np.arange(len(draws)),
        },
        attrs={"best_draw": best},
    )
    write_dataset(output, result)
