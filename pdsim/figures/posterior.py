"""Pair plot of a posterior with the prior's limits and, where known, the truth."""

import numpy as np

from pdsim.figures import style
from pdsim.figures.figure import Figure, Request, detailed
from pdsim.parameters.space import Parameter, ParameterSpace
from pdsim.posterior import read_draws
from pdsim.recordings.trajectories import known_truth
from pdsim.runtime.files import read_dataset
from pdsim.systems.simulator import build_simulator


def draw(request: Request) -> None:
    """Draw the pair plot of one run."""
    space = build_simulator(request.sections["simulator"]).space
    truth = known_truth(read_dataset(request.files["trajectories"][0]), space)
    draws = read_draws(request.files["posterior"][0], space)
    draw_pairs(space, draws, truth, request.title, request.stem)


def draw_pairs(
    space: ParameterSpace, draws: np.ndarray, truth: np.ndarray | None, title: str, stem: str
) -> None:
    """Draw marginals on the diagonal, pairs in the prior's box below and zoomed above it.

    Below, the axes span the prior, so one sees what was learnt; above, they span the draws, so
    one sees the shape of what is left, however narrow.

    Args:
        draws: (draw, M) physical values.
        truth: (M,) or None.
    """
    plt = style.apply()
    count = space.dimension
    size = max(1.25 * count, 5.0)
    figure, axes = plt.subplots(count, count, figsize=(size + 0.6, size), squeeze=False)
    small = 6 if count > 5 else 8
    for row, vertical in enumerate(space.parameters):
        for column, horizontal in enumerate(space.parameters):
            axis = axes[row, column]
            x, y = draws[:, column], draws[:, row]
            axis.tick_params(labelsize=small)
            if row == column:
                _marginal(plt, axis, horizontal, x, None if truth is None else truth[row])
            elif row > column:
                _span_prior(plt, axis, "x", horizontal)
                _span_prior(plt, axis, "y", vertical)
                axis.plot(x, y, ".", markersize=3, alpha=0.6, color=style.DRAWS)
            else:
                axis.plot(x, y, ".", markersize=2.5, alpha=0.6, color=style.DRAWS)
                axis.set_facecolor("0.965")
                if count > 5:
                    axis.set(xticks=[], yticks=[])
                else:
                    axis.xaxis.tick_top()
                    axis.yaxis.tick_right()
                    axis.locator_params(nbins=3)
            if truth is not None and row != column:
                axis.plot(
                    truth[column],
                    truth[row],
                    "*",
                    markersize=9,
                    color=style.TRUTH,
                    # A truth outside the zoomed view must not widen it.
                    scalex=False,
                    scaley=False,
                )
            if row < count - 1 and row >= column:
                axis.tick_params(labelbottom=False)
            if column > 0 and row >= column:
                axis.tick_params(labelleft=False)
            if row == count - 1:
                axis.set_xlabel(_axis_label(horizontal), fontsize=small + 1)
            if column == 0:
                axis.set_ylabel(_axis_label(vertical), fontsize=small + 1)
    handles = [
        plt.Line2D([], [], marker=".", linestyle="", color=style.DRAWS, label="draws"),
        plt.Line2D([], [], linestyle="--", color=style.BOUND, label="limits of the prior"),
        plt.Rectangle((0, 0), 1, 1, facecolor="0.93", label="zoomed to the draws"),
    ]
    if truth is not None:
        handles.append(
            plt.Line2D(
                [], [], marker="*", markersize=9, linestyle="", color=style.TRUTH, label="truth"
            )
        )
    figure.legend(handles=handles, loc="outside lower center", ncols=4)
    style.title(figure, title)
    style.save(figure, stem)


def _axis_label(parameter: Parameter) -> str:
    return style.plain(f"{parameter.name}\n[{parameter.unit.replace('^2', '²')}]")


def _marginal(plt, axis, parameter: Parameter, values: np.ndarray, truth: float | None) -> None:
    _span_prior(plt, axis, "x", parameter)
    spaced = np.geomspace if parameter.scale == "log" else np.linspace
    edges = spaced(parameter.lower, parameter.upper, 31)
    axis.hist(np.clip(values, edges[0], edges[-1]), edges, color="#6baed6")
    axis.set_yticks([])
    if truth is not None:
        axis.axvline(truth, color=style.TRUTH, linewidth=1.2)


def _span_prior(plt, axis, side: str, parameter: Parameter) -> None:
    """Let the x or y axis span a little more than the prior, and mark its limits."""
    low, high = (float(parameter.to_physical(u)) for u in (-0.06, 1.06))
    axis.set(**{f"{side}scale": parameter.scale, f"{side}lim": (low, high)})
    ticks = axis.xaxis if side == "x" else axis.yaxis
    if parameter.scale == "linear":
        ticks.set_major_locator(plt.MaxNLocator(3))
    elif parameter.upper / parameter.lower > 100:
        ticks.set_major_locator(plt.LogLocator(numticks=4))
    elif parameter.upper / parameter.lower < 10:
        # Too short for powers of ten: the limits and the middle between them.
        marks = np.geomspace(parameter.lower, parameter.upper, 3)
        ticks.set_major_locator(plt.FixedLocator([float(f"{mark:.3g}") for mark in marks]))
        ticks.set_major_formatter("{x:g}")
    else:
        # Too short for two powers of ten.
        ticks.set_major_locator(plt.LogLocator(subs=(1.0, 3.0), numticks=4))
        ticks.set_major_formatter("{x:g}")
    ticks.set_minor_locator(plt.NullLocator())
    draw_line = axis.axvline if side == "x" else axis.axhline
    for limit in (parameter.lower, parameter.upper):
        draw_line(limit, color=style.BOUND, linewidth=0.8, linestyle="--")


FIGURE = Figure(
    needs=("trajectories", "posterior"),
    sections=("title", "simulator"),
    caption="Dots are draws, histograms their marginals, dashed lines the limits of the prior. "
    "Below the diagonal the axes span the prior, above it (grey) they are zoomed to the draws. A "
    "narrow ridge means that the recording determines a combination of the parameters, and not "
    "each of them. Dots on a limit can be the estimator's doing, and not the recording's.",
    draw=draw,
    of_each_run=True,
    applies=detailed,
)
