"""The likelihood over two parameters, for single and multiple shooting (Fig. 2a and 2b)."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np

from pdsim.figures import style


def draw(
    grids: Mapping[str, np.ndarray],
    axes_values: tuple[np.ndarray, np.ndarray],
    labels: tuple[str, str],
    truth: tuple[float, float],
    title: str,
    stem: str,
) -> None:
    """Draw one panel per shooting.

    The likelihood spans many orders of magnitude, so the colour is its rank among all cells:
    equal areas of the picture have equal shares of the colours, and every valley shows.

    Args:
        grids: panel title → (second parameter, first parameter) log likelihood.
        axes_values: values of the first and second parameter.
        labels: with units.
        truth: of the two.
    """
    style.apply()
    figure, axes = plt.subplots(1, len(grids), figsize=(4.6 * len(grids), 4.1), sharey=True)
    for axis, (name, grid) in zip(np.atleast_1d(axes), grids.items(), strict=True):
        order = np.argsort(np.argsort(np.nan_to_num(grid, nan=-np.inf).ravel()))
        rank = order.reshape(grid.shape) / (grid.size - 1)
        image = axis.pcolormesh(*axes_values, rank, shading="nearest", rasterized=True)
        axis.plot(*truth, "*", markersize=14, color="white", markeredgecolor="black", label="truth")
        top = np.unravel_index(np.nanargmax(grid), grid.shape)
        axis.plot(
            axes_values[0][top[1]],
            axes_values[1][top[0]],
            "x",
            color=style.TRUTH,
            markersize=8,
            markeredgewidth=2,
            label="highest cell",
        )
        axis.set(title=name, xlabel=labels[0])
    np.atleast_1d(axes)[0].set_ylabel(labels[1])
    np.atleast_1d(axes)[-1].legend(loc="upper right", facecolor="white", frameon=True)
    bar = figure.colorbar(image, ax=axes, label="rank of the log likelihood")
    bar.set_ticks([0, 0.5, 1], labels=["lowest", "median", "highest"])
    figure.suptitle(title)
    style.save(figure, stem)
