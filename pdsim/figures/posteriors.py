"""Posteriors of two parameters, one panel per run, with the truth (like Fig. 3 and 6)."""

from collections.abc import Sequence
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np

from pdsim.figures import style


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


def draw(
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
    style.apply()
    columns = min(len(panels), 4)
    rows = -(-len(panels) // columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(2.7 * columns + 0.4, 2.7 * rows + 0.9), sharex=True, sharey=True,
        squeeze=False,
    )  # fmt: skip
    for axis, panel in zip(axes.flat, panels, strict=False):
        axis.plot(*panel.draws.T, ".", markersize=4, alpha=0.6, color="#08519c", label="draws")
        outside = _outside(panel.draws, limits)
        axis.set_title(panel.title + (f"\n({outside} outside the picture)" if outside else ""))
        if truth is not None:
            _draw_truth(axis, truth)
        axis.set(xlim=limits[0], ylim=limits[1])
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    for axis in axes[-1]:
        axis.set_xlabel(labels[0])
    for number, axis in enumerate(axes.flat[: len(panels)]):
        if number % columns == 0:
            axis.set_ylabel(labels[1])
        if number + columns >= len(panels):
            axis.set_xlabel(labels[0])
            axis.tick_params(labelbottom=True)
    handles, names = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4)
    figure.suptitle(title)
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
