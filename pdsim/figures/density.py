"""Density of simulated trajectories with the recording on top (like Fig. 5, 8 and 9)."""

from collections.abc import Sequence
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr

from pdsim.figures import style
from pdsim.runtime.files import read_dataset

_DASHES = (0, (5, 3))


def draw_density(axis, time, simulated, recorded, label: str) -> None:
    """Draw one channel.

    The colour is the share of roll-outs in a cell of the picture, at each time relative to the
    fullest cell of that time, so that a narrow and a wide bundle are both visible.

    Args:
        simulated: (draw, time).
        recorded: (time,).
    """
    low, high = np.nanmin(recorded), np.nanmax(recorded)
    margin = 0.35 * max(high - low, 1e-6)
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
    axis.set_ylabel(label)
    axis.set_ylim(edges[0], edges[-1])


def draw(trajectories: str, rollouts: str, title: str, stem: str) -> None:
    """Draw the training window and the middle held-out window, one row per position channel.

    The held-out window shown is the one of median error, neither the best nor the worst.
    """
    style.apply()
    data, rolled = read_dataset(trajectories), read_dataset(rollouts)
    channels = np.flatnonzero(data["channel_kind"].values == "position")
    train = int(np.flatnonzero(data["split"].values == "train")[0])
    test = median_trajectory(data, rolled)
    figure, axes = plt.subplots(
        len(channels), 2, figsize=(9, 2.1 * len(channels) + 0.7), sharex=True, squeeze=False
    )
    for column, (trajectory, kind) in enumerate(((train, "training"), (test, "held out"))):
        run = int(data["run"].values[trajectory])
        first = int(data["first_frame"].values[trajectory])
        axes[0, column].set_title(f"{kind}: run {run}, from frame {first}")
        for row, channel in enumerate(channels):
            unit = str(data["channel_unit"].values[channel])
            name = str(data["channel"].values[channel])
            draw_density(
                axes[row, column],
                rolled["time"].values,
                rolled["simulated"].values[trajectory, :, :, channel],
                data["observed"].values[trajectory, 1:, channel],
                f"{name} [{unit}]",
            )
        axes[-1, column].set_xlabel("time [s]")
    figure.legend(handles=_legend(), loc="outside lower center", ncols=2)
    figure.suptitle(title)
    style.save(figure, stem)


class Run(NamedTuple):
    """Roll-outs of one run."""

    label: str
    rollouts: str


def draw_all(trajectories: str, runs: Sequence[Run], title: str, stem: str) -> None:
    """Draw all runs on one held-out window, one row per run, one column per position channel.

    The window is the one whose error is the median for the first of the runs.
    """
    style.apply()
    data = read_dataset(trajectories)
    channels = np.flatnonzero(data["channel_kind"].values == "position")
    shown = median_trajectory(data, read_dataset(runs[0].rollouts))
    # Two runs side by side: a page is wider than it is long.
    across = 2 if len(runs) > 3 else 1
    rows = -(-len(runs) // across)
    figure, axes = plt.subplots(
        rows,
        across * len(channels),
        figsize=(3.3 * across * len(channels), 1.45 * rows + 0.9),
        sharex=True,
        squeeze=False,
    )
    for number, run in enumerate(runs):
        rolled = read_dataset(run.rollouts)
        row, left = number % rows, number // rows * len(channels)
        for offset, channel in enumerate(channels):
            axis = axes[row, left + offset]
            unit, name = (str(data[key].values[channel]) for key in ("channel_unit", "channel"))
            draw_density(
                axis,
                rolled["time"].values,
                rolled["simulated"].values[shown, :, :, channel],
                data["observed"].values[shown, 1:, channel],
                f"{name} [{unit}]",
            )
            axis.set_title(run.label if offset == 0 else "", loc="left")
    for number in range(len(runs), rows * across):
        for offset in range(len(channels)):
            axes[number % rows, number // rows * len(channels) + offset].set_visible(False)
    for number in range(max(len(runs) - 1, 0) // rows + 1):
        last = min(rows, len(runs) - number * rows) - 1
        for offset in range(len(channels)):
            axis = axes[last, number * len(channels) + offset]
            axis.set_xlabel("time [s]")
            axis.tick_params(labelbottom=True)
    figure.legend(handles=_legend(), loc="outside lower center", ncols=2)
    window = f"held-out run {int(data['run'].values[shown])}"
    figure.suptitle(f"{title}: {window}, from frame {int(data['first_frame'].values[shown])}")
    style.save(figure, stem)


def _legend():
    blue = plt.Rectangle((0, 0), 1, 1, color="#6baed6", label="density of roll-outs")
    line = plt.Line2D(
        [], [], color=style.RECORDING, linewidth=0.9, linestyle=_DASHES, label="recording"
    )
    return [line, blue]


def median_trajectory(data: xr.Dataset, rolled: xr.Dataset) -> int:
    """Return the index of the held-out trajectory whose error is the median."""
    test = np.flatnonzero(data["split"].values == "test")
    position = data["channel_kind"].values == "position"
    observed = data["observed"].values[test][:, None, 1:][..., position]
    error = rolled["simulated"].values[test][..., position] - observed
    size = np.nanmean(np.nan_to_num(error, posinf=1e6, neginf=-1e6) ** 2, axis=(1, 2, 3))
    return int(test[np.argsort(size)[len(size) // 2]])
