"""What each input statistic looks like for one trajectory (like Fig. 11)."""

from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np

from pdsim.figures import style


class Panel(NamedTuple):
    """One statistic.

    Attributes:
        recorded: (features,), standardised.
        simulated: (n, features), standardised.
    """

    name: str
    recorded: np.ndarray
    simulated: np.ndarray


def draw(time, observed, channels, panels: list[Panel], title: str, stem: str) -> None:
    """Draw the recording, and below it each statistic of it and of simulations.

    Args:
        time: (time,) [s].
        observed: (time, channel) the training recording.
        channels: names with units.
    """
    style.apply()
    figure, axes = plt.subplots(
        len(panels) + 1, 1, figsize=(9, 1.9 * len(panels) + 2.6), squeeze=False
    )
    top, *rest = axes[:, 0]
    scale = np.maximum(np.abs(observed).max(axis=0), 1e-12)
    for i, name in enumerate(channels):
        top.plot(time, observed[:, i] / scale[i], label=f"{name}, at most {scale[i]:.3g}")
    top.set(xlabel="time [s]", ylabel="of its largest", title="training recording")
    top.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    for axis, panel in zip(rest, panels, strict=True):
        index = np.arange(len(panel.recorded))
        distance = np.linalg.norm(panel.simulated - panel.recorded, axis=1)
        nearest = panel.simulated[np.argmin(distance)]
        others = panel.simulated[:50]
        axis.plot(index, others.T, color="0.75", linewidth=0.4)
        axis.plot([], [], color="0.75", linewidth=0.8, label="50 simulations")
        axis.plot(index, nearest, color="#1f77b4", linewidth=1.0, label="nearest simulation")
        axis.plot(index, panel.recorded, color="black", linewidth=0.9, label="recording")
        axis.set(ylim=(-5, 5), xlim=(0, len(index) - 1))
        axis.set_title(f"{panel.name}: {len(index)} numbers")
        axis.set_ylabel("standardised")
    rest[-1].set_xlabel("index")
    rest[0].legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.suptitle(title)
    style.save(figure, stem)
