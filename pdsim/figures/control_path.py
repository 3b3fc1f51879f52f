"""The path of one controller, and its belief on the way (Fig. 2 of the document)."""

import numpy as np
import xarray as xr

from pdsim.control.belief import silverman
from pdsim.figures import control_scene, style

_LAPS = ("#9ecae1", "#4292c6", "#08306b")
CAPTION = (
    "Above: the paths of all simulations of one controller; orange points are control steps in "
    "which the robust plan was applied. Below: the belief of the first simulation at four times, "
    "its particles over the nominal values with contours of their kernel density; the cross is the "
    "truth, the box the prior."
)


def draw(title: str, task, log: xr.Dataset, stem: str) -> None:
    """Draw the figure.

    Args:
        task: see ``pdsim.control.tasks``.
        log: of one controller.
    """
    plt = style.apply()
    figure = plt.figure(figsize=(8, 6.2))
    rows = figure.add_gridspec(2, 4, height_ratios=(3, 2))
    above = figure.add_subplot(rows[0, :])
    control_scene.scene(above, task, log)
    laps = np.unique(log["lap"].values)
    for simulation, states in enumerate(log["state"].values):
        truth = log["truth"].values[simulation]
        moving = {"": states} | task.companions(states, truth)
        for (name, one), dashes in zip(moving.items(), ("-", ":"), strict=False):
            x, y = control_scene.path(task, log, one)
            for lap in laps:
                part = log["lap"].values == lap
                label = f"{name or 'path'}, lap {lap + 1}" if simulation == 0 else None
                above.plot(
                    x[part], y[part], color=_shade(lap, len(laps)), linestyle=dashes,
                    linewidth=0.6, alpha=0.8, label=label,
                )  # fmt: skip
        x, y = control_scene.path(task, log, states)
        robust = log["fallback"].values[simulation]
        above.plot(x[robust], y[robust], ".", color=control_scene.FALLBACK, markersize=4)
    above.plot([], [], ".", color=control_scene.FALLBACK, markersize=4, label="robust plan")
    above.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    last = log.sizes["step"] - 1
    lap_length = int((log["lap"].values == 0).sum())
    times = sorted(min(step, last) for step in (9, lap_length // 8, lap_length // 2, last))
    for column, step in enumerate(times):
        axis = figure.add_subplot(rows[1, column])
        control_scene.belief_axes(axis, task, log, 0)
        points = control_scene.particles(log, task, 0, step)
        axis.plot(*points.T, ".", color=style.DRAWS, markersize=2.5)
        _contours(axis, points)
        axis.set_title(f"{log['time'].values[step]:.1f} s")
    style.title(figure, title)
    style.save(figure, stem)


def _shade(lap: int, count: int):
    """Laps from light to dark."""
    return _LAPS[len(_LAPS) - count + lap] if count <= len(_LAPS) else _LAPS[-1]


def _contours(axis, points: np.ndarray) -> None:
    """Contours of the kernel density, where the particles are wide enough to see any."""
    width = silverman(len(points), 2) * points.std(axis=0)
    spans = np.array([np.ptp(axis.get_xlim()), np.ptp(axis.get_ylim())])
    if len(points) < 8 or np.any(width < 3e-3 * spans):
        return
    (left, right), (low, high) = axis.get_xlim(), axis.get_ylim()
    x, y = np.linspace(left, right, 80), np.linspace(low, high, 80)
    grid = np.stack(np.meshgrid(x, y), axis=-1)
    apart = (grid[:, :, None] - points) / width
    density = np.exp(-0.5 * (apart**2).sum(axis=-1)).mean(axis=-1)
    levels = density.max() * np.array([0.05, 0.25, 0.5, 0.75])
    axis.contour(x, y, density, levels=levels, colors=style.DRAWS, linewidths=0.4)
