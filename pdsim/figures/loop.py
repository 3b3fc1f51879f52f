"""The flexible loop in the hand of the arm: at the start, twisted, and bent (Fig. 2)."""

import numpy as np

from pdsim.figures import style
from pdsim.figures.figure import Figure, Request
from pdsim.figures.loop_shape import SIDES, Shapes, paint, shapes, stage


def moments(found: Shapes) -> dict[str, int]:
    """Frames worth a picture: the start, the one most twisted, and the one most bent."""
    turned = np.abs(found.wrist - found.wrist[0])
    return {
        "start": 0,
        "hand turned most": int(np.nanargmax(turned)),
        "hand lowest over the clamp": int(np.nanargmin(found.height)),
    }


def draw(request: Request) -> None:
    """Draw a 3-D picture of each moment."""
    found = shapes(request)
    plt = style.apply()
    figure = plt.figure(figsize=(10.5, 4.4))
    figure.set_layout_engine("none")
    for number, (name, frame) in enumerate(moments(found).items()):
        axes = figure.add_axes((number / 3, 0.1, 0.31, 0.8), projection="3d")
        stage(axes, found)
        if frame:
            for side in found.sides[0]:
                axes.plot(*side.T, color="0.75", linewidth=1.0)
        paint(axes, found, frame)
        axes.set_title(f"{name}, {found.time[frame]:.2f} s", y=0.98)
    handles = [
        plt.Line2D([], [], color="0.5", linewidth=3, label="arm"),
        plt.Line2D([], [], color=SIDES[0], label="loop, left side"),
        plt.Line2D([], [], color=SIDES[1], label="loop, right side"),
        plt.Line2D([], [], color="black", marker="s", linestyle="", label="clamp"),
        plt.Line2D([], [], color="0.75", linewidth=1.0, label="loop at the start"),
    ]
    figure.legend(handles=handles, loc="lower center", ncols=5)
    style.title(figure, f"{request.title} (training run {found.run})")
    style.save(figure, request.stem)


def is_loop(experiment) -> bool:
    """Whether the flexible loop is simulated."""
    return experiment.simulator.system == "flexible_loop"


FIGURE = Figure(
    needs=("trajectories", "posterior"),
    sections=("title", "simulator"),
    caption="The arm and the loop, simulated with the median draw of the first run: at the start, "
    "when the hand has turned most, which twists the loop, and when it is nearest to the clamp, "
    "which bends it. Pale: the loop at the start. All axes have one scale.",
    draw=draw,
    applies=lambda experiment, budget, identity: is_loop(experiment),
)
