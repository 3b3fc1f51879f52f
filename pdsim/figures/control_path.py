"""The path of one controller, and its belief on the way (Fig. 2 of the document)."""

import numpy as np
import xarray as xr

from pdsim.control.belief import silverman
from pdsim.figures import control_scene, style

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
    for simulation in range(log.sizes["simulation"]):
        x, y = control_scene.path(log, simulation)
        for lap in np.unique(log["lap"].values):
            part = log["lap"].values == lap
            above.plot(x[part], y[part], color=style.DRAWS, linewidth=0.5, alpha=0.7)
        robust = log["fallback"].values[simulation]
        above.plot(x[robust], y[robust], ".", color=control_scene.FALLBACK, markersize=4)
    above.plot([], [], color=style.DRAWS, linewidth=0.5, label="path")
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
