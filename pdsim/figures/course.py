"""Metrics over the course of the estimation, against roll-outs and against time (like Fig. 4)."""

from typing import Any

import matplotlib.pyplot as plt
import pandas as pd

from pdsim.figures import style

METRICS = {
    "kl_real_sim": "KL(real‖sim) [nat]",
    "kl_sim_real": "KL(sim‖real) [nat]",
    "mmd": "MMD² [-]",
    "log_likelihood": "log likelihood [nat]",
    "rmse": "RMSE held-out [rad]",
    "energy_score": "energy score [-]",
    "parameter_kl_true_posterior": "parameters: KL(true‖posterior)",
    "parameter_kl_posterior_true": "parameters: KL(posterior‖true)",
    "parameter_mmd": "parameters: MMD² [-]",
}
_AXES = {"rollouts": "roll-outs used", "seconds": "time [s]"}


def draw(table: pd.DataFrame, title: str, stem: str) -> None:
    """Draw one row per metric: left against roll-outs, right against time.

    A line is the median over seeds of the runs at the same snapshot, a band their range.

    Args:
        table: long table with the columns of ``pdsim.stages.course``.
    """
    style.apply()
    metrics = [name for name in METRICS if (table["metric"] == name).any()]
    figure, axes = plt.subplots(
        len(metrics), 2, figsize=(9.5, 2.1 * len(metrics) + 0.8), sharex="col", sharey="row",
        squeeze=False,
    )  # fmt: skip
    handles: dict[tuple[str, str], Any] = {}
    for row, metric in enumerate(metrics):
        part = table[table["metric"] == metric]
        for column, axis_name in enumerate(_AXES):
            axis = axes[row, column]
            for (method, shooting), entries in part.groupby(["method", "shooting"], sort=False):
                run = (str(method), str(shooting))
                handles[run] = _line(axis, entries, axis_name, *run)
            axis.set_xscale("log")
        axes[row, 0].set_ylabel(METRICS[metric])
        _scale(axes[row, 0], part)
    for column, label in enumerate(_AXES.values()):
        axes[-1, column].set_xlabel(label)
    figure.legend(
        list(handles.values()),
        [style.run_label(*run) for run in handles],
        loc="outside lower center",
        ncols=4,
    )
    figure.suptitle(title)
    style.save(figure, stem)


def _line(axis, entries: pd.DataFrame, axis_name: str, method: str, shooting: str):
    # Snapshots of different seeds are paired by their rank: they are taken at the same budgets.
    ranked = entries.assign(rank=entries.groupby("seed")["rollouts"].rank())
    grouped = ranked.groupby("rank")
    x = grouped[axis_name].median()
    look = style.run_look(method, shooting)
    axis.fill_between(
        x, grouped["value"].min(), grouped["value"].max(), color=look["color"], alpha=0.12,
        linewidth=0,
    )  # fmt: skip
    return axis.plot(x, grouped["value"].median(), linewidth=1.3, **look)[0]


def _scale(axis, part: pd.DataFrame) -> None:
    """Show where every run ends; leave out the wildest of the rest; a logarithm for decades."""
    known = part.dropna(subset="value")
    if known.empty:
        return
    last = known.sort_values("rollouts").groupby(["method", "shooting", "seed"])["value"].last()
    low = min(known["value"].quantile(0.02), last.min())
    high = max(known["value"].quantile(0.9), last.quantile(0.95))
    if low > 0 and high / low > 30:
        axis.set_yscale("log")
        axis.set_ylim(0.8 * low, 1.3 * high)
    else:
        margin = 0.08 * max(high - low, 1e-9)
        axis.set_ylim(low - margin, high + margin)
