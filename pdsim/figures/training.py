"""Losses of density models over their training."""

from typing import Any

import numpy as np

from pdsim.figures import style
from pdsim.figures.figure import Figure, Request, trains
from pdsim.inference.bayessim.config import split_variant
from pdsim.runtime.files import read_dataset

# Points of a curve, evenly over the logarithm of the epoch: single epochs jump.
_POINTS = 80
_SEEN: dict[str, Any] = {"linewidth": 0.8, "linestyle": ":"}
_HELD_OUT: dict[str, Any] = {"linewidth": 1.3}
_KEPT: dict[str, Any] = {"marker": "o", "markersize": 4, "linestyle": "none"}
_BAND: dict[str, Any] = {"alpha": 0.15, "linewidth": 0}


def draw(request: Request) -> None:
    """Draw the losses of all variants."""
    histories = {}
    for path in request.files["trained"]:
        history = read_dataset(path, "history")
        losses = (history["loss"].values, history["held_out_loss"].values)
        histories[read_dataset(path).attrs["variant"]] = losses
    draw_losses(histories, f"{request.title}: training of BayesSim", request.stem)


def draw_losses(histories: dict[str, tuple[np.ndarray, np.ndarray]], title: str, stem: str) -> None:
    """Draw the losses of every variant, one panel per density model.

    Args:
        histories: ``<statistic>_<density>`` → loss and held-out loss by epoch [nat].
    """
    plt = style.apply()
    densities = list(dict.fromkeys(split_variant(name)[1] for name in histories))
    figure, axes = plt.subplots(
        1, len(densities), figsize=(3.6 * len(densities) + 0.6, 3.4), sharey=True, squeeze=False
    )
    names = {name: split_variant(name) for name in histories}
    colours = {s: f"C{i}" for i, s in enumerate(dict.fromkeys(s for s, _ in names.values()))}
    handles = {}
    for axis, model in zip(axes[0], densities, strict=True):
        chosen = {names[n][0]: h for n, h in histories.items() if names[n][1] == model}
        for statistic, (loss, held_out) in chosen.items():
            colour = colours[statistic]
            epoch, (low, middle, high) = _quantiles(held_out)
            axis.fill_between(epoch, low, high, color=colour, **_BAND)
            axis.plot(epoch, _quantiles(loss)[1][1], color=colour, **_SEEN)
            (handles[statistic],) = axis.plot(epoch, middle, color=colour, **_HELD_OUT)
            best = int(np.argmin(held_out))
            axis.plot(best + 1, held_out[best], color=colour, **_KEPT)
        axis.set_xscale("log")
        axis.set(title=model.replace("_", " "), xlabel="epoch")
    ends = [h[k][-1] for h in histories.values() for k in (0, 1)]
    starts = [h[1][0] for h in histories.values()]
    span = max(starts) - min(ends)
    axes[0, 0].set_ylim(min(ends) - 0.1 * span, max(*starts, *ends) + 0.1 * span)
    axes[0, 0].set_ylabel("negative log density [nat]")
    handles |= {
        "seen in training": plt.Line2D([], [], color="black", **_SEEN),
        "simulations kept from it": plt.Line2D([], [], color="black", **_HELD_OUT),
        "nine tenths of the epochs": plt.Rectangle((0, 0), 1, 1, color="black", **_BAND),
        "kept": plt.Line2D([], [], color="black", **_KEPT),
    }
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4)
    style.title(figure, title)
    style.save(figure, stem)


def _quantiles(loss: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Median epoch of each point, and the 5, 50 and 95 % quantiles of the losses there."""
    edges = np.unique(np.geomspace(1, len(loss) + 1, _POINTS + 1).astype(int))
    parts = np.split(np.arange(1, len(loss) + 1), edges[1:-1] - 1)
    quantiles = np.array([np.quantile(loss[part - 1], (0.05, 0.5, 0.95)) for part in parts])
    return np.array([np.median(part) for part in parts]), quantiles.T


FIGURE = Figure(
    needs=("trained",),
    sections=("title",),
    caption="Negative log density over the epochs: thin on the training set, thick on simulations "
    "that were kept from it. The network with the lowest value on these is the one used, and "
    "Table I shows the variant with the lowest value of all: no recording has a say in either.",
    draw=draw,
    applies=trains,
)
