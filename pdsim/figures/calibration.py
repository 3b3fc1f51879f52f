"""Rank histograms of simulation-based calibration."""

import numpy as np

from pdsim.figures import style
from pdsim.figures.figure import Figure, Request, trains
from pdsim.inference.bayessim.config import split_variant
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import read_dataset

_BINS = 20
# Draws that each true parameter is ranked among.
_COUNT = 99


def draw(request: Request) -> None:
    """Draw the rank histograms of all variants on simulations that their training never saw."""
    # Imported here: the workflow reads this module's entry at every start, and these take long.
    from pdsim.inference.bayessim.calibration import ranks
    from pdsim.inference.bayessim.conditioning import conditioned
    from pdsim.inference.bayessim.kept import kept_halves

    config = request.sections["bayessim"]
    if config is None:
        raise PdsimError(f"{request.title}: bayessim: this section is missing")
    stored = {}
    for path in request.files["statistics"]:
        data = read_dataset(path)
        _, judging = kept_halves(data["held_out"].values)
        stored[data.attrs["statistic"]] = data.isel(sample=judging)
    names = list(request.sections["simulator"].parameters)
    found = {}
    for path in request.files["trained"]:
        variant = read_dataset(path).attrs["variant"]
        data = stored[split_variant(variant)[0]]
        density = conditioned(path, data["simulated"].values, config.density, len(names))
        found[variant] = ranks(density, data["coordinates"].values, _COUNT)
    draw_ranks(found, names, _COUNT, f"{request.title}: calibration of BayesSim", request.stem)


def draw_ranks(
    ranks: dict[str, np.ndarray], names: list[str], count: int, title: str, stem: str
) -> None:
    """Draw one panel per variant, one line per parameter.

    Args:
        ranks: variant → (n, M) ranks of 0 … ``count``.
        names: of the parameters.
    """
    from pdsim.inference.bayessim.calibration import flat_band, histogram

    plt = style.apply()
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
            axis.stairs(
                counts,
                edges,
                baseline=None,
                label=style.plain(name),
                color=colours(i % 20),
                linewidth=1.0,
            )
        axis.set_title(variant.replace("_", " "))
        axis.set_xlim(0, 1)
    axes[0, 0].set_ylim(0, 4)
    for axis in axes.flat[len(ranks) :]:
        axis.set_visible(False)
    for axis in axes.flat[max(len(ranks) - columns, 0) : len(ranks)]:
        axis.set_xlabel("rank of the truth / draws")
        axis.tick_params(labelbottom=True)
    for axis in axes[:, 0]:
        axis.set_ylabel("density")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=6)
    style.title(figure, title)
    style.save(figure, stem)


FIGURE = Figure(
    needs=("statistics", "trained"),
    sections=("title", "simulator", "bayessim"),
    caption="Simulation-based calibration: ranks of the true parameters of simulations that "
    "neither trained the density nor ended its training, among draws of their own posteriors. A "
    "calibrated density has flat histograms; the grey band holds 99 % of those of a flat one. A "
    "hump: too wide; a bowl: too sure.",
    draw=draw,
    applies=trains,
)
