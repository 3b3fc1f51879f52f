"""Stage ``control``: one controller in all simulations of an experiment of kind ``control``.

All simulations advance together, some control steps at a time. What is finished is kept beside the
output, and a job that runs again goes on from there; random numbers depend on the seed, the
simulation and the step alone.
"""

import json
import logging
import time

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from pdsim import registry
from pdsim.control.closed_loop import Controller, Record, advance_all, begin_all
from pdsim.control.config import ControllerConfig, ControlRun
from pdsim.control.metrics import failed
from pdsim.control.prior import first_particles
from pdsim.control.tasks.task import Task
from pdsim.runtime import device
from pdsim.runtime.checkpoint import Checkpoint, restored, save
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import checkpoint_of, write_dataset
from pdsim.runtime.progress import Progress
from pdsim.runtime.provenance import code_fingerprint, fingerprint
from pdsim.xla.cores import gathered

log = logging.getLogger(__name__)

# Particles are kept of every so many steps.
PARTICLES_EVERY = 10


def modules(task: str) -> tuple[str, ...]:
    """Modules whose import closure decides the result."""
    return ("pdsim.stages.control", registry.module_name("control.tasks", task))


def control(options: ControlRun, *, output: str, prior: str | None = None, cores: int = 1) -> None:
    """Simulate, and write what was logged; see ``_dataset`` for the layout.

    Args:
        prior: posterior file that the belief starts from, where the controller has ``prior_from``.
        cores: among which simulations are split.
    """
    device.configure(options.precision, cores)
    task = options.task.build()
    first = _first(options.controller, task, prior)
    controller = options.controller.build(task, first)
    work = options.work
    steps = work.steps or work.laps * task.lap_steps
    stated = options.model_dump(mode="json")
    digest = fingerprint(stated, first, code_fingerprint(*modules(options.task.name)))
    checkpoint = checkpoint_of(output)
    simulations = begin_all(controller, options.seed, work.simulations)
    history: dict[str, np.ndarray] = {}
    course: dict[str, np.ndarray] = {}
    kept = restored(checkpoint, digest, simulations)
    if kept is not None:
        simulations, history, course, _ = kept
        log.info("resuming after control step %d from %s", len(history["state"]), checkpoint)
    done = len(history["state"]) if history else 0
    with Progress(steps, done, "control steps") as progress:
        while done < steps:
            # Whole chunks from the start, wherever a job was killed.
            count = min(work.chunk_size, steps - done)
            began = time.perf_counter()
            simulations, record = jax.block_until_ready(
                advance_all(
                    controller, options.seed, gathered(simulations), jnp.asarray(done), count
                )
            )
            seconds = time.perf_counter() - began
            history = _appended(history, record, done)
            course = _joined(course, {"seconds": [seconds], "steps": [count]})
            done += count
            spent = float(course["seconds"].sum())
            save(checkpoint, digest, Checkpoint(simulations, history, course, spent))
            progress.advance(
                count,
                failed=int(failed(history["clearance"].T, history["crashed"].T).sum()),
                fallback=float(np.mean(history["fallback"])),
            )
    timed = step_seconds(controller, options.seed, work.timed_steps)
    attributes = {
        "title": options.controller.name,
        "config": json.dumps(stated, sort_keys=True),
        "fingerprint": digest,
        "seconds": float(course["seconds"].sum()),
        "step_seconds": timed,
        "batch_step_seconds": _batch_seconds(course, work.simulations),
        **device.describe(),
    }
    truth = np.exp(np.asarray(simulations.truth)) * task.nominal
    write_dataset(output, _dataset(task, truth, history, attributes))
    checkpoint.unlink(missing_ok=True)
    log.info("%s: %d simulations, %.0f s", output, work.simulations, course["seconds"].sum())


def _first(controller: ControllerConfig, task: Task, prior: str | None):
    """Particles at the start that ``prior_from`` asks for; None if it asks for none."""
    earlier = controller.prior_from
    if earlier is None:
        if prior is not None:
            raise PdsimError(f"--prior-from is given, but {controller.name} has no prior_from")
        return None
    if prior is None:
        raise PdsimError(
            f"--prior-from is missing: {controller.name} starts from the posterior.nc of run "
            f"{earlier.run}, seed {earlier.seed}, of experiment {earlier.experiment}"
        )
    return first_particles(prior, earlier, task, controller.particles)


def _appended(history: dict, record: Record, first: int) -> dict[str, np.ndarray]:
    """Append a chunk's records; the particles of some steps only."""
    new = {name: np.asarray(values) for name, values in record._asdict().items()}
    kept = (first + 1 + np.arange(len(new["state"]))) % PARTICLES_EVERY == 0
    new["particles"] = new["particles"][kept]
    return _joined(history, new)


def _joined(before: dict[str, np.ndarray], new: dict) -> dict[str, np.ndarray]:
    if not before:
        return {name: np.asarray(values) for name, values in new.items()}
    return {name: np.concatenate([before[name], values]) for name, values in new.items()}


def step_seconds(controller: Controller, seed: int, steps: int) -> float:
    """Median time of a control step of one simulation alone, belief included [s]."""
    simulation = begin_all(controller, seed, 1)
    times = []
    for number in range(steps + 1):
        began = time.perf_counter()
        simulation, _ = jax.block_until_ready(
            advance_all(controller, seed, simulation, jnp.asarray(number), 1)
        )
        times.append(time.perf_counter() - began)
    # The first compiles.
    return float(np.median(times[1:]))


def _batch_seconds(course: dict[str, np.ndarray], simulations: int) -> float:
    """Median time of a control step and simulation where all advance together [s].

    The first chunk compiles, so it counts only where there is no other.
    """
    each = course["seconds"] / (course["steps"] * simulations)
    return float(np.median(each[1:] if len(each) > 1 else each))


def _dataset(task, truth: np.ndarray, history: dict, attributes: dict) -> xr.Dataset:
    """The log: dims (simulation, step, …); ``state`` and ``reference`` are after each step."""
    steps = len(history["state"])
    within = np.arange(steps) % task.lap_steps
    after = jnp.asarray((within + 1) * task.control_time)
    reference = np.stack([np.asarray(x) for x in task.reference(after)], axis=1)
    lower, upper = task.bounds

    def by_simulation(name, *dims):
        values = np.moveaxis(history[name], 1, 0)
        where = "kept" if name == "particles" else "step"
        return (("simulation", where, *dims), values)

    return xr.Dataset(
        {
            "state": by_simulation("state", "variable"),
            "input": by_simulation("input", "input_variable"),
            "mean": by_simulation("mean", "parameter"),
            "deviation": by_simulation("deviation", "parameter"),
            "particles": by_simulation("particles", "particle", "parameter"),
            **{
                name: by_simulation(name)
                for name in (
                    "safety",
                    "fallback",
                    "clearance",
                    "crashed",
                    "covers_truth",
                    "covers_draw",
                )
            },
            "truth": (("simulation", "parameter"), truth),
            "reference": (("step", "variable"), reference),
            "prior": (("limit", "parameter"), np.stack([lower, upper])),
        },
        coords={
            "simulation": np.arange(len(truth)),
            "step": np.arange(steps),
            "kept": np.arange(PARTICLES_EVERY - 1, steps, PARTICLES_EVERY),
            "lap": ("step", np.arange(steps) // task.lap_steps),
            "time": ("step", (np.arange(steps) + 1) * task.control_time, {"units": "s"}),
            "variable": [quantity.name for quantity in task.system.state],
            "unit": ("variable", [quantity.unit for quantity in task.system.state]),
            "input_variable": [quantity.name for quantity in task.system.inputs],
            "parameter": list(task.names),
            "limit": ["lower", "upper"],
        },
        attrs=attributes,
    )
