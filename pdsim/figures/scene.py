"""A robot and the frames seen of it in space, with the traces of their points (Fig. 13)."""

import numpy as np

from pdsim.figures import style
from pdsim.figures.figure import Figure, Request
from pdsim.figures.motion import shows_frames
from pdsim.figures.rendering import render
from pdsim.recordings.trajectories import select
from pdsim.rigid_body.kinematics import place
from pdsim.rigid_body.links import links_of
from pdsim.rigid_body.tree import tree_of
from pdsim.runtime import device
from pdsim.runtime.files import read_dataset
from pdsim.systems.articulated import Articulated
from pdsim.systems.simulator import build_simulator

# Moments at which a frame is drawn, and how long its axes are, of the metre that is seen.
_MOMENTS = 6
_AXIS = 0.2
_COLOURS = {"o": "#000000", "x": "#d62728", "y": "#2ca02c", "z": "#1f77b4"}
# Of a trace in the rendering, every so many frames.
_THINNED = 8
# From the camera to what is seen, over its extent.
_AWAY = 1.5


def draw(request: Request) -> None:
    """Draw the first training recording: traces, some frames, and the bodies at the start.

    The points 1 m along the axes are drawn nearer, at a fifth of their distance, as the paper does.
    """
    device.configure()
    sections = request.sections["simulator"]
    system = build_simulator(sections).system
    assert isinstance(system, Articulated)
    data = select(read_dataset(request.files["trajectories"][0]), "train")
    names = data["channel"].values.tolist()
    length = int(data["length"].values[0])
    observed, start = data["observed"].values[0, :length], data["start"].values[0]
    origins, parents = _bodies(system.model, start)
    traces: list[tuple[str, str, np.ndarray]] = []
    spokes = []
    for frame in sections.options["observe"]["frames"]:

        def point(letter, frame=frame):
            columns = [names.index(f"{frame}_{letter}_{axis}") for axis in "xyz"]
            return observed[:, columns]

        origin = point("o")
        for letter, colour in _COLOURS.items():
            trace = origin + (_AXIS * (point(letter) - origin) if letter != "o" else 0.0)
            what = "origin" if letter == "o" else f"{_AXIS:g} m along {letter}"
            traces.append((f"{frame}: {what}", colour, trace))
            spokes += [
                (np.stack([origin[moment], trace[moment]]), colour)
                for moment in np.linspace(0, length - 1, _MOMENTS).astype(int)
                if letter != "o"
            ]
    everything = np.concatenate([origins, *(trace for _, _, trace in traces)])
    everything = everything[np.isfinite(everything).all(axis=1)]
    low, high = everything.min(axis=0), everything.max(axis=0)
    middle, half = (low + high) / 2, 0.55 * (high - low).max()

    seen = [(trace[np.isfinite(trace).all(axis=1)][::_THINNED], c) for _, c, trace in traces]
    still = start[: system.model.position_count]
    picture = render(sections.options["model"], still, seen + spokes[::_MOMENTS], middle,
                     _AWAY * half * 2)  # fmt: skip

    plt = style.apply()
    figure = plt.figure(figsize=(6.4 if picture is None else 11.0, 6.0))
    if picture is not None:
        panel = figure.add_subplot(1, 2, 1)
        panel.imshow(picture)
        panel.set_axis_off()
    axes = figure.add_subplot(1, 1 if picture is None else 2, 1 if picture is None else 2,
                              projection="3d")  # fmt: skip
    for body, parent in enumerate(parents):
        if parent >= 0:
            line = np.stack([origins[parent], origins[body]])
            label = "bodies at the start" if parent == 0 else None
            axes.plot(*line.T, "o-", color="0.45", linewidth=3, markersize=4, label=label)
    for label, colour, trace in traces:
        axes.plot(*trace.T, color=colour, linewidth=0.8, label=label)
    for line, colour in spokes:
        axes.plot(*line.T, color=colour, linewidth=1.0, alpha=0.35)
    axes.set(
        xlabel="x [m]", ylabel="y [m]", zlabel="z [m]",
        xlim=(middle[0] - half, middle[0] + half), ylim=(middle[1] - half, middle[1] + half),
        zlim=(middle[2] - half, middle[2] + half),
    )  # fmt: skip
    axes.set_box_aspect((1, 1, 1))
    axes.view_init(elev=18, azim=-60)
    figure.legend(loc="outside lower center", ncols=3)
    style.title(figure, f"{request.title} (training run {data['run'].values[0]})")
    style.save(figure, request.stem)


def _bodies(model, start: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """Origins of the bodies at a state (body, 3), the world first, and the parent of each."""
    tree = tree_of(model)
    placed = place(model, links_of(model, dict(model.numbers)).cast(np.dtype(float)), start)
    at = [tree.link_of_body[body] for body in range(1, len(model.bodies))]
    origins = np.asarray(placed.links.position).T[at]
    return np.concatenate([np.zeros((1, 3)), origins]), [body.parent for body in model.bodies]


FIGURE = Figure(
    needs=("trajectories",),
    sections=("title", "simulator"),
    caption="The frames of the robot that are seen, at six moments, and the traces of their "
    "origins and of the points along their axes, drawn at a fifth of the metre at which they are "
    "recorded. Grey: the bodies at the first frame. Where MuJoCo can render off screen, its "
    "picture of the same stands on the left.",
    draw=draw,
    applies=lambda experiment, budget, identity: shows_frames(experiment),
)
