"""Simulation-based calibration of the estimators: shares of ranks, and their histograms."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from pdsim.figures import style
from pdsim.figures.figure import Figure, Request
from pdsim.runtime.files import read_dataset

_COLUMNS = 4


def draw(request: Request) -> None:
    """Draw the ranks of all runs."""
    parts = [read_dataset(path) for path in request.files["calibration"]]
    draw_calibration(parts, request.title, request.stem)


def draw_calibration(parts: Sequence[xr.Dataset], title: str, stem: str) -> None:
    """Draw two panels for each run: the difference to uniform ranks, and below it histograms.

    Args:
        parts: files of stage ``calibrate``.
    """
    from pdsim.calibration.ranks import band, bin_count, ecdf_difference, histogram
    from pdsim.tables.calibration import ranked

    plt = style.apply()
    columns = min(len(parts), _COLUMNS)
    blocks = -(-len(parts) // columns)
    figure, axes = plt.subplots(
        2 * blocks, columns, figsize=(2.6 * columns + 0.6, 3.6 * blocks + 1.0), squeeze=False,
        sharex=True, sharey="row", height_ratios=[3, 2] * blocks,
    )  # fmt: skip
    names = list(dict.fromkeys(str(n) for data in parts for n in data["parameter"].values))
    palette = plt.get_cmap("tab10" if len(names) <= 10 else "tab20")
    look = {
        name: {"color": palette(i % palette.N), "linewidth": 1.1} for i, name in enumerate(names)
    }
    lines = {}
    for number, data in enumerate(parts):
        block, column = divmod(number, columns)
        above, below = axes[2 * block, column], axes[2 * block + 1, column]
        ranks, count = ranked(data), int(data.attrs["draws"])
        above.set_title(_heading(data, len(ranks)))
        if not len(ranks):
            continue
        places = np.arange(1, count + 1) / (count + 1)
        found, bins = band(len(ranks), count), bin_count(len(ranks), count)
        above.fill_between(places, found.lower, found.upper, color="0.88", linewidth=0)
        below.axhline(1.0, color=style.BOUND, linewidth=0.8)
        for i, name in enumerate(map(str, data["parameter"].values)):
            (lines[name],) = above.plot(places, ecdf_difference(ranks[:, i], count), **look[name])
            density = histogram(ranks[:, i], count, bins) * bins / len(ranks)
            edges = np.linspace(0, 1, bins + 1)
            below.stairs(density, edges, baseline=None, **look[name])
    for number in range(len(parts), blocks * columns):
        block, column = divmod(number, columns)
        axes[2 * block, column].set_visible(False)
        axes[2 * block + 1, column].set_visible(False)
    for block in range(blocks):
        axes[2 * block, 0].set_ylabel("share of ranks below\n− that of uniform ones")
        axes[2 * block + 1, 0].set(ylabel="density", ylim=(0, None))
        for axis in axes[2 * block + 1]:
            axis.set_xlabel("rank of the truth / draws")
            axis.tick_params(labelbottom=True)
    axes[0, 0].set_xlim(0, 1)
    labels = [style.plain(name) for name in lines]
    figure.legend(list(lines.values()), labels, loc="outside lower center", ncols=2 * columns)
    style.title(figure, title)
    style.save(figure, stem)


def _heading(data: xr.Dataset, ranked: int) -> str:
    failures = data.sizes["data_set"] - ranked
    told = f", {failures} failed" if failures else ""
    return style.plain(f"{data.attrs['run']}\n{data.sizes['data_set']} data sets{told}")


FIGURE = Figure(
    needs=("calibration",),
    sections=("title",),
    caption="Simulation-based calibration: data sets are drawn from the prior and the model, and "
    "each true parameter is ranked among the draws of its own posterior. Above, the share of ranks "
    "below a value less what uniform ranks have: a calibrated estimator stays within the grey band "
    "at all values with 95 %. Below, the histograms: a bowl means draws that are too narrow, a "
    "hump too wide ones, a slope draws that are too high or too low.",
    draw=draw,
    applies=lambda experiment, budget, identity: bool(experiment.calibrated()),
)
