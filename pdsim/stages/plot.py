"""Stage ``plot``: result files to figures."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from pdsim.runtime import device
from pdsim.bayessim import calibration
from pdsim.bayessim.config import split_variant
from pdsim.bayessim.scaling import scaling
from pdsim.config.experiment import ExperimentConfig
from pdsim.runtime.errors import PdsimError
from pdsim.figures import calibration as calibration_figure
from pdsim.figures import (
    convergence,
    course,
    density,
    landscape,
    posterior,
    posteriors,
    statistics,
    style,
    training,
    windows,
)
from pdsim.runtime.files import read_dataset
from pdsim.likelihood.build import build_problem
from pdsim.likelihood.problem import Position
from pdsim.metrics.long_format import COURSE_COLUMNS, read_metrics
from pdsim.posterior import read_draws
from pdsim.systems.simulator import build_simulator, known_truth
from pdsim.stages.condition import conditioned
from pdsim.systems.rollout import rollout


def plot_density(experiment, method, shooting, *, trajectories, rollouts, stem) -> None:
    """Draw the density of roll-outs of one run."""
    title = f"{experiment.title}: {style.run_label(method, shooting)}"
    density.draw(trajectories, rollouts, title, stem)


def plot_densities(
    experiment: ExperimentConfig,
    trajectories: str,
    rollouts: Sequence[str],
    posterior_files: Sequence[str],
    stem: str,
) -> None:
    """Draw the densities of all runs on one held-out window.

    Args:
        rollouts, posterior_files: of the same runs, in the same order.
    """
    runs = []
    for path, posterior_file in zip(rollouts, posterior_files, strict=True):
        root = read_dataset(posterior_file).attrs
        runs.append(density.Run(style.run_label(root["method"], root["shooting"]), path))
    density.draw_all(trajectories, runs, experiment.title, stem)


def plot_course(experiment: ExperimentConfig, course_file: str, stem: str) -> None:
    """Draw metrics over the course of the estimation."""
    course.draw(read_metrics(course_file, COURSE_COLUMNS), experiment.title, stem)


def plot_posteriors(
    experiment: ExperimentConfig, posterior_files: Sequence[str], stem: str
) -> None:
    """Draw the posteriors of an experiment with two parameters side by side."""
    _, space = build_simulator(experiment.simulator)
    if space.dimension != 2:
        raise PdsimError(
            f"{experiment.title}: the posteriors figure needs 2 parameters, not {space.dimension}"
        )
    truth = _true_values(experiment)
    panels = []
    for path in posterior_files:
        root = read_dataset(path).attrs
        label = style.run_label(root["method"], root["shooting"])
        panels.append(posteriors.Panel(label, read_draws(path, space)))
    if truth is None:
        low, high = np.array([(p.lower, p.upper) for p in space.parameters]).T
        margin = np.zeros(2)
    else:
        low, high = truth.points.min(axis=0), truth.points.max(axis=0)
        margin = 0.75 * np.maximum(high - low, 0.25)
    first, second = space.parameters
    spans = np.stack([low - margin, high + margin], axis=1)
    posteriors.draw(
        panels,
        truth,
        spans,
        (f"{first.name} [{first.unit}]", f"{second.name} [{second.unit}]"),
        experiment.title,
        stem,
    )


def _true_values(experiment: ExperimentConfig) -> posteriors.Truth | None:
    """True parameters of the training recordings, where a camera made them."""
    # Imported here: the camera's integrator takes long to load.
    from pdsim.recordings.camera import run_parameters

    camera = experiment.recording.camera
    if camera is None:
        return None
    targets = [p.sets or (name,) for name, p in experiment.simulator.parameters.items()]
    points = []
    for window in experiment.recording.windows("train"):
        values = run_parameters(camera, window.run)
        if not all(names[0] in values for names in targets):
            return None
        points.append([values[names[0]] for names in targets])
    population = camera.population
    if population is None:
        return posteriors.Truth(np.array(points))
    return posteriors.Truth(
        np.array(points), np.array(population.mean), np.array(population.covariance)
    )


def plot_posterior(experiment, method, shooting, *, posterior_file, stem) -> None:
    """Draw the pair plot of one run."""
    _, space = build_simulator(experiment.simulator)
    title = f"{experiment.title}: {style.run_label(method, shooting)}"
    draws = read_draws(posterior_file, space)
    posterior.draw(space, draws, known_truth(experiment.simulator), title, stem)


def plot_windows(experiment, method, *, trajectories, posterior_file, stem) -> None:
    """Draw the shooting windows of a multiple-shooting run before and after.

    Before: parameters at the centre of the box, windows from the smoothed recording. After: the
    most likely draw.
    """
    device.configure()
    system, space = build_simulator(experiment.simulator)
    data = read_dataset(trajectories)
    first = int(np.flatnonzero(data["split"].values == "train")[0])
    frame_time = data.attrs["frame_time"]
    best = int(np.argmax(read_dataset(posterior_file, "sample_stats")["log_likelihood"].values))
    later = read_dataset(posterior_file, "shooting")["start"].values[best, 0]
    count = len(later) + 1
    length = -(-(data.sizes["time"] - 1) // count)
    smoothed = data["smoothed"].values[first]

    def simulate(unit, later):
        starts = np.concatenate([smoothed[:1], later])
        states = rollout(
            system,
            space.system_parameters(unit),
            tuple(jnp.asarray(column) for column in starts.T),
            frames=length,
            frame_time=frame_time,
            substeps=experiment.simulator.substeps,
        )
        channels = np.stack([np.asarray(s) for s in system.observe(states)], axis=-1)
        return np.concatenate([starts[:, None], np.moveaxis(channels, 0, 1)], axis=1)

    draws = read_draws(posterior_file, space)
    windows.draw(
        data["time"].values,
        data["observed"].values[first],
        (np.arange(count)[:, None] * length + np.arange(length + 1)) * frame_time,
        {
            "before: centre of the box": simulate(
                jnp.full(space.dimension, 0.5), smoothed[length * np.arange(1, count)]
            ),
            "after: most likely draw": simulate(space.to_unit(draws[best]), later),
        },
        [
            f"{name} [{unit}]"
            for name, unit in zip(data["channel"].values, data["channel_unit"].values, strict=True)
        ],
        f"{experiment.title}: {method.upper()}, shooting windows",
        stem,
    )


def plot_convergence(experiment: ExperimentConfig, posteriors: Sequence[str], stem: str) -> None:
    """Draw the histories of all runs."""
    runs = []
    particles = 0
    for path in posteriors:
        root = read_dataset(path).attrs
        particles = read_dataset(path, "posterior").sizes["draw"]
        history = read_dataset(path, "history")
        runs.append(
            convergence.RunHistory(root["method"], root["shooting"], int(root["seed"]), history)
        )
    convergence.draw(runs, particles, experiment.title, stem)


def plot_landscape(
    experiment: ExperimentConfig, trajectories: str, stem: str, resolution: int = 120
) -> None:
    """Draw the likelihood over two parameters, the others at their true values.

    Under multiple shooting the windows start from the smoothed recording, and their defects enter
    as the Gaussian term of Eq. 5 with σ_def = 1 in scaled state units.
    """
    device.configure()
    assert experiment.landscape is not None
    data = read_dataset(trajectories)
    _, space = build_simulator(experiment.simulator)
    truth = known_truth(experiment.simulator)
    assert truth is not None
    indices = [space.names.index(name) for name in experiment.landscape]
    line = jnp.linspace(0.0, 1.0, resolution)
    unit = jnp.broadcast_to(space.to_unit(truth), (resolution, resolution, space.dimension))
    across, up = jnp.meshgrid(line, line)
    unit = unit.at[..., indices[0]].set(across).at[..., indices[1]].set(up)
    unit = unit.reshape(-1, space.dimension)
    grids = {}
    for shooting in ("single", "multiple"):
        problem = build_problem(
            experiment.simulator, experiment.likelihood, data, shooting, "float64"
        )
        guess = problem.start_shooting()
        position = Position(unit, jnp.broadcast_to(guess, (len(unit), *guess.shape)))
        log_likelihood, defects = jax.jit(type(problem).evaluate)(problem, position)
        defect_term = -0.5 * (defects**2).reshape(len(unit), -1).sum(axis=1)
        grids[f"{shooting} shooting"] = np.asarray(log_likelihood + defect_term).reshape(
            resolution, resolution
        )
    chosen = [space.parameters[i] for i in indices]
    landscape.draw(
        grids,
        (np.asarray(chosen[0].to_physical(line)), np.asarray(chosen[1].to_physical(line))),
        (f"{chosen[0].name} [{chosen[0].unit}]", f"{chosen[1].name} [{chosen[1].unit}]"),
        (float(truth[indices[0]]), float(truth[indices[1]])),
        f"{experiment.title}: log likelihood",
        stem,
    )


def plot_statistics(
    experiment: ExperimentConfig, trajectories: str, files: Sequence[str], stem: str
) -> None:
    """Draw the training recording and every input statistic of it."""
    data = read_dataset(trajectories)
    first = int(np.flatnonzero(data["split"].values == "train")[0])
    panels = []
    for path in files:
        stored = read_dataset(path)
        simulated = stored["simulated"].values[~stored["held_out"].values]
        scale = scaling(simulated)
        panels.append(
            statistics.Panel(
                stored.attrs["statistic"],
                scale(stored["recorded"].values[:1])[0],
                scale(simulated),
            )
        )
    channels = [
        f"{name} [{unit}]"
        for name, unit in zip(data["channel"].values, data["channel_unit"].values, strict=True)
    ]
    title = f"{experiment.title}: input statistics of BayesSim"
    statistics.draw(
        data["time"].values, data["observed"].values[first], channels, panels, title, stem
    )


def plot_training(experiment: ExperimentConfig, files: Sequence[str], stem: str) -> None:
    """Draw the losses of all variants."""
    histories = {}
    for path in files:
        history = read_dataset(path, "history")
        losses = (history["loss"].values, history["held_out_loss"].values)
        histories[read_dataset(path).attrs["variant"]] = losses
    training.draw(histories, f"{experiment.title}: training of BayesSim", stem)


def plot_calibration(
    experiment: ExperimentConfig,
    statistic_files: Sequence[str],
    files: Sequence[str],
    stem: str,
    count: int = 99,
) -> None:
    """Draw the rank histograms of all variants on the held-out simulations."""
    assert experiment.bayessim is not None
    stored = {}
    for path in statistic_files:
        data = read_dataset(path)
        stored[data.attrs["statistic"]] = data.isel(sample=data["held_out"].values)
    ranks = {}
    names = list(experiment.simulator.parameters)
    for path in files:
        variant = read_dataset(path).attrs["variant"]
        data = stored[split_variant(variant)[0]]
        conditional = conditioned(path, data["simulated"].values, experiment.bayessim, len(names))
        ranks[variant] = calibration.ranks(conditional, data["unit"].values, count)
    title = f"{experiment.title}: calibration of BayesSim"
    calibration_figure.draw(ranks, names, count, title, stem)
