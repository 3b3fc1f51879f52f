"""A film of one simulation: the path, what is forbidden, and the belief as it learns."""

import io
from functools import partial
from pathlib import Path

import xarray as xr

from pdsim.figures import control_scene, style
from pdsim.runtime.files import write_atomically

CAPTION = (
    "One simulation at twice its speed: the path of the last three seconds, and the particles of "
    "the belief over the nominal values. The vehicle is orange while the robust plan is applied."
)
# Seconds of the simulation between two frames, and frames in a second of the film.
_EVERY, _RATE = 0.2, 10
# How long the tail of the path is [s].
_TAIL = 3.0


def draw(title: str, task, log: xr.Dataset, output: str, simulation: int = 0) -> None:
    """Write the film as a GIF, at twice the speed of the simulation.

    Args:
        task: see ``pdsim.control.tasks``.
        log: of one controller.
    """
    plt = style.apply()
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.5, 3.6), width_ratios=(3, 2))
    control_scene.scene(left, task, log)
    control_scene.belief_axes(right, task, log, simulation)
    x, y = control_scene.path(task, log, log["state"].values[simulation])
    lap = log["lap"].values
    (trace,) = left.plot([], [], color=style.DRAWS, linewidth=1)
    (vehicle,) = left.plot([], [], "o", color=style.DRAWS, markersize=6)
    (cloud,) = right.plot([], [], ".", color=style.DRAWS, markersize=3)
    robust = log["fallback"].values[simulation]
    style.title(figure, title)
    # The layout is made once, with room for what each picture says of its time.
    left.set_title("lap, time")
    figure.draw_without_rendering()
    figure.set_layout_engine("none")

    def show(step: int) -> None:
        first = max(0, step - round(_TAIL / task.control_time))
        if task.pictured[0] == "time":
            first = max(first, int((lap < lap[step]).sum()))
        trace.set_data(x[first : step + 1], y[first : step + 1])
        vehicle.set_data([x[step]], [y[step]])
        vehicle.set_color(control_scene.FALLBACK if robust[step] else style.DRAWS)
        cloud.set_data(*control_scene.particles(log, task, simulation, step).T)
        left.set_title(f"lap {lap[step] + 1}, {log['time'].values[step]:.1f} s")

    write_atomically(
        output, partial(_write, figure, show, range(0, len(x), round(_EVERY / task.control_time)))
    )
    plt.close(figure)


def _write(figure, show, steps, path: Path) -> None:
    from PIL import Image

    frames = []
    for step in steps:
        show(step)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=70, metadata={"Software": None})
        frames.append(Image.open(buffer).convert("P", palette=Image.Palette.ADAPTIVE, colors=64))
    frames[0].save(
        path, save_all=True, append_images=frames[1:], duration=1000 // _RATE, loop=0, optimize=True
    )
