"""Shooting windows and their defects (like Fig. 2c)."""

import matplotlib.pyplot as plt
import numpy as np

from pdsim.figures import style


def draw(
    time: np.ndarray,
    recorded: np.ndarray,
    window_times: np.ndarray,
    windows: np.ndarray,
    names: list[str],
    units: list[str],
    title: str,
    stem: str,
) -> None:
    """Draw each window of one draw as its own curve, its start as a dot, its defect as a bar.

    Args:
        time: (time,) [s] of the recording.
        recorded: (time, channel).
        window_times: (window, h + 1) [s]; window w's last instant is window w + 1's first.
        windows: (window, h + 1, channel), simulated; the first entry is the start state.
        names, units: (channel,).
    """
    style.apply()
    channels = recorded.shape[1]
    figure, axes = plt.subplots(channels, 1, figsize=(8, 1.7 * channels + 0.8), sharex=True)
    colours = ("#08519c", "#d95f02")
    for c, axis in enumerate(np.atleast_1d(axes)):
        axis.plot(time, recorded[:, c], color=style.RECORDING, linewidth=0.8, label="recording")
        for w, (t, x) in enumerate(zip(window_times, windows[..., c], strict=True)):
            axis.plot(t, x, color=colours[w % 2], linewidth=1.6, alpha=0.8)
            axis.plot(t[0], x[0], "o", color=colours[w % 2], markersize=3.5)
            if w > 0:
                end = windows[w - 1, -1, c]
                axis.plot([t[0], t[0]], [end, x[0]], color=style.TRUTH, linewidth=2)
        low, high = np.nanmin(recorded[:, c]), np.nanmax(recorded[:, c])
        margin = 0.3 * (high - low)
        axis.set_ylim(low - margin, high + margin)
        axis.set_ylabel(f"{names[c]} [{units[c]}]")
    np.atleast_1d(axes)[-1].set_xlabel("time [s]")
    handles = [
        plt.Line2D([], [], color=style.RECORDING, linewidth=0.8, label="recording"),
        plt.Line2D([], [], color=colours[0], marker="o", markersize=3.5, label="even windows"),
        plt.Line2D([], [], color=colours[1], marker="o", markersize=3.5, label="odd windows"),
        plt.Line2D([], [], color=style.TRUTH, linewidth=2, label="defects"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=4)
    figure.suptitle(title)
    style.save(figure, stem)
