"""Stage ``simulate``: roll out every posterior draw from every start state."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from pdsim.runtime import device
from pdsim.runtime.files import read_dataset, write_dataset
from pdsim.metrics.start_state import fit_start_states
from pdsim.parameters import ParameterSpace
from pdsim.posterior import read_draws
from pdsim.systems.simulator import build_simulator
from pdsim.systems.config import SimulatorConfig
from pdsim.systems.rollout import rollout
from pdsim.systems.system import System


def roll_out(
    system: System,
    space: ParameterSpace,
    draws: np.ndarray,
    starts: np.ndarray,
    *,
    frames: int,
    frame_time: float,
    substeps: int,
    precision: str,
) -> np.ndarray:
    """Simulate each draw from each start state, (start, draw, time, channel).

    Args:
        draws: (draw, M) physical values.
        starts: (start, state).
        frames, frame_time, substeps: of the roll-outs.
    """
    unit = np.asarray(space.to_unit(draws))
    each = partial(
        simulate_each,
        system,
        space,
        unit,
        frames=frames,
        frame_time=frame_time,
        substeps=substeps,
        precision=precision,
    )
    return np.stack([each(np.broadcast_to(start, (len(unit), len(start)))) for start in starts])


def simulate_each(
    system: System,
    space: ParameterSpace,
    unit: np.ndarray,
    starts: np.ndarray,
    *,
    frames: int,
    frame_time: float,
    substeps: int,
    precision: str,
) -> np.ndarray:
    """Simulate parameters each from a start state of its own, (n, time, channel).

    Args:
        unit: (n, M) unit coordinates.
        starts: (n, state).
        frames, frame_time, substeps: of the roll-outs.
    """
    start = tuple(starts.T.astype(precision))
    shown = _roll(system, space, unit.astype(precision), start, frames, frame_time, substeps)
    return np.moveaxis(np.asarray(shown), 0, 1)


@partial(jax.jit, static_argnames=("system", "space", "frames", "frame_time", "substeps"))
def _roll(system, space, unit, start, frames, frame_time, substeps):
    states = rollout(
        system,
        space.system_parameters(unit),
        start,
        frames=frames,
        frame_time=frame_time,
        substeps=substeps,
    )
    return jnp.stack(system.observe(states), axis=-1)


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
    best = int(np.argmax(stats["log_likelihood"].values))
    grid = {
        "frames": data.sizes["time"] - 1,
        "frame_time": data.attrs["frame_time"],
        "substeps": simulator.substeps,
    }
    starts = data["smoothed"].values[:, 0]
    simulated = roll_out(system, space, draws, starts, precision=options["precision"], **grid)
    unit = jnp.asarray(space.to_unit(draws[best]), options["precision"])
    fitted_start, fitted = fit_start_states(
        lambda start: _roll(
            system, space, unit, tuple(start.T.astype(options["precision"])), **grid
        ),
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
