"""Stage ``calibrate``: ranks of true parameters among one estimator's draws, over many data sets.

All data sets are worked through in one process, so that programs are compiled once. What is
finished is kept beside the output after each, and a job that runs again goes on from there. A data
set on which the estimator fails is written with the reason.
"""

import json
import logging
import time

import jax.numpy as jnp
import numpy as np
import xarray as xr

from pdsim import registry
from pdsim.calibration.ranks import rank
from pdsim.calibration.simulate import Generator
from pdsim.experiment.slices import Calibrate
from pdsim.inference import load_estimator
from pdsim.inference.estimator import Estimator
from pdsim.inference.identity import Identity
from pdsim.inference.runner import run
from pdsim.recordings.trajectories import load_trajectories, select
from pdsim.runtime import device
from pdsim.runtime.checkpoint import Checkpoint, restored, save
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import checkpoint_of, write_dataset
from pdsim.runtime.progress import Progress
from pdsim.runtime.provenance import code_fingerprint, fingerprint
from pdsim.stages import modules
from pdsim.systems.simulator import build_simulator

log = logging.getLogger(__name__)

# Of the template, what data sets are made with, beside the inputs.
_READ = ("observed", "states", "start", "start_covariance", "length", "channel_derived")


def calibrate(options: Calibrate, *, identity: Identity, trajectories: str, output: str) -> None:
    """Rank the truth of each data set, and write ranks, truths and failures."""
    device.configure(options.precision)
    config, method = options.calibration, options.run.method
    settings = registry.load("inference", method).Settings.model_validate(options.run.settings)
    estimator = load_estimator(method, settings, config.budget)
    simulator = build_simulator(options.simulator)
    template = select(load_trajectories(trajectories, simulator.system), "train")
    recording = options.recording
    generator = Generator(
        simulator=simulator,
        template=template,
        likelihood=options.likelihood,
        shooting=options.run.shooting,
        smoothing=None if recording.measured_states else recording.smoothing.build(),
        precision=options.precision,
    )
    stated = options.model_dump(mode="json")
    digest = fingerprint(
        stated,
        float(template.attrs["frame_time"]),
        *(template[name].values.tobytes() for name in _READ),
        template["inputs"].values.tobytes() if "inputs" in template else b"",
        code_fingerprint(*modules("calibrate", system=options.simulator.system, method=method)),
    )
    checkpoint = checkpoint_of(output)
    kept = restored(checkpoint, digest, ())
    columns, spent = (kept.history, kept.seconds) if kept is not None else ({}, 0.0)
    truths = generator.truths(config.data_sets, config.seed)
    first = len(columns["reason"]) if columns else 0
    if first:
        log.info("resuming after data set %d from %s", first, checkpoint)
    with Progress(config.data_sets, first, "data sets") as progress:
        for number in range(first, config.data_sets):
            began = time.perf_counter()
            row = _one(estimator, generator, truths[number], number, options)
            row["seconds"] = time.perf_counter() - began
            spent += row["seconds"]
            columns = _appended(columns, row)
            save(checkpoint, digest, Checkpoint((), columns, {}, spent))
            progress.advance(1, failures=int((columns["reason"] != "").sum()))
    space = generator.space
    data = xr.Dataset(
        {
            "truth": (
                ("data_set", "parameter"),
                np.asarray(space.to_physical(jnp.asarray(truths))),
            ),
            **{key: (("data_set", "parameter"), columns[key]) for key in ("rank", "r_hat")},
            **{
                key: ("data_set", columns[key])
                for key in ("evaluations", "rollouts", "seconds", "reason", "ended")
            },
        },
        coords={
            "data_set": np.arange(config.data_sets),
            "parameter": list(space.names),
            "unit": ("parameter", [parameter.unit for parameter in space.parameters]),
        },
        attrs={
            **identity._asdict(),
            "draws": config.draws,
            "sample_kind": estimator.sample_kind,
            "config": json.dumps(stated, sort_keys=True),
            "fingerprint": digest,
            **device.describe(),
        },
    )
    write_dataset(output, data)
    checkpoint.unlink(missing_ok=True)
    failures = int((columns["reason"] != "").sum())
    log.info("%s: %d data sets, %d failures, %.0f s", output, config.data_sets, failures, spent)


def _one(
    estimator: Estimator, generator: Generator, truth: np.ndarray, number: int, options: Calibrate
) -> dict:
    """Simulate a data set, estimate, and rank; a failure has ranks of −1 and a reason.

    Args:
        truth: (M,) unit coordinates.
        number: of the data set; every method gets the same one under it.
    """
    config = options.calibration
    missing = np.full(len(truth), np.nan)
    row = {
        "rank": np.full(len(truth), -1),
        "r_hat": missing,
        "evaluations": 0,
        "rollouts": 0,
        "reason": "",
        "ended": "failure",
    }
    try:
        data = generator.data_set(truth, np.random.default_rng([config.seed, number]))
        problem = generator.problem(data)
        result = run(
            estimator,
            problem,
            # Of seed 0 all data sets would have the same start.
            seed=1 + number,
            chunk_size=config.budget.chunk_size,
            seconds=config.budget.seconds,
            report=False,
        )
        row["evaluations"] = int(result.history["evaluations"].sum())
        row["rollouts"] = int(result.history["rollouts"][-1])
        draws = np.asarray(estimator.draws(problem, result.state).parameters)
        if len(draws) < config.draws:
            raise PdsimError(f"{len(draws)} draws, fewer than calibration.draws {config.draws}")
        row["r_hat"] = np.asarray(
            estimator.convergence(problem, result.state).get("r_hat", missing)
        )
        chains = estimator.sample_kind == "mcmc"
        random = np.random.default_rng([config.seed, number, 1])
        row["rank"] = rank(truth, draws, config.draws, random, chains=chains)
        row["ended"] = result.ended
    except PdsimError as failure:
        log.warning("data set %d: %s", number, failure)
        row["reason"] = str(failure)
    return row


def _appended(columns: dict[str, np.ndarray], row: dict) -> dict[str, np.ndarray]:
    new = {name: np.asarray(value)[None] for name, value in row.items()}
    if not columns:
        return new
    return {name: np.concatenate([columns[name], value]) for name, value in new.items()}
