"""Held-out recordings predicted after their first frames."""

import numpy as np

from pdsim.figures import style
from pdsim.figures.figure import Figure, Request, predicted
from pdsim.recordings.trajectories import channel_labels, is_position, is_test, window_title
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import read_dataset

# Recordings shown, at most.
_SHOWN = 3
# Range of an axis over that of the recordings.
_ROOM = 2.0


def draw(request: Request) -> None:
    """Draw the predictive bands of the positions of some held-out recordings."""
    # Imported here: the workflow reads this module's entry at every start, and this takes long.
    from pdsim.metrics.prefix import band

    data = read_dataset(request.files["trajectories"][0])
    path = request.files["prediction"][0]
    prediction = read_dataset(path)
    first, time = int(prediction.attrs["prefix"]), data["time"].values
    names, positions = data["channel"].values.tolist(), is_position(data)
    measured = [str(name) for name in prediction["measured"].values]
    rows = [(names.index(name), i) for i, name in enumerate(measured)]
    rows = [(channel, i) for channel, i in rows if positions[channel]]
    if not rows:
        raise PdsimError(f"{path}: no position was measured, so there is none to draw")
    test = np.flatnonzero(is_test(data))[:_SHOWN]
    plt = style.apply()
    figure, axes = plt.subplots(
        len(rows),
        len(test),
        figsize=(3.6 * len(test) + 0.6, 1.9 * len(rows) + 1.0),
        sharex=True,
        sharey="row",
        squeeze=False,
    )
    labels = channel_labels(data)
    for column, trajectory in enumerate(test):
        axes[0, column].set_title(style.plain(window_title(data, int(trajectory))))
        axes[-1, column].set_xlabel("time [s]")
        length = int(data["length"].values[trajectory])
        shown = prediction.isel(trajectory=column, time=slice(0, length - first))
        whole = np.isfinite(shown["predicted"].values).all(axis=(1, 2))
        for row, (channel, i) in enumerate(rows):
            axis = axes[row, column]
            axis.axvspan(time[0], time[first - 1], color="0.92", label="prefix")
            observation = shown["predicted_observation"].values[whole][..., i].astype(float)
            ahead = time[first:length]
            if len(observation):
                for level, alpha in ((0.9, 0.2), (0.5, 0.4)):
                    low, high = band(observation, level)
                    axis.fill_between(
                        ahead, low, high, color=style.DRAWS, alpha=alpha, linewidth=0,
                        label=f"{level:.0%} band".replace("%", " %"),
                    )  # fmt: skip
                middle = np.median(shown["predicted"].values[whole][..., channel], axis=0)
                axis.plot(ahead, middle, color=style.DRAWS, linewidth=1.0, label="median")
            seen = data["observed"].values[trajectory, :length, channel]
            axis.plot(time[:length], seen, color=style.RECORDING, linewidth=0.8, label="recording")
            if column == 0:
                axis.set_ylabel(style.plain(labels[channel]))
    for row, (channel, _) in enumerate(rows):
        # Bands that run away would hide the recordings.
        seen = data["observed"].values[test][..., channel]
        seen = seen[np.isfinite(seen)]
        if seen.size:
            middle, half = (seen.max() + seen.min()) / 2, np.ptp(seen) / 2
            half = max(_ROOM * half, 1e-6 * max(abs(middle), 1.0))
            axes[row, 0].set_ylim(middle - half, middle + half)
    handles, texts = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, texts, loc="outside lower center", ncols=5)
    style.title(figure, f"{request.title} (prediction from the first {first} frames)")
    style.save(figure, request.stem)


FIGURE = Figure(
    needs=("trajectories", "prediction"),
    sections=("title",),
    caption="Recordings (black) predicted after their first frames (grey): the state at "
    "the end of these is inferred with each draw's own noise, then rolled out. The bands hold the "
    "parameters', the state's, the process's and the sensors' uncertainty, so 90 % of a recording "
    "should be in the wider one. Axes end at twice the range of the recordings.",
    draw=draw,
    of_each_run=True,
    applies=predicted,
)
