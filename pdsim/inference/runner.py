"""The runner every estimator shares: chunks of iterations, progress, checkpoints, resume."""

import logging
import time
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pdsim.errors import PdsimError
from pdsim.inference.checkpoint import Checkpoint, load, save
from pdsim.inference.estimator import Estimator, Info
from pdsim.likelihood.problem import Problem
from pdsim.progress import Progress

log = logging.getLogger(__name__)


class RunResult(NamedTuple):
    """A finished run.

    Attributes:
        state: the estimator's last state.
        history: one array per field of ``Info``, plus ``seconds``, ``rollouts`` and ``gradients``
            used so far, one value per iteration.
    """

    state: Any
    history: dict[str, np.ndarray]


@partial(jax.jit, static_argnames=("estimator", "length"))
def _chunk(estimator: Estimator, problem: Problem, key, state, first, length: int):
    """Do ``length`` iterations. Keys depend on the iteration's number alone, so a run that is cut
    and resumed draws the same numbers as one that is not."""

    def iterate(state, iteration):
        return estimator.step(jax.random.fold_in(key, iteration), problem, state)

    return jax.lax.scan(iterate, state, first + jnp.arange(length))


def run(
    estimator: Estimator,
    problem: Problem,
    *,
    seed: int,
    chunk_size: int,
    fingerprint: str = "",
    checkpoint: str | Path | None = None,
    resume: str = "auto",
) -> RunResult:
    """Run an estimator to its last iteration.

    Args:
        seed: same seed, same machine: same result.
        chunk_size: iterations between progress reports and checkpoints.
        fingerprint: of config, data and code; a checkpoint is only used if it has the same.
        checkpoint: where to save the state after each chunk; removed by the caller once the
            result is on disk.
        resume: "auto" continues from a checkpoint of this problem and ignores, with a warning,
            one of another; "require" refuses to start without; "never" starts afresh.

    Raises:
        PdsimError: ``require`` without a usable checkpoint; or every particle diverged.
    """
    key = jax.random.key(seed)
    state = estimator.init(key, problem)
    history: dict[str, np.ndarray] = {}
    seconds = 0.0
    if checkpoint is not None and resume != "never":
        restored = _restore(Path(checkpoint), fingerprint, state, resume)
        if restored is not None:
            state, history, seconds = restored
    done = len(history.get("seconds", ()))
    total = estimator.iteration_count
    with Progress(total, done, "iterations") as progress:
        while done < total:
            length = min(chunk_size, total - done)
            began = time.perf_counter()
            state, info = jax.block_until_ready(
                _chunk(estimator, problem, key, state, jnp.array(done), length)
            )
            spent = time.perf_counter() - began
            history = _extend(history, info, seconds, spent, estimator, problem)
            seconds += spent
            done += length
            if checkpoint is not None and done < total:
                save(checkpoint, fingerprint, Checkpoint(state, history, seconds))
            progress.advance(
                length,
                objective=history["log_likelihood"][-1],
                defect=history["max_defect"][-1],
                diverging=int(history["diverging"][-1]),
            )
            if history["diverging"][-1] == estimator.particle_count:
                raise PdsimError(
                    f"after {done} iterations every particle's roll-out is not finite; "
                    "lower the estimator's step_size, set gradient_limit, or narrow the limits"
                )
    return RunResult(state, history)


def _restore(path: Path, fingerprint: str, template, resume: str) -> Checkpoint | None:
    if not path.exists():
        if resume == "require":
            raise PdsimError(f"{path}: no checkpoint to resume from; use --resume auto")
        return None
    try:
        restored = load(path, fingerprint, template)
    except PdsimError as error:
        if resume == "require":
            raise
        log.warning("not resuming: %s", error)
        return None
    log.info("resuming after iteration %d from %s", len(restored.history["seconds"]), path)
    return restored


def _extend(history, info: Info, before: float, spent: float, estimator, problem):
    """Append a chunk's iterations to the history."""
    length = len(info.log_likelihood)
    done = len(history.get("seconds", ()))
    counts = (done + 1 + np.arange(length)) * estimator.particle_count * problem.rollout_count
    new = {name: np.asarray(values) for name, values in info._asdict().items()}
    new["seconds"] = before + spent * (1 + np.arange(length)) / length
    new["rollouts"] = new["gradients"] = counts
    return {
        name: np.concatenate([history[name], values]) if done else values
        for name, values in new.items()
    }
