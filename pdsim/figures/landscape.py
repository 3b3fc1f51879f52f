"""The likelihood over two parameters, for single and multiple shooting (Fig. 2a and 2b)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from pdsim.figures import style
from pdsim.figures.figure import Figure, Request
from pdsim.recordings.trajectories import known_truth
from pdsim.runtime import device
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import read_dataset
from pdsim.systems.simulator import Simulator, build_simulator

if TYPE_CHECKING:
    from pdsim.likelihood.config import LikelihoodConfig

# Cells along each axis.
RESOLUTION = 120


def draw(request: Request) -> None:
    """Draw the likelihood over two parameters, the others at their true values."""
    device.configure()
    chosen = request.sections["landscape"]
    if chosen is None:
        raise PdsimError("landscape: this key of the experiment is missing; name two parameters")
    path = request.files["trajectories"][0]
    data = read_dataset(path)
    simulator = build_simulator(request.sections["simulator"])
    space = simulator.space
    truth = known_truth(data, space)
    if truth is None:
        raise PdsimError(
            f"{path}: landscape: the true value of every parameter must be known, and the same for "
            "all training recordings"
        )
    indices = [space.names.index(name) for name in chosen]
    line = jnp.linspace(0.0, 1.0, RESOLUTION)
    coordinates = np.broadcast_to(
        np.asarray(space.to_coordinates(truth)), (RESOLUTION, RESOLUTION, space.dimension)
    ).copy()
    coordinates[..., indices[0]], coordinates[..., indices[1]] = np.meshgrid(line, line)
    likelihood = request.sections["likelihood"]
    grids = {
        f"{shooting} shooting": log_likelihood(simulator, likelihood, data, shooting, coordinates)
        for shooting in ("single", "multiple")
    }
    parameters = [space.parameters[i] for i in indices]
    draw_grids(
        grids,
        (
            np.asarray(parameters[0].to_physical(line)),
            np.asarray(parameters[1].to_physical(line)),
        ),
        (
            f"{parameters[0].name} [{parameters[0].unit}]",
            f"{parameters[1].name} [{parameters[1].unit}]",
        ),
        (float(truth[indices[0]]), float(truth[indices[1]])),
        (parameters[0].scale, parameters[1].scale),
        f"{request.title}: log likelihood",
        request.stem,
    )


def log_likelihood(
    simulator: Simulator,
    likelihood: "LikelihoodConfig",
    data: xr.Dataset,
    shooting: str,
    coordinates: np.ndarray,
) -> np.ndarray:
    """Log likelihood of unit coordinates (*batch, M), (*batch,).

    Under multiple shooting the windows start from the estimated states, and their defects enter
    as the Gaussian term of Eq. 5 with σ_def = 1 in scaled state units.
    """
    # Imported here: the workflow reads this module's entry at every start, and these take long.
    from pdsim.likelihood.build import build_problem
    from pdsim.likelihood.problem import Position

    problem = build_problem(simulator, likelihood, data, shooting, "float64")
    guess = problem.start_shooting()
    flat = jnp.asarray(coordinates.reshape(-1, coordinates.shape[-1]))
    position = Position(flat, jnp.broadcast_to(guess, (len(flat), *guess.shape)))
    value, defects = jax.jit(type(problem).evaluate)(problem, position)
    defect_term = -0.5 * (defects**2).reshape(len(flat), -1).sum(axis=1)
    return np.asarray(value + defect_term).reshape(coordinates.shape[:-1])


def draw_grids(
    grids: Mapping[str, np.ndarray],
    axes_values: tuple[np.ndarray, np.ndarray],
    labels: tuple[str, str],
    truth: tuple[float, float],
    scales: tuple[str, str],
    title: str,
    stem: str,
) -> None:
    """Draw one panel per shooting.

    The likelihood spans many orders of magnitude, so the colour is its rank among all cells:
    equal areas of the picture have equal shares of the colours, and every valley shows.

    Args:
        grids: panel title → (second parameter, first parameter) log likelihood.
        axes_values: values of the first and second parameter.
        labels: with units.
        truth: of the two.
        scales: "linear" or "log" axes.
    """
    plt = style.apply()
    figure, axes = plt.subplots(1, len(grids), figsize=(4.6 * len(grids), 4.1), sharey=True)
    for axis, (name, grid) in zip(np.atleast_1d(axes), grids.items(), strict=True):
        order = np.argsort(np.argsort(np.nan_to_num(grid, nan=-np.inf).ravel()))
        rank = order.reshape(grid.shape) / (grid.size - 1)
        image = axis.pcolormesh(*axes_values, rank, shading="nearest", rasterized=True)
        axis.plot(*truth, "*", markersize=14, color="white", markeredgecolor="black", label="truth")
        top = np.unravel_index(np.argmax(order), grid.shape)
        axis.plot(
            axes_values[0][top[1]],
            axes_values[1][top[0]],
            "x",
            color=style.TRUTH,
            markersize=8,
            markeredgewidth=2,
            label="highest cell",
        )
        axis.set(title=name, xlabel=style.plain(labels[0]), xscale=scales[0], yscale=scales[1])
    np.atleast_1d(axes)[0].set_ylabel(style.plain(labels[1]))
    np.atleast_1d(axes)[-1].legend(loc="upper right", facecolor="white", frameon=True)
    bar = figure.colorbar(image, ax=axes, label="rank of the log likelihood")
    bar.set_ticks([0, 0.5, 1], labels=["lowest", "median", "highest"])
    style.title(figure, title)
    style.save(figure, stem)


FIGURE = Figure(
    needs=("trajectories",),
    sections=("title", "simulator", "likelihood", "landscape"),
    caption="Brighter is likelier, by rank. Left, one long roll-out: ridges and traps. Right, "
    "windows that each start from the recording's estimated states: one slope towards the truth "
    "(star).",
    draw=draw,
    applies=lambda experiment, budget, identity: experiment.landscape is not None,
)
