"""Step against noise, sensitivities, open directions, and the cost of each run."""

import time
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from pdsim.config.experiment import ExperimentConfig
from pdsim.likelihood.build import build_problem
from pdsim.likelihood.problem import Position
from pdsim.preflight.information import information
from pdsim.preflight.step_error import StepError, step_error
from pdsim.preflight.words import open_directions
from pdsim.recordings.smoothing import white_noise
from pdsim.runtime.errors import PdsimError
from pdsim.systems.simulator import Simulator, build_simulator
from pdsim.systems.system import POSITIONS
from pdsim.trajectories import inputs_of, select

# Points of the prior, of Sobol's sequence.
_POINTS = 16


class Preflight(NamedTuple):
    """What is known before an experiment is run.

    Attributes:
        step: error of the step against the noise.
        deviations: name of a parameter → deviation that the recordings leave it, were all others
            known and the model exact, in widths of its limits; median over the points.
        open: directions that they leave open, in words.
        failed: share of the prior's points from which a roll-out is not finite.
        costs: run → roll-outs, and minutes without compiling and without slopes.
    """

    step: StepError
    deviations: dict[str, float]
    open: list[str]
    failed: float
    costs: dict[str, tuple[int, float]]

    def lines(self) -> list[str]:
        """For a terminal."""
        told = [f"error of one step halved: {self.step.ratio:.2g} times the sensors' noise"]
        told += [
            f"{name}: known to {100 * left:.2g} % of its limits at best"
            for name, left in self.deviations.items()
        ]
        told += [f"open: {text}" for text in self.open]
        if self.failed:
            told.append(f"of the prior, {100 * self.failed:.2g} % cannot be simulated")
        told += [
            f"{run}: {rollouts:,} roll-outs, {minutes:.2g} min at least: slopes and compiling come "
            "on top"
            for run, (rollouts, minutes) in self.costs.items()
        ]
        return told

    def check(self, source: str) -> None:
        """Refuse a step whose error is larger than the noise.

        Raises:
            PdsimError: says by how much.
        """
        if not self.step.ratio <= 1:
            raise PdsimError(
                f"{source}: simulator.substeps: the error of a step is {self.step.ratio:.3g} times "
                "the noise of the sensors and would pass for it; double substeps, or choose "
                "integrator: rk4"
            )


def preflight(experiment: ExperimentConfig, data: xr.Dataset, budget: str) -> Preflight:
    """Look at an experiment's trajectories and its model.

    Args:
        data: of its trajectories file.
        budget: by name.

    Raises:
        PdsimError: no position was measured.
    """
    simulator, train = build_simulator(experiment.simulator), select(data, "train")
    columns, noise = measured_positions(train)
    points = simulator.space.sobol(_POINTS)
    frames = int(train["length"].values.min()) - 1
    step = step_error(
        simulator,
        train["start"].values,
        inputs_of(train)[:, :frames],
        float(train.attrs["frame_time"]),
        columns,
        noise,
        points,
    )
    matrices = information(simulator, train, columns, noise, points)
    finite = np.isfinite(matrices).all(axis=(1, 2))
    if not finite.any():
        raise PdsimError(
            "simulator.parameters: at no point of the limits a roll-out is finite; narrow them"
        )
    matrices, points = matrices[finite], points[finite]
    alone = np.median(np.diagonal(matrices, axis1=1, axis2=2), axis=0)
    deviations = np.minimum(1 / np.sqrt(np.maximum(alone, 1e-300)), 1.0)
    return Preflight(
        step,
        dict(zip(simulator.space.names, deviations.tolist(), strict=True)),
        open_directions(simulator.space, points, matrices),
        float(1 - finite.mean()),
        costs(experiment, simulator, data, budget),
    )


def measured_positions(train: xr.Dataset) -> tuple[list[int], np.ndarray]:
    """Channels of positions that were measured, and the white noise of each."""
    observed = train["observed"].values
    seen = np.isfinite(observed).any(axis=(0, 1)) & ~train["channel_derived"].values
    kinds = np.isin(train["channel_kind"].values, POSITIONS)
    columns = [int(i) for i in np.flatnonzero(seen & kinds)]
    if not columns:
        raise PdsimError("recording.channels: no position was measured, so nothing is compared")
    return columns, white_noise(observed[..., columns])


def costs(
    experiment: ExperimentConfig, simulator: Simulator, data: xr.Dataset, budget: str
) -> dict[str, tuple[int, float]]:
    """Roll-outs and minutes of each run, by timing one evaluation of each likelihood."""
    work = experiment.budget(budget)
    timed: dict[str, tuple[int, float]] = {}
    found = {}
    for run in experiment.runs:
        if run.shooting not in timed:
            problem: Any = build_problem(
                simulator, experiment.likelihood, data, run.shooting, experiment.precision
            )
            timed[run.shooting] = problem.rollout_count, _seconds(problem, work.particle_count)
        rollouts, seconds = timed[run.shooting]
        evaluations = work.particle_count * work.iteration_count * run.effort
        found[run.identity.run] = (evaluations * rollouts, evaluations * seconds / 60)
    return found


def _seconds(problem, particles: int) -> float:
    """Time of one evaluation at one point, of many side by side [s]."""
    x = jnp.asarray(problem.space.sobol(particles))
    shooting = problem.start_shooting()
    position = Position(x, jnp.broadcast_to(shooting, (particles, *shooting.shape)))
    evaluate = jax.jit(lambda problem, position: problem.evaluate(position))
    jax.block_until_ready(evaluate(problem, position))
    began = time.perf_counter()
    jax.block_until_ready(evaluate(problem, position))
    return (time.perf_counter() - began) / particles
