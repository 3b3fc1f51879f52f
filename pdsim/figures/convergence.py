"""Convergence of all runs of an experiment: objective, defects, failures."""

from collections.abc import Sequence
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr

from pdsim.figures import style


class RunHistory(NamedTuple):
    """The history group of one posterior file, and whose it is."""

    method: str
    shooting: str
    seed: int
    history: xr.Dataset


# Iterations drawn of each run, at most: chains have tens of thousands.
_POINTS = 2000


def _shown(count: int) -> np.ndarray:
    return np.unique(np.linspace(0, count - 1, min(count, _POINTS)).astype(int))


def draw(runs: Sequence[RunHistory], particles: int, title: str, stem: str) -> None:
    """Draw objective, largest defect and diverging particles against roll-outs used.

    The objective is shown as the distance to the best value any run reached, on a logarithmic
    axis, since it spans many orders of magnitude. Single and multiple shooting have different
    likelihoods, so each has its own best value.
    """
    style.apply()
    figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.9))
    best = {
        shooting: max(
            float(np.nanmax(run.history["log_likelihood_best"]))
            for run in runs
            if run.shooting == shooting
        )
        for shooting in {run.shooting for run in runs}
    }
    seen: set[tuple[str, str]] = set()
    for run in runs:
        h, kind = run.history, (run.method, run.shooting)
        look = {
            **style.run_look(*kind),
            "linewidth": 1.2,
            "label": style.run_label(*kind) if kind not in seen else None,
        }
        seen.add(kind)
        rollouts = h["rollouts"].values
        shown = _shown(len(rollouts))
        rollouts, h = rollouts[shown], h.isel(iteration=shown)
        gap = best[run.shooting] - h["log_likelihood"].values
        axes[0].plot(rollouts, np.maximum(gap, 1e-3), **look)
        if run.shooting == "multiple":
            axes[1].plot(rollouts, h["max_defect"], **look)
            axes[1].plot(rollouts, h["median_defect"], **{**look, "label": None, "alpha": 0.4})
        axes[2].plot(rollouts, h["diverging"], clip_on=False, **look)
    axes[0].set(yscale="log", ylabel="best − median log likelihood [nat]", title="objective")
    axes[1].set(
        yscale="log",
        ylabel="defect [scaled state units]",
        title="defects: largest, and median particle's (pale)",
    )
    if not axes[1].lines:
        axes[1].text(0.5, 0.5, "single shooting only", ha="center", transform=axes[1].transAxes)
    axes[2].set(ylabel=f"diverging particles of {particles}", title="failures")
    axes[2].set_ylim(0, max(0.1 * particles, axes[2].get_ylim()[1]))
    for axis in axes:
        axis.set(xscale="log", xlabel="roll-outs used")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=8)
    figure.suptitle(title)
    style.save(figure, stem)
