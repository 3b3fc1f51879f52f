"""What the figure of a path and the film have in common: places, the unsafe region, the belief."""

import numpy as np
import xarray as xr

from pdsim.figures import style

UNSAFE = "#fcbba1"
FALLBACK = "#d95f02"


def places(log: xr.Dataset) -> tuple[str, str]:
    """The two variables that a path is drawn over: x and z, or time and x."""
    variables = list(log["variable"].values)
    return ("x", "z") if "z" in variables else ("time", "x")


def path(log: xr.Dataset, simulation: int, *, reference: bool = False):
    """Both coordinates (step,) of a simulation, or of its reference."""
    source = log["reference"] if reference else log["state"].isel(simulation=simulation)
    across, up = places(log)
    vertical = source.sel(variable=up).values
    if across == "time":
        # Laps that begin anew lie over each other, with a gap between.
        lap_length = int((log["lap"].values == 0).sum())
        horizontal = log["time"].values[np.arange(len(vertical)) % lap_length]
    else:
        horizontal = source.sel(variable=across).values
    return horizontal, vertical


def scene(axis, task, log: xr.Dataset) -> None:
    """Draw the unsafe region and the reference, and name the axes."""
    across, up = places(log)
    x, y = path(log, 0, reference=True)
    axis.plot(x, y, color=style.BOUND, linestyle="--", linewidth=0.8, label="reference")
    if across == "x":
        axis.axhspan(task.ceiling, task.ceiling + 0.5, color=UNSAFE, linewidth=0, label="unsafe")
        axis.set_ylim(-0.1, task.ceiling + 0.5)
        axis.set_aspect("equal")
    else:
        axis.axhspan(-0.3, 0.0, color=UNSAFE, linewidth=0, label="unsafe")
        axis.set_ylim(-0.3, None)
    axis.set_xlabel("time [s]" if across == "time" else f"{across} [m]")
    axis.set_ylabel(f"{up} [m]")


def belief_axes(axis, task, log: xr.Dataset, simulation: int) -> None:
    """The prior's box and the truth, over the nominal values."""
    lower, upper = log["prior"].values / task.nominal
    axis.plot(
        [lower[0], upper[0], upper[0], lower[0], lower[0]],
        [lower[1], lower[1], upper[1], upper[1], lower[1]],
        color=style.BOUND, linewidth=0.8, label="prior",
    )  # fmt: skip
    truth = log["truth"].values[simulation] / task.nominal
    axis.plot(*truth, marker="+", color=style.TRUTH, markersize=9, linestyle="", label="truth")
    margin = 0.15 * (upper - lower)
    axis.set_xlim(lower[0] - margin[0], upper[0] + margin[0])
    axis.set_ylim(lower[1] - margin[1], upper[1] + margin[1])
    first, second = (f"{style.plain(str(name))} / nominal" for name in log["parameter"].values)
    axis.set_xlabel(first)
    axis.set_ylabel(second)


def particles(log: xr.Dataset, task, simulation: int, step: int) -> np.ndarray:
    """Particles (N, d) over the nominal values, the last kept up to a step."""
    kept = int(np.searchsorted(log["kept"].values, step, side="right")) - 1
    return log["particles"].values[simulation, max(kept, 0)] / task.nominal
