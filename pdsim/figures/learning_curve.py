"""Metrics over the course of the estimation, against roll-outs and against time (like Fig. 4)."""

from typing import TYPE_CHECKING, Any

import numpy as np

from pdsim import registry
from pdsim.figures import style
from pdsim.figures.figure import Figure, Request
from pdsim.inference.identity import Identity
from pdsim.recordings.trajectories import is_position
from pdsim.runtime.files import read_dataset

if TYPE_CHECKING:
    import pandas as pd

_AXES = {"rollouts": "roll-outs used", "seconds": "time [s]"}


def draw(request: Request) -> None:
    """Draw the learning curve of every run; position errors have the unit of the trajectories."""
    # Imported here: the workflow reads this module's entry at every start, and these take long.
    from pdsim.metrics.catalogue import metrics
    from pdsim.metrics.long_format import LEARNING_CURVE_COLUMNS, read_metrics

    table = read_metrics(request.files["learning_curve"][0], LEARNING_CURVE_COLUMNS)
    data = read_dataset(request.files["trajectories"][0])
    units = set(data["channel_unit"].values[is_position(data)])
    unit = str(units.pop()) if len(units) == 1 else "-"
    headings = {
        metric.key: metric.heading.format(unit=unit)
        for metric in metrics(registry.LEARNING_CURVE_METRICS)
        if metric.heading and (table["metric"] == metric.key).any()
    }
    draw_courses(table, headings, request.title, request.stem)


def draw_courses(table: "pd.DataFrame", headings: dict[str, str], title: str, stem: str) -> None:
    """Draw one row per metric: left against roll-outs, right against time.

    A line is the median over seeds of the runs at the same snapshot, a band their range.

    Args:
        table: long table with the columns of ``pdsim.stages.learning_curve``.
        headings: metric → what its axis says, in the order of the rows.
    """
    plt = style.apply()
    figure, axes = plt.subplots(
        len(headings), 2, figsize=(9.5, 2.1 * len(headings) + 0.8), sharex="col", sharey="row",
        squeeze=False,
    )  # fmt: skip
    names = table[list(Identity._fields)].drop_duplicates()
    identities = [Identity(*map(str, row)) for row in names.itertuples(index=False)]
    looks = style.run_looks(identities)
    handles: dict[str, Any] = {}
    for row, (metric, heading) in enumerate(headings.items()):
        part = table[table["metric"] == metric]
        for column, axis_name in enumerate(_AXES):
            axis = axes[row, column]
            for identity in identities:
                entries = part[part["run"] == identity.run]
                handles[identity.label] = _line(axis, entries, axis_name, looks[identity.run])
            axis.set_xscale("log")
        axes[row, 0].set_ylabel(heading.replace(" of parameters", "\nof parameters"))
        _scale(axes[row, 0], part)
    for column, label in enumerate(_AXES.values()):
        axes[-1, column].set_xlabel(label)
    figure.legend(
        list(handles.values()),
        [style.plain(label) for label in handles],
        loc="outside lower center",
        ncols=4,
    )
    style.title(figure, title)
    style.save(figure, stem)


def _line(axis, entries: "pd.DataFrame", axis_name: str, look: dict[str, Any]):
    # Snapshots of different seeds are paired by their rank: they are taken at the same budgets.
    ranked = entries.assign(rank=entries.groupby("seed")["rollouts"].rank())
    grouped = ranked.groupby("rank")
    x = grouped[axis_name].median()
    axis.fill_between(
        x, grouped["value"].min(), grouped["value"].max(), color=look["color"], alpha=0.12,
        linewidth=0,
    )  # fmt: skip
    return axis.plot(x, grouped["value"].median(), linewidth=1.3, **look)[0]


def _scale(axis, part: "pd.DataFrame") -> None:
    """Show where every run ends; leave out the wildest of the rest; a logarithm for decades."""
    known = part[np.isfinite(part["value"])]
    if known.empty:
        return
    last = known.sort_values("rollouts").groupby(["run", "seed"])["value"].last()
    low = min(known["value"].quantile(0.02), last.min())
    high = max(known["value"].quantile(0.9), last.quantile(0.95))
    if low > 0 and high / low > 30:
        axis.set_yscale("log")
        axis.set_ylim(0.8 * low, 1.3 * high)
    else:
        margin = 0.08 * max(high - low, 1e-9)
        axis.set_ylim(low - margin, high + margin)


FIGURE = Figure(
    needs=("learning_curve", "trajectories"),
    sections=("title",),
    caption="Each metric of the draws as they stood after more and more work: left at equal "
    "roll-outs, right at equal time. Lines are medians over seeds, bands their range; dashed lines "
    "are single shooting, dashes and dots marginal shooting, and markers tell runs of one method "
    "apart. A gradient counts as one roll-out and costs about three times its time; csvgd's "
    "tangents count as roll-outs. Runs whose bands overlap are not distinguishable, and a lower KL "
    "or MMD² alone is no merit.",
    draw=draw,
    applies=lambda experiment, budget, identity: budget.learning_curve and experiment.holds_out,
)
