"""Rank histograms of simulation-based calibration."""

import matplotlib.pyplot as plt
import numpy as np

from pdsim.bayessim.calibration import flat_band, histogram
from pdsim.figures import style

_BINS = 20


def draw(ranks: dict[str, np.ndarray], names: list[str], count: int, title: str, stem: str) -> None:
    """Draw one panel per variant, one line per parameter.

    Args:
        ranks: variant → (n, M) ranks of 0 … ``count``.
        names: of the parameters.
    """
    style.apply()
    columns = min(len(ranks), 4)
    rows = -(-len(ranks) // columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(2.5 * columns + 0.5, 1.9 * rows + 1.0), sharex=True, sharey=True,
        squeeze=False,
    )  # fmt: skip
    edges = np.linspace(0, 1, _BINS + 1)
    colours = plt.get_cmap("tab10" if len(names) <= 10 else "tab20")
    for axis, (variant, rank) in zip(axes.flat, ranks.items(), strict=False):
        low, high = flat_band(len(rank), _BINS, 0.99)
        axis.axhspan(low / len(rank) * _BINS, high / len(rank) * _BINS, color="0.88")
        for i, name in enumerate(names):
            counts = histogram(rank[:, i], count, _BINS) / len(rank) * _BINS
            axis.stairs(counts, edges, baseline=None, label=name, color=colours(i), linewidth=1.0)
        axis.set_title(variant.replace("_", " "))
        axis.set_xlim(0, 1)
    axes[0, 0].set_ylim(0, 4)
    for axis in axes.flat[len(ranks) :]:
        axis.set_visible(False)
    for axis in axes[-1]:
        axis.set_xlabel("rank of the truth / draws")
    for axis in axes[:, 0]:
        axis.set_ylabel("density")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=6)
    figure.suptitle(title)
    style.save(figure, stem)
