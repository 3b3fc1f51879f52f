"""Densities of the roll-outs of all runs on one window, side by side (like Fig. 9)."""

from pdsim.figures import style
from pdsim.figures.density import draw_channel, legend, shown_channels, shown_trajectory
from pdsim.figures.figure import Figure, Request, whose
from pdsim.recordings.trajectories import channel_labels, is_test, window_title
from pdsim.runtime.files import read_dataset

NEEDS = ("trajectories", "rollouts", "posterior")
SECTIONS = ("title",)
CAPTION = (
    "All runs on one window, which the title names. Blue: where the roll-outs of all draws go from "
    "the estimated start state, without observation noise or errors of the start and of the model: "
    "the recording need not lie inside. Dashed: the recording."
)


def draw(request: Request) -> None:
    """Draw one row per run, one column per channel, on one window.

    The window is one of the test set, where there is one: that whose error is the median for the
    first of the runs. Roll-outs and posteriors are of the same runs, in the same order.
    """
    plt = style.apply()
    data = read_dataset(request.files["trajectories"][0])
    labels = [whose(read_dataset(path).attrs).label for path in request.files["posterior"]]
    files = request.files["rollouts"]
    channels, names = shown_channels(data), channel_labels(data)
    shown = shown_trajectory(data, read_dataset(files[0]))
    # Two runs side by side where there is room: a page is wider than it is long.
    across = 2 if len(files) > 3 and len(channels) < 4 else 1
    rows, width = -(-len(files) // across), len(channels)
    figure, axes = plt.subplots(
        rows,
        across * width,
        figsize=(max(3.3 * across * width, 5.0), 1.45 * rows + 1.0),
        sharex=True,
        squeeze=False,
    )
    for axis in axes.flat:
        axis.set_visible(False)
    for number, (label, path) in enumerate(zip(labels, files, strict=True)):
        rolled = read_dataset(path)
        row, left = number % rows, number // rows * width
        # The last run of each column of runs has the labels of the time axis.
        last = row == rows - 1 or number == len(files) - 1
        for axis, channel in zip(axes[row, left : left + width], channels, strict=True):
            axis.set_visible(True)
            draw_channel(axis, data, rolled, shown, channel)
            axis.set_ylabel(style.plain(names[channel]))
            axis.tick_params(labelbottom=last)
            axis.set_xlabel("time [s]" if last else "")
        axes[row, left].set_title(style.plain(label), loc="left")
    figure.legend(handles=legend(plt), loc="outside lower center", ncols=2)
    kind = "held out" if is_test(data)[shown] else "training window"
    style.title(figure, f"{request.title}: {kind}, {window_title(data, shown)}")
    style.save(figure, request.stem)


FIGURE = Figure(needs=NEEDS, sections=SECTIONS, caption=CAPTION, draw=draw)
