"""What each input statistic looks like for one trajectory (like Fig. 11)."""

from typing import NamedTuple

import numpy as np

from pdsim.figures import style
from pdsim.figures.figure import Figure, Request, trains
from pdsim.inference.bayessim.scaling import scaling
from pdsim.recordings.trajectories import channel_labels, is_test
from pdsim.runtime.files import read_dataset


class Panel(NamedTuple):
    """One statistic.

    Attributes:
        recorded: (features,), standardised.
        simulated: (n, features), standardised.
    """

    name: str
    recorded: np.ndarray
    simulated: np.ndarray


def draw(request: Request) -> None:
    """Draw the first training recording and every input statistic of it."""
    data = read_dataset(request.files["trajectories"][0])
    first = int(np.flatnonzero(~is_test(data))[0])
    panels = []
    for path in request.files["statistics"]:
        stored = read_dataset(path)
        simulated = stored["simulated"].values[~stored["held_out"].values]
        scale = scaling(simulated)
        name, recorded = stored.attrs["statistic"], stored["recorded"].values[:1]
        panels.append(Panel(name, scale(recorded)[0], scale(simulated)))
    end = int(data["length"].values[first])
    draw_panels(
        data["time"].values[:end],
        data["observed"].values[first, :end],
        channel_labels(data),
        panels,
        f"{request.title}: input statistics of BayesSim",
        request.stem,
    )


def draw_panels(time, observed, channels, panels: list[Panel], title: str, stem: str) -> None:
    """Draw the recording, and below it each statistic of it and of simulations.

    Args:
        time: (time,) [s].
        observed: (time, channel) the training recording; channels of NaN are left out.
        channels: names with units.
    """
    plt = style.apply()
    figure, axes = plt.subplots(
        len(panels) + 1, 1, figsize=(9, 1.9 * len(panels) + 2.6), squeeze=False
    )
    top, *rest = axes[:, 0]
    for name, values in zip(channels, observed.T, strict=True):
        seen = np.isfinite(values)
        if seen.any():
            largest = max(float(np.abs(values[seen]).max()), 1e-12)
            label = style.plain(f"{name}, at most {largest:.3g}")
            top.plot(time, values / largest, label=label)
    top.set(xlabel="time [s]", ylabel="share of the largest value", title="training recording")
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
    style.title(figure, title)
    style.save(figure, stem)


FIGURE = Figure(
    needs=("trajectories", "statistics"),
    sections=("title",),
    caption="Each input statistic of the training recording (black), of the nearest simulated "
    "trajectory (blue) and of fifty others (grey), standardised as the densities see it.",
    draw=draw,
    applies=trains,
)
