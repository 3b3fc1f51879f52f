"""The flexible loop in motion, as an animated picture."""

from functools import partial

from pdsim.figures import style
from pdsim.figures.figure import Figure, Request
from pdsim.figures.loop import is_loop
from pdsim.figures.loop_shape import paint, shapes, stage
from pdsim.runtime.files import write_atomically

# Between pictures [s], and how much faster than the motion they are shown.
_EVERY, _FASTER = 0.2, 2.0
_DPI = 80


def draw(request: Request) -> None:
    """Write ``<stem>.gif``: a 3-D picture of every fifth of a second, shown twice as fast."""
    from matplotlib.animation import FuncAnimation, PillowWriter

    found = shapes(request)
    plt = style.apply()
    figure = plt.figure(figsize=(4.4, 4.4))
    figure.set_layout_engine("none")
    axes = figure.add_axes((0.0, 0.05, 0.93, 0.84), projection="3d")
    stage(axes, found)
    style.title(figure, f"{request.title} (training run {found.run})")
    step = max(round(_EVERY / (found.time[1] - found.time[0])), 1)
    shown: list = []

    def picture(frame: int):
        for artist in shown:
            artist.remove()
        shown[:] = paint(axes, found, frame)
        axes.set_title(f"{found.time[frame]:.1f} s")
        return shown

    motion = FuncAnimation(figure, picture, frames=range(0, len(found.time), step))
    writer = PillowWriter(fps=round(_FASTER / _EVERY))
    write_atomically(f"{request.stem}.gif", partial(motion.save, writer=writer, dpi=_DPI))
    plt.close(figure)


FIGURE = Figure(
    needs=("trajectories", "posterior"),
    sections=("title", "simulator"),
    caption="The arm (grey) and the two sides of the loop (blue, orange) down to the clamp (black "
    "square), simulated with the median draw of the first run and shown twice as fast as it is.",
    draw=draw,
    suffixes=("gif",),
    applies=lambda experiment, budget, identity: is_loop(experiment),
)
