"""Posteriors of two parameters, one panel per run, with the truth (like Fig. 3 and 6)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import xarray as xr

from pdsim.figures import style
from pdsim.figures.figure import Figure, Request, whose
from pdsim.parameters.space import ParameterSpace
from pdsim.posterior import read_draws
from pdsim.recordings.trajectories import select, true_parameters
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import read_dataset
from pdsim.systems.simulator import build_simulator

if TYPE_CHECKING:
    from pdsim.experiment.model import ExperimentConfig

NEEDS = ("trajectories", "posterior")
SECTIONS = ("title", "simulator")
CAPTION = (
    "Dots are draws, stars the true values behind the training recordings, where they are known; "
    "ellipses hold 50 % and 90 % of the distribution these were drawn from, where there is one."
)


class Panel(NamedTuple):
    """One posterior."""

    title: str
    draws: np.ndarray  # (draw, 2) physical values


class Truth(NamedTuple):
    """What is known of the true parameters.

    Attributes:
        points: (point, 2) true values of the training recordings.
        mean, covariance: of the Gaussian they come from, or None.
    """

    points: np.ndarray
    mean: np.ndarray | None = None
    covariance: np.ndarray | None = None


def has_two(experiment: "ExperimentConfig") -> bool:
    """Whether two parameters are estimated."""
    return len(experiment.simulator.parameters) == 2


def draw(request: Request) -> None:
    """Draw the posteriors of all runs side by side."""
    space = build_simulator(request.sections["simulator"]).space
    if space.dimension != 2:
        raise PdsimError(
            f"{request.title}: this figure needs 2 parameters, not {space.dimension}; draw the "
            "figure posterior of each run instead"
        )
    truth = _known(read_dataset(request.files["trajectories"][0]), space)
    panels = [
        Panel(whose(read_dataset(path).attrs).label, read_draws(path, space))
        for path in request.files["posterior"]
    ]
    first, second = space.parameters
    draw_panels(
        panels,
        truth,
        _spans(space, truth),
        (f"{first.name} [{first.unit}]", f"{second.name} [{second.unit}]"),
        request.title,
        request.stem,
    )


def _known(data: xr.Dataset, space: ParameterSpace) -> Truth | None:
    """True parameters of the training recordings, and their distribution, where known."""
    points = true_parameters(select(data, "train"), space)
    if points is None:
        return None
    points = points[np.isfinite(points).all(axis=1)]
    if len(points) == 0:
        return None
    if "population_mean" not in data:
        return Truth(points)
    return Truth(points, data["population_mean"].values, data["population_covariance"].values)


def _spans(space: ParameterSpace, truth: Truth | None) -> np.ndarray:
    """What the axes show (2, 2): the neighbourhood of the truth, or all of the prior's box."""
    low, high = np.array([(p.lower, p.upper) for p in space.parameters]).T
    if truth is None:
        return np.stack([low, high], axis=1)
    least = 0.05 * (high - low)
    low, high = truth.points.min(axis=0), truth.points.max(axis=0)
    margin = 0.75 * np.maximum(high - low, least)
    low, high = low - margin, high + margin
    if truth.mean is not None and truth.covariance is not None:
        # Both ellipses, the larger of which reaches out 2.15 deviations.
        reach = 2.3 * np.sqrt(np.diag(truth.covariance))
        low, high = np.minimum(low, truth.mean - reach), np.maximum(high, truth.mean + reach)
    return np.stack([low, high], axis=1)


def draw_panels(
    panels: Sequence[Panel],
    truth: Truth | None,
    limits: np.ndarray,
    labels: tuple[str, str],
    title: str,
    stem: str,
) -> None:
    """Draw the draws of each posterior as dots.

    Contours are the ellipses that hold 50 % and 90 % of the true Gaussian.

    Args:
        limits: (2, 2) what the axes span, for the first and the second parameter.
        labels: of the two, with units.
    """
    plt = style.apply()
    columns = min(len(panels), 4)
    rows = -(-len(panels) // columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(2.7 * columns + 0.4, 2.7 * rows + 0.9), sharex=True, sharey=True,
        squeeze=False,
    )  # fmt: skip
    for axis, panel in zip(axes.flat, panels, strict=False):
        axis.plot(*panel.draws.T, ".", markersize=4, alpha=0.6, color=style.DRAWS, label="draws")
        outside = _outside(panel.draws, limits)
        note = f"\n({outside} of {len(panel.draws)} outside the picture)" if outside else ""
        axis.set_title(style.plain(panel.title) + note)
        if truth is not None:
            _draw_truth(axis, truth)
        axis.set(xlim=limits[0], ylim=limits[1])
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    for number, axis in enumerate(axes.flat[: len(panels)]):
        if number % columns == 0:
            axis.set_ylabel(style.plain(labels[1]))
        if number + columns >= len(panels):
            axis.set_xlabel(style.plain(labels[0]))
            axis.tick_params(labelbottom=True)
    handles, names = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4)
    style.title(figure, title)
    style.save(figure, stem)


def _outside(draws: np.ndarray, limits) -> int:
    low, high = limits.T
    return int(((draws < low) | (draws > high)).any(axis=1).sum())


def _draw_truth(axis, truth: Truth) -> None:
    axis.plot(
        *truth.points.T, "*", markersize=7, color=style.TRUTH, markeredgecolor="white",
        markeredgewidth=0.4, label="true values of the training recordings",
    )  # fmt: skip
    if truth.mean is None or truth.covariance is None:
        return
    angle = np.linspace(0, 2 * np.pi, 200)
    circle = np.linalg.cholesky(truth.covariance) @ np.stack([np.cos(angle), np.sin(angle)])
    for share in (0.5, 0.9):
        # A share s of a Gaussian in the plane lies within √(−2 log(1 − s)) deviations.
        ellipse = truth.mean[:, None] + np.sqrt(-2 * np.log(1 - share)) * circle
        axis.plot(
            *ellipse, color=style.TRUTH, linewidth=0.9,
            label="true distribution: 50 % and 90 %" if share == 0.5 else None,
        )  # fmt: skip


FIGURE = Figure(
    needs=NEEDS,
    sections=SECTIONS,
    caption=CAPTION,
    draw=draw,
    applies=lambda experiment, budget, identity: has_two(experiment),
)
