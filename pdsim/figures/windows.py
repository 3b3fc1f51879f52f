"""Shooting windows and their defects (like Fig. 2c)."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np

from pdsim.figures import style

_COLOURS = ("#08519c", "#d95f02")


def draw(
    time: np.ndarray,
    recorded: np.ndarray,
    window_times: np.ndarray,
    guesses: Mapping[str, np.ndarray],
    labels: list[str],
    title: str,
    stem: str,
) -> None:
    """Draw one column per guess: each window a curve, its start a dot, its defect a bar.

    Args:
        time: (time,) [s] of the recording.
        recorded: (time, channel).
        window_times: (window, h + 1) [s]; window w's last instant is window w + 1's first.
        guesses: column title → (window, h + 1, channel), simulated; the first entry of each
            window is its start state.
        labels: (channel,), with units.
    """
    style.apply()
    channels = recorded.shape[1]
    figure, axes = plt.subplots(
        channels,
        len(guesses),
        figsize=(4.8 * len(guesses), 1.6 * channels + 0.9),
        sharex=True,
        sharey="row",
        squeeze=False,
    )
    for column, (name, windows) in enumerate(guesses.items()):
        axes[0, column].set_title(name)
        axes[-1, column].set_xlabel("time [s]")
        for c in range(channels):
            _draw_channel(axes[c, column], time, recorded[:, c], window_times, windows[..., c])
            if column == 0:
                axes[c, column].set_ylabel(labels[c])
    handles = [
        plt.Line2D([], [], color=style.RECORDING, linewidth=0.8, label="recording"),
        plt.Line2D([], [], color=_COLOURS[0], marker="o", markersize=3.5, label="even windows"),
        plt.Line2D([], [], color=_COLOURS[1], marker="o", markersize=3.5, label="odd windows"),
        plt.Line2D([], [], color=style.TRUTH, linewidth=2, label="defects"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=4)
    figure.suptitle(title)
    style.save(figure, stem)


def _draw_channel(axis, time, recorded, window_times, windows) -> None:
    axis.plot(time, recorded, color=style.RECORDING, linewidth=0.8)
    for w, (t, x) in enumerate(zip(window_times, windows, strict=True)):
        axis.plot(t, x, color=_COLOURS[w % 2], linewidth=1.6, alpha=0.8)
        axis.plot(t[0], x[0], "o", color=_COLOURS[w % 2], markersize=3.5)
        if w > 0:
            axis.plot([t[0], t[0]], [windows[w - 1, -1], x[0]], color=style.TRUTH, linewidth=2)
    low, high = np.nanmin(recorded), np.nanmax(recorded)
    margin = 0.3 * (high - low)
    axis.set_ylim(low - margin, high + margin)
