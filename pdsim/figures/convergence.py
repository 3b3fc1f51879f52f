"""Convergence of all runs of an experiment: objective, defects, failures."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr

from pdsim.figures import style
from pdsim.figures.figure import Figure, Request, whose
from pdsim.inference.identity import Identity
from pdsim.runtime.files import read_dataset


class RunHistory(NamedTuple):
    """The history group of one posterior file, whose it is, and how many draws it ended with."""

    identity: Identity
    history: xr.Dataset
    draws: int


# Iterations drawn of each run, at most: chains have tens of thousands.
_POINTS = 2000


def _shown(count: int) -> np.ndarray:
    return np.unique(np.linspace(0, count - 1, min(count, _POINTS)).astype(int))


def draw(request: Request) -> None:
    """Draw the histories of all runs."""
    runs = []
    for path in request.files["posterior"]:
        sizes = read_dataset(path, "posterior").sizes
        history = read_dataset(path, "history")
        identity = whose(read_dataset(path).attrs)
        runs.append(RunHistory(identity, history, sizes["chain"] * sizes["draw"]))
    draw_histories(runs, request.title, request.stem)


def draw_histories(runs: Sequence[RunHistory], title: str, stem: str) -> None:
    """Draw objective, largest defect and diverging particles against roll-outs used.

    The objective is shown as the distance to the best value any run reached, on a logarithmic
    axis, since it spans many orders of magnitude. Single and multiple shooting have different
    likelihoods, so each has its own best value.
    """
    plt = style.apply()
    gaps = any(run.identity.shooting == "multiple" for run in runs)
    figure, axes = plt.subplots(1, 2 + gaps, figsize=(10.5, 3.9))
    best = {
        shooting: max(
            _highest(run.history["log_likelihood_best"].values)
            for run in runs
            if run.identity.shooting == shooting
        )
        for shooting in {run.identity.shooting for run in runs}
    }
    looks = style.run_looks([run.identity for run in runs])
    for number, run in enumerate(runs):
        identity, shown = run.identity, _shown(run.history.sizes["iteration"])
        first = identity not in [other.identity for other in runs[:number]]
        look = {
            **looks[identity.run],
            "linewidth": 1.2,
            "markevery": max(len(shown) // 8, 1),
            "label": style.plain(identity.label) if first else None,
        }
        h = run.history.isel(iteration=shown)
        rollouts = h["rollouts"].values
        gap = best[identity.shooting] - h["log_likelihood"].values
        axes[0].plot(rollouts, np.maximum(gap, 1e-3), **look)
        if identity.shooting == "multiple":
            axes[1].plot(rollouts, h["max_defect"], **look)
            axes[1].plot(rollouts, h["median_defect"], **{**look, "label": None, "alpha": 0.4})
        axes[-1].plot(rollouts, h["diverging"], clip_on=False, **look)
    axes[0].set(yscale="log", ylabel="best − median log likelihood [nat]", title="objective")
    if gaps:
        axes[1].set(
            yscale="log",
            ylabel="defect [scaled state units]",
            title="defects: largest, and median particle's (pale)",
        )
    counts = sorted({run.draws for run in runs})
    particles = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    axes[-1].set(ylabel=f"diverging particles of {particles}", title="failures")
    axes[-1].set_ylim(0, max(0.1 * counts[-1], axes[-1].get_ylim()[1]))
    for axis in axes:
        axis.set(xscale="log", xlabel="roll-outs used")
        # Within one decade the labels between the powers of ten would stand on each other.
        axis.xaxis.set_minor_formatter("")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=8)
    style.title(figure, title)
    style.save(figure, stem)


def _highest(values: np.ndarray) -> float:
    """The largest finite value; 0 if there is none."""
    known = values[np.isfinite(values)]
    return float(known.max()) if known.size else 0.0


FIGURE = Figure(
    needs=("posterior",),
    sections=("title",),
    caption="Left: how far the median particle is from the best value any run with the same "
    "shooting reached. Middle, of multiple shooting: the gaps between windows, which should end "
    "small, since a window fit with gaps is no trajectory. Right: particles whose roll-out was "
    "not finite. Dashed lines are single shooting, dashes and dots marginal shooting, which has "
    "no gaps of its own; markers tell runs of one method apart.",
    draw=draw,
)
