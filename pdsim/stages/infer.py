"""Stage ``infer``: trajectories to a posterior, with one run's estimator and one seed."""

import json
import logging

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from pdsim import registry
from pdsim.experiment.slices import Infer
from pdsim.inference import load_estimator
from pdsim.inference.estimator import largest_defect
from pdsim.inference.identity import Identity
from pdsim.inference.runner import run
from pdsim.likelihood.build import build_problem
from pdsim.likelihood.marginal import MarginalProblem
from pdsim.likelihood.own_values import own_values
from pdsim.likelihood.problem import Position, evaluated
from pdsim.likelihood.shooting import ShootingProblem
from pdsim.parameters.labelings import every_labeling, interchangeable
from pdsim.posterior import assemble
from pdsim.recordings.trajectories import load_trajectories, select
from pdsim.runtime import device
from pdsim.runtime.files import check_output, checkpoint_of, write_dataset
from pdsim.runtime.provenance import code_fingerprint, fingerprint
from pdsim.stages import modules
from pdsim.systems.simulator import build_simulator, build_system
from pdsim.xla.cores import gathered

log = logging.getLogger(__name__)

# Keeps random numbers of recordings' own values apart from others of the same seed.
_OWN = 20_261_125
# Of the trajectories, what an estimation reads beside the inputs.
_READ = ("observed", "states", "start", "start_covariance", "length", "channel_derived")


def infer(
    options: Infer,
    *,
    identity: Identity,
    seed: int,
    trajectories: str,
    output: str,
    resume: str = "auto",
    cores: int = 1,
) -> None:
    """Run one estimator and write its posterior file.

    Args:
        cores: among which particles and chains are split.
        resume: see ``pdsim.inference.runner.run``.
    """
    check_output(output)
    lapack = build_system(options.simulator).lapack
    device.configure(options.precision, cores, lapack=lapack)
    simulator, method = build_simulator(options.simulator), options.run.method
    settings = registry.load("inference", method).Settings.model_validate(options.run.settings)
    data = load_trajectories(trajectories, simulator.system)
    problem = build_problem(
        simulator, options.likelihood, data, options.run.shooting, options.precision
    )
    estimator = load_estimator(method, settings, options.work)
    config = options.model_dump(mode="json")
    digest = fingerprint(
        config,
        {"seed": seed, "frame_time": float(data.attrs["frame_time"])},
        *(data[name].values.tobytes() for name in _READ),
        data["inputs"].values.tobytes() if "inputs" in data else b"",
        code_fingerprint(*modules("infer", system=options.simulator.system, method=method)),
    )
    checkpoint = checkpoint_of(output)
    result = run(
        estimator,
        problem,
        seed=seed,
        chunk_size=options.work.chunk_size,
        seconds=options.work.seconds,
        fingerprint=digest,
        checkpoint=checkpoint,
        resume=resume,
    )
    draws = estimator.draws(problem, result.state)
    course, pairs = result.course["draws"], options.exchangeable
    filled_in = estimator.one_mode and interchangeable(pairs, problem.space)
    if filled_in:
        named = every_labeling(np.asarray(draws.parameters), pairs, problem.space, seed)
        draws = draws._replace(parameters=jnp.asarray(named))
        course = np.stack([every_labeling(x, pairs, problem.space, seed) for x in course])
    log_likelihood, defects = gathered(evaluated(problem, draws))
    space = problem.space
    size = draws.parameters.shape[0]
    diverging = np.asarray(estimator.diverging(problem, result.state))
    coordinates = np.asarray(draws.parameters)

    to_physical = jax.jit(space.to_physical)

    def physical(values) -> np.ndarray:
        return np.asarray(to_physical(jnp.asarray(values)))

    tree = assemble(
        simulator,
        space,
        config=options.simulator,
        draws=physical(draws.parameters),
        chain_count=estimator.chain_count(problem),
        prior_draws=physical(space.sample_prior(size, seed)),
        recordings=_recordings_group(problem, draws, seed, data, estimator.chain_count(problem)),
        sample_stats={
            "log_likelihood": np.asarray(log_likelihood),
            "log_prior": np.asarray(jax.jit(space.log_prior)(draws.parameters)),
            "max_defect": np.asarray(largest_defect(defects)),
            "diverging": diverging,
            "limit_violation": np.maximum(-coordinates, coordinates - 1).max(axis=1).clip(min=0),
        },
        shooting=_shooting_group(problem, draws, np.asarray(defects)),
        history=result.history,
        course=result.course | {"draws": physical(course)},
        convergence=estimator.convergence(problem, result.state),
        attributes={
            **identity._asdict(),
            "seed": seed,
            "sample_kind": estimator.sample_kind,
            "ended": result.ended,
            "filled_in": int(filled_in),
            "config": json.dumps(config, sort_keys=True),
            "fingerprint": digest,
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


def _recordings_group(
    problem: ShootingProblem | MarginalProblem,
    draws: Position,
    seed: int,
    data: xr.Dataset,
    chain_count: int,
) -> xr.Dataset:
    """Values of the parameters that vary in each recording of training; empty if none do."""
    if not isinstance(problem, MarginalProblem) or not problem.noise.varied:
        return xr.Dataset()
    varied, train = problem.noise.varied, select(data, "train")
    shape = (len(draws.parameters), train.sizes["trajectory"], len(varied))
    normal = np.random.default_rng([seed, _OWN]).normal(size=shape)
    rows = draws.parameters, jnp.asarray(normal, draws.parameters.dtype)
    found = np.asarray(jax.jit(own_values)(problem, rows))
    found = found.reshape(chain_count, -1, *shape[1:])
    dims = ("chain", "draw", "trajectory")
    return xr.Dataset(
        {
            parameter.name: (dims, found[..., i], {"units": parameter.unit})
            for i, parameter in enumerate(varied)
        },
        coords={name: ("trajectory", train[name].values) for name in ("run", "first_frame")},
    )


def _shooting_group(
    problem: ShootingProblem | MarginalProblem, draws: Position, defects: np.ndarray
) -> xr.Dataset:
    """Start states of windows 1, 2, … in physical units, and their scaled defects."""
    starts = np.asarray(draws.shooting * problem.state_scale[: draws.shooting.shape[-1]])
    dims = ("draw", "trajectory", "window", "state")
    return xr.Dataset(
        {"start": (dims, starts), "defect": (dims, defects)},
        coords={
            "draw": np.arange(starts.shape[0]),
            "trajectory": np.arange(starts.shape[1]),
            "window": 1 + np.arange(starts.shape[2]),
            "state": [quantity.name for quantity in problem.system.state],
        },
    )
