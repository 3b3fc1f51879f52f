"""Stage ``infer``: trajectories to a posterior, with one estimator, shooting and seed."""

import json
import logging
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import xarray as xr

from pdsim.runtime import device
from pdsim.runtime.files import read_dataset, write_dataset
from pdsim.inference import load_estimator
from pdsim.inference.estimator import largest_defect
from pdsim.inference.runner import run
from pdsim.likelihood.build import build_problem
from pdsim.likelihood.config import LikelihoodConfig
from pdsim.likelihood.problem import Position
from pdsim.likelihood.shooting import ShootingProblem
from pdsim.parameters import ParameterSpace
from pdsim.posterior import assemble
from pdsim.runtime.provenance import code_fingerprint, fingerprint
from pdsim.config.runs import SETTINGS, WorkConfig
from pdsim.systems.config import SimulatorConfig
from pdsim.stages import modules

log = logging.getLogger(__name__)


def infer(
    options: dict[str, Any],
    *,
    method: str,
    shooting: str,
    seed: int,
    trajectories: str,
    output: str,
    resume: str = "auto",
) -> None:
    """Run one estimator and write its posterior file.

    Args:
        options: ``ExperimentConfig.inference_options``.
        resume: see ``pdsim.inference.runner.run``.
    """
    device.configure(options["precision"])
    simulator = SimulatorConfig.model_validate(options["simulator"])
    likelihood = LikelihoodConfig.model_validate(options["likelihood"])
    budget = WorkConfig.model_validate(options["budget"])
    settings = SETTINGS[method].model_validate(options["estimator"])
    data = read_dataset(trajectories)
    problem = build_problem(simulator, likelihood, data, shooting, options["precision"])
    estimator = load_estimator(method, settings, budget)
    identity = fingerprint(
        options,
        {"method": method, "shooting": shooting, "seed": seed},
        data["observed"].values.tobytes(),
        data["smoothed"].values.tobytes(),
        code_fingerprint(*modules("infer", system=simulator.system, method=method)),
    )
    checkpoint = Path(output).with_name("checkpoint.npz")
    result = run(
        estimator,
        problem,
        seed=seed,
        chunk_size=budget.chunk_size,
        seconds=budget.seconds,
        fingerprint=identity,
        checkpoint=checkpoint,
        resume=resume,
    )
    draws = estimator.draws(problem, result.state)
    log_likelihood, defects = problem.evaluate(draws)
    space = problem.space
    size = draws.parameters.shape[0]
    diverging = np.asarray(estimator.diverging(problem, result.state))
    unit = np.asarray(draws.parameters)
    prior_draws = space.sample_prior(size, seed)
    course = result.course | {"draws": _physical(space, result.course["draws"])}
    tree = assemble(
        space,
        draws=_physical(space, draws.parameters),
        chain_count=estimator.chain_count(problem),
        prior_draws=_physical(space, prior_draws),
        sample_stats={
            "log_likelihood": np.asarray(log_likelihood),
            "log_prior": np.asarray(space.log_prior(draws.parameters)),
            "max_defect": np.asarray(largest_defect(defects)),
            "diverging": diverging,
            "limit_violation": np.maximum(-unit, unit - 1).max(axis=1).clip(min=0),
        },
        shooting=_shooting_group(problem, draws, np.asarray(defects)),
        history=result.history,
        course=course,
        convergence=estimator.convergence(problem, result.state),
        attributes={
            "method": method,
            "shooting": shooting,
            "seed": seed,
            "sample_kind": estimator.sample_kind,
            "ended": result.ended,
            "config": json.dumps(options, sort_keys=True),
            "fingerprint": identity,
            **device.describe(),
        },
    )
    write_dataset(output, tree)
    checkpoint.unlink(missing_ok=True)
    log.info(
        "%s: %d draws, %d diverging, median log likelihood %.6g",
        output,
        size,
        int(diverging.sum()),
        float(np.median(log_likelihood)),
    )


def _physical(space: ParameterSpace, unit) -> np.ndarray:
    return np.asarray(space.to_physical(jnp.asarray(unit)))


def _shooting_group(problem: ShootingProblem, draws: Position, defects: np.ndarray) -> xr.Dataset:
    """Start states of windows 1, 2, … in physical units, and their scaled defects."""
    starts = np.asarray(draws.shooting * problem.state_scale)
    dims = ("draw", "trajectory", "window", "state")
    return xr.Dataset(
        {"start": (dims, starts), "defect": (dims, defects)},
        coords={
            "draw": np.arange(starts.shape[0]),
            "trajectory": np.arange(starts.shape[1]),
            "window": 1 + np.arange(starts.shape[2]),
            "state": list(problem.system.state),
        },
    )
