"""Stage ``simulate``: roll out every posterior draw from every start state."""

import numpy as np
import xarray as xr

from pdsim.experiment.slices import Simulate
from pdsim.metrics.start_state import fit_start_states
from pdsim.posterior import read_posterior
from pdsim.recordings.trajectories import inputs_of, is_position, load_trajectories
from pdsim.runtime import device
from pdsim.runtime.files import write_dataset
from pdsim.systems.ensemble import roll_out, simulate_each
from pdsim.systems.simulator import build_simulator


def simulate(
    options: Simulate, *, trajectories: str, posterior: str, output: str, force: bool = False
) -> None:
    """Write D^sim (Sec. III): each draw from each recorded trajectory's start state.

    Also written: the recorded trajectories again, simulated with the most likely draw from start
    states that were fitted to the window, unless they are known exactly; the difference to the
    first shows what the start state's error, amplified by the motion, contributes.

    Args:
        force: as in ``pdsim.posterior.read_posterior``.
    """
    device.configure(options.precision)
    simulator = build_simulator(options.simulator)
    data = load_trajectories(trajectories, simulator.system)
    found = read_posterior(posterior, force=force)
    draws = found.of(simulator.space)
    best = int(np.argmax(found.stats["log_likelihood"].values))
    starts, inputs = data["start"].values, inputs_of(data)
    grid = {"frame_time": data.attrs["frame_time"], "precision": options.precision}
    # Most recordings may be much shorter than the longest.
    frames = data["length"].values - 1
    simulated = roll_out(simulator, draws, starts, inputs, **grid, frames=frames)
    coordinates = np.asarray(simulator.space.to_coordinates(draws[best]))

    def again(number: int, start: np.ndarray) -> np.ndarray:
        drive = inputs[number, : frames[number]]
        drives = np.broadcast_to(drive, (len(start), *drive.shape))
        copies = np.tile(coordinates, (len(start), 1))
        return simulate_each(simulator, copies, start, drives, **grid)

    spread = data["observed"].std("time").mean("trajectory").values
    fitted_start, fitted = fit_start_states(
        again,
        starts,
        data["observed"].values[:, 1:],
        np.where(np.isfinite(spread) & (spread > 0), spread, 1.0),
        is_position(data),
        frames,
        np.asarray((data["start_covariance"].values == 0).all(axis=(1, 2))),
    )
    coords = {
        name: data[name]
        for name in data.coords
        if set(data[name].dims) <= {"trajectory", "channel"}
    }
    with np.errstate(over="ignore"):  # What ran away is not finite in either precision.
        simulated, fitted = simulated.astype(np.float32), fitted.astype(np.float32)
    result = xr.Dataset(
        {
            "simulated": (
                ("trajectory", "draw", "time", "channel"),
                simulated,
                {"long_name": "D^sim"},
            ),
            "fitted": (("trajectory", "time", "channel"), fitted),
            "fitted_start": (("trajectory", "state"), fitted_start),
        },
        coords={
            **coords,
            "state": data["state"].values,
            "time": data["time"].isel(time=slice(1, None)),
            "draw": np.arange(len(draws)),
        },
        attrs={"best_draw": best} | found.identity,
    )
    write_dataset(output, result)
