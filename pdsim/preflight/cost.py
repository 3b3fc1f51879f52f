"""What each run will cost: its roll-outs, and the processor time that they take.

Of each likelihood what an iteration of the run needs is compiled and timed once: values, and slopes
as the estimator takes them, by reverse mode or by tangents. Tangents count as evaluations, as they
do in a budget.
"""

import logging
import time
from typing import Any

import jax
import jax.numpy as jnp
import xarray as xr

from pdsim import registry
from pdsim.inference import load_estimator
from pdsim.likelihood.build import build_problem
from pdsim.likelihood.problem import Position
from pdsim.preflight.config import PlannedRun, Preflight
from pdsim.preflight.findings import Cost
from pdsim.runtime.device import compiled_afresh
from pdsim.systems.simulator import build_simulator

log = logging.getLogger(__name__)

# Evaluations that are timed side by side, at most: beyond, time grows with their number.
_TIMED = 16
# What a job compiles, over what is timed here: two to four times as much, of two estimators on two
# systems.
_PROGRAMS = 3


def costs(options: Preflight, data: xr.Dataset, start: float) -> dict[str, Cost]:
    """Cost of each run by name.

    Args:
        data: of its trajectories file.
        start: processor time until a job has started and read its data [s].
    """
    simulator, work = build_simulator(options.simulator), options.work
    timed: dict[tuple[str, bool], tuple[int, float, float]] = {}
    found = {}
    for run in options.planned:
        key = run.shooting, _by_gradients(run, work)
        if key not in timed:
            log.info("compiling and timing what %s computes", run.name)
            problem: Any = build_problem(
                simulator, options.likelihood, data, run.shooting, options.precision
            )
            particles = min(work.particle_count, _TIMED)
            timed[key] = problem.rollout_count, *_seconds(problem, particles, gradients=key[1])
        rollouts, compiling, each = timed[key]
        evaluations = work.particle_count * work.iteration_count * run.effort
        found[run.name] = Cost(
            evaluations * rollouts, (start + _PROGRAMS * compiling) / 60, evaluations * each / 60
        )
    return found


def _by_gradients(run: PlannedRun, work: Any) -> bool:
    """Whether an estimator takes slopes by reverse mode."""
    settings = registry.load("inference", run.method).Settings.model_validate(run.settings)
    return load_estimator(run.method, settings, work).uses_gradients


def _seconds(problem: Any, particles: int, *, gradients: bool) -> tuple[float, float]:
    """Processor time of compiling, and of one evaluation of many side by side [s]."""
    x = jnp.asarray(problem.space.sobol(particles))
    shooting = problem.start_shooting()
    position = Position(x, jnp.broadcast_to(shooting, (particles, *shooting.shape)))

    def by_reverse_mode(problem, position):
        return jax.value_and_grad(lambda at: problem.evaluate(at)[0].sum())(position)

    def by_tangents(problem, position):
        return problem.linearise(position), problem.evaluate(position)

    work = by_reverse_mode if gradients else by_tangents
    began = time.process_time()
    with compiled_afresh():
        compiled = jax.jit(work).lower(problem, position).compile()
    compiling = time.process_time() - began
    began = time.process_time()
    jax.block_until_ready(compiled(problem, position))
    evaluations = particles * (1 if gradients else 2 + problem.tangent_count)
    return compiling, (time.process_time() - began) / evaluations
