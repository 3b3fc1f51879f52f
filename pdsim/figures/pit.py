"""Ranks of held-out observations among their predictions."""

import numpy as np

from pdsim.figures import style
from pdsim.figures.figure import Figure, Request, predicted
from pdsim.runtime.files import read_dataset

_BINS = 20
_THIRDS = ("first third", "second third", "last third")


def draw(request: Request) -> None:
    """Draw the histograms of all held-out recordings' ranks, by channel and third of horizon."""
    # Imported here: the workflow reads this module's entry at every start, and these take long.
    from pdsim.inference.bayessim.calibration import flat_band
    from pdsim.metrics.prefix import Observations, ranks, thirds_of

    data = read_dataset(request.files["trajectories"][0])
    prediction = read_dataset(request.files["prediction"][0])
    came, simulated, _ = Observations.of(data, prediction)
    place, third = ranks(came, simulated), thirds_of(data, prediction)
    names = [str(name) for name in prediction["measured"].values]
    plt = style.apply()
    figure, axes = plt.subplots(
        len(names),
        len(_THIRDS),
        figsize=(2.5 * len(_THIRDS) + 0.5, 1.6 * len(names) + 0.9),
        sharex=True,
        sharey=True,
        squeeze=False,
    )
    edges = np.linspace(0, 1, _BINS + 1)
    for row, name in enumerate(names):
        for number, title in enumerate(_THIRDS):
            axis, found = axes[row, number], place[third == number][:, row]
            found = found[np.isfinite(found)]
            if row == 0:
                axis.set_title(title)
            axis.axhline(1.0, color=style.BOUND, linewidth=0.8)
            if not len(found):
                continue
            unit = len(found) / _BINS
            low, high = flat_band(len(found), _BINS, 0.95)
            axis.axhspan(low / unit, high / unit, color="0.88")
            counts = np.histogram(found, edges)[0]
            axis.stairs(counts / unit, edges, color=style.DRAWS, linewidth=1.0)
        axes[row, 0].set_ylabel(f"{style.plain(name)}\ndensity")
    axes[0, 0].set_xlim(0, 1)
    axes[0, 0].set_ylim(bottom=0)
    for axis in axes[-1]:
        axis.set_xlabel("rank / draws")
    style.title(figure, f"{request.title} (ranks of held-out observations)")
    style.save(figure, request.stem)


FIGURE = Figure(
    needs=("trajectories", "prediction"),
    sections=("title",),
    caption="Probability integral transform of the predictions from a prefix: ranks of the "
    "observations after it among the draws, sensor noise included, by channel and third of the "
    "horizon. If recordings are distributed as predicted, histograms are flat; a bowl: the bands "
    "are too narrow; a hump: too wide; a slope: the prediction is off to one side. The grey band "
    "holds 95 % of the bins of independent ranks. Frames of one recording are not independent, so "
    "larger departures are common: the band is a guide, not a test.",
    draw=draw,
    of_each_run=True,
    applies=predicted,
)
