"""RMSE and parameter accuracy against the lap, of every controller (Fig. 3 of the document)."""

from collections.abc import Sequence

import pandas as pd

from pdsim.figures import style

CAPTION = (
    "Each controller's mean over the simulations, with one standard deviation to both sides, lap "
    "by lap. Left: error of the path. Right: parameter accuracy at the end of the lap, of the "
    "controllers that learn."
)
_COLOURS = ("#08519c", "#d95f02", "#1b9e77", "#7570b3", "#e7298a", "#666666", "#a6761d", "#17becf")


def draw(title: str, table: pd.DataFrame, names: Sequence[str], unit: str, stem: str) -> None:
    """Draw the figure.

    Args:
        table: one row per controller, simulation and lap.
        names: controllers, in the order of the config.
        unit: of the RMSE.
    """
    plt = style.apply()
    figure, axes = plt.subplots(1, 2, figsize=(8, 3))
    for number, name in enumerate(names):
        mine = table[table["controller"] == name]
        for axis, key in zip(axes, ("rmse", "accuracy"), strict=True):
            each = mine.dropna(subset=key).groupby("lap")[key]
            if not each.ngroups:
                continue
            mean, spread = each.mean(), each.std(ddof=1).fillna(0.0)
            # Side by side, so that intervals do not hide each other.
            place = mean.index + 0.05 * (number - (len(names) - 1) / 2)
            axis.errorbar(
                place, mean, spread, color=_COLOURS[number % len(_COLOURS)], marker="o",
                markersize=3, linewidth=1, elinewidth=0.6, label=style.plain(name),
            )  # fmt: skip
    axes[0].set_ylabel(f"RMSE [{unit}]")
    axes[1].set_ylabel("parameter accuracy [%]")
    for axis in axes:
        axis.set_xlabel("lap")
        axis.set_xticks(sorted(table["lap"].unique()))
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    style.title(figure, title)
    style.save(figure, stem)
