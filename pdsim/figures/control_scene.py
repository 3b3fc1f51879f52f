"""What the figure of a path and the film have in common: places, the unsafe region, the belief."""

import numpy as np
import xarray as xr

from pdsim.figures import style

UNSAFE = "#fcbba1"
FALLBACK = "#d95f02"


def path(task, log: xr.Dataset, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both coordinates (step,) of a picture, of states (step, S)."""
    across, up = task.pictured
    variables = list(log["variable"].values)
    vertical = states[:, variables.index(up)]
    if across != "time":
        return states[:, variables.index(across)], vertical
    # Laps that begin anew lie over each other, with a gap between.
    lap_length = int((log["lap"].values == 0).sum())
    return log["time"].values[np.arange(len(vertical)) % lap_length], vertical


def scene(axis, task, log: xr.Dataset) -> None:
    """Draw the unsafe region and the reference, and name the axes."""
    across, up = task.pictured
    x, y = path(task, log, log["reference"].values)
    axis.plot(x, y, color=style.BOUND, linestyle="--", linewidth=0.8, label="reference")
    label = "unsafe"
    for left, right, low, high in task.unsafe:
        corners = [max(left, x.min() - 10), min(right, x.max() + 10)]
        axis.fill_between(corners, low, high, color=UNSAFE, linewidth=0, label=label)
        label = "_nolegend_"
    lows, highs = [r.low for r in task.unsafe], [r.high for r in task.unsafe]
    margin = 0.06 * np.ptp(x)
    axis.set_xlim(x.min() - margin, x.max() + margin)
    axis.set_ylim(min(*lows, y.min() - 0.35), max(*highs, y.max() + 0.1))
    if across != "time":
        axis.set_aspect("equal")
    axis.set_xlabel("time [s]" if across == "time" else f"{across} [m]")
    axis.set_ylabel(f"{up} [m]")


def belief_axes(axis, task, log: xr.Dataset, simulation: int) -> None:
    """The prior's box and the truth, over the nominal values."""
    lower, upper = (_two(bound) for bound in log["prior"].values / task.nominal)
    axis.plot(
        [lower[0], upper[0], upper[0], lower[0], lower[0]],
        [lower[1], lower[1], upper[1], upper[1], lower[1]],
        color=style.BOUND, linewidth=0.8, label="prior",
    )  # fmt: skip
    truth = _two(log["truth"].values[simulation] / task.nominal)
    axis.plot(*truth, marker="+", color=style.TRUTH, markersize=9, linestyle="", label="truth")
    margin = 0.15 * np.where(upper > lower, upper - lower, 1.0)
    axis.set_xlim(lower[0] - margin[0], upper[0] + margin[0])
    axis.set_ylim(lower[1] - margin[1], upper[1] + margin[1])
    labels = [f"{style.plain(str(name))} / nominal" for name in log["parameter"].values]
    axis.set_xlabel(labels[0])
    if len(labels) > 1:
        axis.set_ylabel(labels[1])
    else:
        axis.set_yticks([])


def particles(log: xr.Dataset, task, simulation: int, step: int) -> np.ndarray:
    """Particles (N, 2) over the nominal values, the last kept up to a step: the first two of θ."""
    kept = int(np.searchsorted(log["kept"].values, step, side="right")) - 1
    return _two(log["particles"].values[simulation, max(kept, 0)] / task.nominal)


def _two(theta: np.ndarray) -> np.ndarray:
    """The first two parameters (..., 2); beside a single one 0."""
    return theta[..., :2] if theta.shape[-1] > 1 else np.append(theta, 0 * theta, axis=-1)
