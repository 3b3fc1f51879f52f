"""Density of one run's roll-outs with the recording on top (like Fig. 5 and 8)."""

import numpy as np
import xarray as xr

from pdsim.figures import style
from pdsim.figures.figure import Figure, Request, detailed
from pdsim.recordings.trajectories import channel_labels, is_position, is_test, window_title
from pdsim.runtime.files import read_dataset

_DASHES = (0, (5, 3))
# Stands for the error of a roll-out that is not finite [scaled channels].
_LOST = 1e6


def draw(request: Request) -> None:
    """Draw the training window and, of the test set, the window of median error.

    One row per channel, see ``shown_channels``; the held-out window is neither the best nor the
    worst.
    """
    plt = style.apply()
    data = read_dataset(request.files["trajectories"][0])
    rolled = read_dataset(request.files["rollouts"][0])
    channels = shown_channels(data)
    columns = [(int(np.flatnonzero(~is_test(data))[0]), "training")]
    if is_test(data).any():
        columns.append((shown_trajectory(data, rolled), "held out"))
    figure, axes = plt.subplots(
        len(channels),
        len(columns),
        figsize=(4.5 * len(columns) + (len(columns) == 1), 2.1 * len(channels) + 0.9),
        sharex="col",
        squeeze=False,
    )
    labels = channel_labels(data)
    for column, (trajectory, kind) in enumerate(columns):
        axes[0, column].set_title(style.plain(f"{kind}: {window_title(data, trajectory)}"))
        for row, channel in enumerate(channels):
            draw_channel(axes[row, column], data, rolled, trajectory, channel)
            axes[row, column].set_ylabel(style.plain(labels[channel]))
        axes[-1, column].set_xlabel("time [s]")
    figure.legend(handles=legend(plt), loc="outside lower center", ncols=2)
    style.title(figure, request.title)
    style.save(figure, request.stem)


def shown_channels(data: xr.Dataset) -> np.ndarray:
    """Indices of the angles and positions that were observed; without any, of what was."""
    seen = np.isfinite(data["observed"].values).any(axis=(0, 1))
    position = is_position(data) & seen
    return np.flatnonzero(position if position.any() else seen)


def shown_trajectory(data: xr.Dataset, rolled: xr.Dataset) -> int:
    """Index of the held-out trajectory of median error; of the training set if there is no other.

    Errors are those of all roll-outs in the channels that are drawn, each over its spread.
    """
    held_out = is_test(data)
    chosen = np.flatnonzero(held_out if held_out.any() else ~held_out)
    channels = shown_channels(data)
    observed = data["observed"].values[chosen, 1:][..., channels]
    error = rolled["simulated"].values[chosen][..., channels] - observed[:, None]
    spread = np.nanstd(observed, axis=(0, 1))
    error = error / np.where(np.isfinite(spread) & (spread > 0), spread, 1.0)
    # What was not observed has no error; a roll-out that is not finite has a large one.
    seen = np.broadcast_to(np.isfinite(observed)[:, None], error.shape)
    square = np.where(np.isfinite(error), np.clip(np.abs(error), None, _LOST), _LOST) ** 2
    size = np.where(seen, square, 0.0).sum(axis=(1, 2, 3)) / np.maximum(seen.sum((1, 2, 3)), 1)
    return int(chosen[np.argsort(size)[len(size) // 2]])


def draw_channel(axis, data: xr.Dataset, rolled: xr.Dataset, trajectory: int, channel: int) -> None:
    """Draw one channel of one trajectory, as long as the trajectory is."""
    end = int(data["length"].values[trajectory])
    draw_density(
        axis,
        data["time"].values[1:end],
        rolled["simulated"].values[trajectory, :, : end - 1, channel],
        data["observed"].values[trajectory, 1:end, channel],
    )


def draw_density(axis, time: np.ndarray, simulated: np.ndarray, recorded: np.ndarray) -> None:
    """Draw roll-outs and a recording.

    The colour is the share of roll-outs in a cell of the picture, at each time relative to the
    fullest cell of that time, so that a narrow and a wide bundle are both visible.

    Args:
        time: (time,) [s], evenly spaced.
        simulated: (draw, time).
        recorded: (time,), NaN where nothing was observed.
    """
    known = recorded[np.isfinite(recorded)]
    if known.size == 0:
        known = simulated[np.isfinite(simulated)]
    low, high = np.quantile(known, [0.0, 1.0]) if known.size else (-1.0, 1.0)
    margin = 0.35 * max(high - low, 1e-6 * max(abs(low), abs(high), 1.0))
    edges = np.linspace(low - margin, high + margin, 141)
    counts = np.stack([np.histogram(column, edges)[0] for column in simulated.T], axis=1)
    share = counts / np.maximum(counts.max(axis=0, keepdims=True), 1)
    step = time[1] - time[0]
    axis.pcolormesh(
        np.concatenate([time, [time[-1] + step]]),
        edges,
        np.ma.masked_equal(share, 0.0),
        cmap="Blues",
        vmin=-0.25,
        vmax=1.0,
        rasterized=True,
    )
    axis.plot(time, recorded, color=style.RECORDING, linewidth=0.9, linestyle=_DASHES)
    axis.set_ylim(edges[0], edges[-1])


def legend(plt) -> list:
    """What the line and the colour are."""
    blue = plt.Rectangle((0, 0), 1, 1, color="#6baed6", label="density of roll-outs")
    line = plt.Line2D(
        [], [], color=style.RECORDING, linewidth=0.9, linestyle=_DASHES, label="recording"
    )
    return [line, blue]


FIGURE = Figure(
    needs=("trajectories", "rollouts"),
    sections=("title",),
    caption="Blue: where the roll-outs of all draws go from the estimated start state, "
    "without observation noise or errors of the start and of the model: the recording need not "
    "lie inside. Dashed: the recording. The title of each column says whether its window was "
    "fitted; of those that were not, where there are any, it is the one of median error.",
    draw=draw,
    of_each_run=True,
    applies=detailed,
)
