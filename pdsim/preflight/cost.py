"""What each run will cost: its roll-outs, and the minutes that they take at least."""

import time
from typing import Any

import jax
import jax.numpy as jnp
import xarray as xr

from pdsim.config.slices import Preflight
from pdsim.likelihood.build import build_problem
from pdsim.likelihood.problem import Position
from pdsim.preflight.findings import Cost
from pdsim.systems.simulator import build_simulator

# Evaluations that are timed side by side, at most: beyond, time grows with their number.
_TIMED = 16


def costs(options: Preflight, data: xr.Dataset) -> dict[str, Cost]:
    """Cost of each run by name, by timing one evaluation of each likelihood.

    Args:
        data: of its trajectories file.
    """
    simulator, work = build_simulator(options.simulator), options.work
    timed: dict[str, tuple[int, float]] = {}
    found = {}
    for run in options.planned:
        if run.shooting not in timed:
            problem: Any = build_problem(
                simulator, options.likelihood, data, run.shooting, options.precision
            )
            seconds = _seconds(problem, min(work.particle_count, _TIMED))
            timed[run.shooting] = problem.rollout_count, seconds
        rollouts, seconds = timed[run.shooting]
        evaluations = work.particle_count * work.iteration_count * run.effort
        found[run.name] = Cost(evaluations * rollouts, evaluations * seconds / 60)
    return found


def _seconds(problem: Any, particles: int) -> float:
    """Time of one evaluation at one point, of many side by side [s]."""
    x = jnp.asarray(problem.space.sobol(particles))
    shooting = problem.start_shooting()
    position = Position(x, jnp.broadcast_to(shooting, (particles, *shooting.shape)))
    evaluate = jax.jit(lambda problem, position: problem.evaluate(position))
    compiled = evaluate.lower(problem, position).compile()
    began = time.perf_counter()
    jax.block_until_ready(compiled(problem, position))
    return (time.perf_counter() - began) / particles
