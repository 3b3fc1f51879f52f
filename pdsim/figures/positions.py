"""Where alike bodies lie, by run: density, draws, truth, and lines between them (Fig. 15 and 1)."""

import numpy as np

from pdsim.figures import style
from pdsim.figures.figure import Figure, Request, whose
from pdsim.parameters.labelings import columns_of, labelings, remark
from pdsim.posterior import read_draws
from pdsim.recordings.trajectories import true_places
from pdsim.runtime import device
from pdsim.runtime.files import read_dataset
from pdsim.systems.simulator import build_simulator

_BODIES = ("#08519c", "#d95f02", "#1b9e77", "#7570b3")
# Cells of a density along each axis, and its kernel's width in them.
_CELLS = 60
_WIDTH = 1.5


def draw(request: Request) -> None:
    """Draw one column per run: above the density of all bodies, below lines that join a draw's."""
    device.configure()
    space = build_simulator(request.sections["simulator"]).space
    pairs = request.sections["exchangeable"]
    columns = columns_of(pairs, space.names)
    truth = true_places(read_dataset(request.files["trajectories"][0]), space, pairs)
    limits = np.array(
        [
            (
                min(space.parameters[pair[axis]].lower for pair in columns),
                max(space.parameters[pair[axis]].upper for pair in columns),
            )
            for axis in (0, 1)
        ]
    )
    files = request.files["posterior"]
    plt = style.apply()
    figure, axes = plt.subplots(
        2, len(files), figsize=(2.9 * len(files) + 0.6, 4.9), sharex=True, sharey=True,
        squeeze=False,
    )  # fmt: skip
    for number, path in enumerate(files):
        draws = read_draws(path, space)[:, columns]
        above, below = axes[:, number]
        label = whose(read_dataset(path).attrs).label
        if truth is not None:
            label = f"{label}\n{remark(labelings(draws, truth))}"
        above.set_title(style.plain(label))
        above.imshow(
            _density(draws.reshape(-1, 2), limits).T, origin="lower", aspect="auto",
            extent=limits.ravel(), cmap="Greys", interpolation="bilinear",
        )  # fmt: skip
        below.plot(*np.moveaxis(draws, (0, 1, 2), (2, 1, 0)), color="0.6", linewidth=0.5, alpha=0.5)
        for body, colour in zip(range(len(pairs)), _BODIES * len(pairs), strict=False):
            name = f"body {body + 1} ({', '.join(pairs[body])})"
            for axis in (above, below):
                axis.plot(*draws[:, body].T, ".", markersize=4, alpha=0.6, color=colour, label=name)
        if truth is not None:
            for axis in (above, below):
                axis.plot(
                    *truth.T, "*", markersize=11, color=style.TRUTH,
                    markeredgecolor="white", markeredgewidth=0.6, label="truth",
                )  # fmt: skip
        above.set(xlim=limits[0], ylim=limits[1])
        first, second = (space.parameters[i] for i in columns[0])
        below.set_xlabel(style.plain(f"{first.name}, … [{first.unit}]"))
        if number == 0:
            above.set_ylabel(style.plain(f"density\n{second.name}, … [{second.unit}]"))
            below.set_ylabel(style.plain(f"draws joined\n{second.name}, … [{second.unit}]"))
    handles, names = axes[1, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=min(len(files), 4))
    style.title(figure, request.title)
    style.save(figure, request.stem)


def _density(points: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """Histogram of points, smoothed, (cell, cell)."""
    from scipy.ndimage import gaussian_filter

    counts, _, _ = np.histogram2d(points[:, 0], points[:, 1], _CELLS, limits.tolist())
    return gaussian_filter(counts, _WIDTH)


FIGURE = Figure(
    needs=("trajectories", "posterior"),
    sections=("title", "simulator", "exchangeable"),
    caption="Above: density (grey) and draws of where the alike bodies lie, stars the truth. "
    "Below: a line joins the bodies of each draw. To swap the bodies changes nothing of the "
    "motion, so a posterior that is complete has all labelings in equal shares; the title "
    "counts the draws by the labeling they are nearest to, and says how many a run has lost.",
    draw=draw,
    applies=lambda experiment, budget, identity: bool(experiment.exchangeable),
)
