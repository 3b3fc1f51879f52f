"""Pair plot of a posterior with the prior's bounds and, where known, the truth."""

import matplotlib.pyplot as plt
import numpy as np

from pdsim.figures import style
from pdsim.parameters import ParameterSpace


def _unit(unit: str) -> str:
    return unit.replace("^2", "²")


def draw(
    space: ParameterSpace, draws: np.ndarray, truth: np.ndarray | None, title: str, stem: str
) -> None:
    """Draw marginals on the diagonal and pairs below it.

    Args:
        draws: (draw, M) physical values.
        truth: (M,) or None.
    """
    style.apply()
    count = space.dimension
    size = max(1.25 * count, 4.5)
    figure, axes = plt.subplots(count, count, figsize=(size + 0.8, size), squeeze=False)
    for row, vertical in enumerate(space.parameters):
        for column, horizontal in enumerate(space.parameters):
            axis = axes[row, column]
            if column > row:
                axis.set_visible(False)
                continue
            x = draws[:, column]
            axis.set_xscale(horizontal.scale)
            pad_x = _padded(horizontal)
            axis.set_xlim(*pad_x)
            for bound in (horizontal.lower, horizontal.upper):
                axis.axvline(bound, color=style.BOUND, linewidth=0.8, linestyle="--")
            if row == column:
                space_of_bins = np.geomspace if horizontal.scale == "log" else np.linspace
                edges = space_of_bins(horizontal.lower, horizontal.upper, 31)
                axis.hist(np.clip(x, edges[0], edges[-1]), edges, color="#6baed6")
                axis.set_yticks([])
                if truth is not None:
                    axis.axvline(truth[column], color=style.TRUTH, linewidth=1.2)
            else:
                axis.set_yscale(vertical.scale)
                axis.set_ylim(*_padded(vertical))
                for bound in (vertical.lower, vertical.upper):
                    axis.axhline(bound, color=style.BOUND, linewidth=0.8, linestyle="--")
                axis.plot(x, draws[:, row], ".", markersize=3, alpha=0.6, color="#08519c")
                if truth is not None:
                    axis.plot(truth[column], truth[row], "*", markersize=9, color=style.TRUTH)
            small = 6 if count > 5 else 8
            axis.tick_params(labelsize=small)
            if horizontal.scale == "linear":
                axis.xaxis.set_major_locator(plt.MaxNLocator(2 if count > 5 else 4))
            else:
                axis.xaxis.set_minor_locator(plt.NullLocator())
            if row != column and vertical.scale == "linear":
                axis.yaxis.set_major_locator(plt.MaxNLocator(3))
            elif row != column:
                axis.yaxis.set_minor_locator(plt.NullLocator())
            if row < count - 1:
                axis.set_xticklabels([])
            else:
                axis.set_xlabel(f"{horizontal.name}\n[{_unit(horizontal.unit)}]", fontsize=small + 1)
            if column == 0 and row > 0:
                axis.set_ylabel(f"{vertical.name}\n[{_unit(vertical.unit)}]", fontsize=small + 1)
            elif column > 0:
                axis.set_yticklabels([])
    handles = [
        plt.Line2D([], [], marker=".", linestyle="", color="#08519c", label="draws"),
        plt.Line2D([], [], linestyle="--", color=style.BOUND, label="limits of the prior"),
    ]
    if truth is not None:
        handles.append(
            plt.Line2D([], [], marker="*", markersize=9, linestyle="", color=style.TRUTH, label="truth")
        )
    figure.legend(handles=handles, loc="upper right", fontsize=9)
    figure.suptitle(title)
    style.save(figure, stem)


def _padded(parameter) -> tuple[float, float]:
    """Limits of an axis a little wider than the prior's, so that particles on them are seen."""
    low, high = (float(parameter.to_physical(u)) for u in (-0.06, 1.06))
    return low, high
