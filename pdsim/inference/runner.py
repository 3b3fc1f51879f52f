"""The runner every estimator shares: chunks of work, progress, checkpoints, resume, and an end."""

import logging
import time
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from pdsim.inference.divergence import all_finite
from pdsim.inference.estimator import Done, Estimator, Info
from pdsim.likelihood.problem import Position, Problem
from pdsim.runtime.checkpoint import Checkpoint, restored, save
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.progress import Progress

log = logging.getLogger(__name__)

# Iterations of all particles after which the draws are kept, besides the end of each chunk.
_EARLY = (1, 2, 5, 10, 20, 50)


class RunResult(NamedTuple):
    """A finished run.

    Attributes:
        state: the estimator's last state.
        history: one array per field of ``Info`` and column of the method's own, plus ``seconds``,
            ``rollouts`` and ``gradients`` used so far, one value per iteration.
        course: ``draws`` (snapshot, particle, M) in unit coordinates, NaN where there were fewer,
            and ``rollouts`` and ``seconds`` (snapshot,) used by then.
        ended: "budget", "time", or "converged" if further iterations would change nothing.
    """

    state: Any
    history: dict[str, np.ndarray]
    course: dict[str, np.ndarray]
    ended: str


def run(
    estimator: Estimator,
    problem: Problem,
    *,
    seed: int,
    chunk_size: int,
    seconds: float | None = None,
    fingerprint: str = "",
    checkpoint: str | Path | None = None,
    resume: str = "auto",
    report: bool = True,
) -> RunResult:
    """Run an estimator until its budget is spent, or until it has converged.

    The budget is ``particle_count · iteration_count`` evaluations, which no estimator exceeds.

    Args:
        seed: same seed, same machine: same result.
        chunk_size: iterations of all particles between progress reports and checkpoints.
        seconds: time after which the run ends with what it has, at the end of a chunk.
        fingerprint: of config, data and code; a checkpoint is only used if it has the same.
        checkpoint: where to save the state after each chunk; removed by the caller once the
            result is on disk.
        resume: "auto" continues from a checkpoint of this problem and ignores, with a warning,
            one of another; "require" refuses to start without; "never" starts afresh.
        report: whether to tell of progress; a caller with many runs tells of its own.

    Raises:
        PdsimError: the budget does not pay for a first result; ``require`` without a usable
            checkpoint; every particle diverged; or draws at the end that are not finite.
    """
    total = estimator.particle_count * estimator.iteration_count
    cost = estimator.cost(problem)
    _check_affordable(estimator, estimator.least_budget(problem), total)
    state = estimator.init(problem, seed)
    history: dict[str, np.ndarray] = {}
    course: dict[str, np.ndarray] = {}
    spent = 0.0
    if checkpoint is not None and resume != "never":
        kept = restored(checkpoint, fingerprint, state, required=resume == "require")
        if kept is not None:
            state, history, course, spent = kept
            log.info("resuming after iteration %d from %s", len(history["seconds"]), checkpoint)
    chunk = estimator.particle_count * chunk_size
    marks = [estimator.particle_count * early for early in _EARLY if early < chunk_size]
    ended = "budget"
    done = _done(history)
    with Progress(total, done.evaluations, "evaluations", shown=report) as progress:
        while done.evaluations + cost <= total:
            if estimator.finished(problem, state):
                ended = "converged"
                level = logging.INFO if report else logging.DEBUG
                log.log(level, "converged after %d of %d evaluations", done.evaluations, total)
                break
            if seconds is not None and done.iterations > 0 and spent >= seconds:
                ended = "time"
                log.warning("ended after %.0f s, with %d of %d evaluations", spent, done[1], total)
                break
            later = [mark for mark in marks if mark > done.evaluations]
            following = (done.evaluations // chunk + 1) * chunk
            until = min(max(min([*later, following]), done.evaluations + cost), total)
            began = time.perf_counter()
            state, info = jax.block_until_ready(
                estimator.advance(
                    problem, state, seed=seed, done=done, until=until, capacity=chunk + cost
                )
            )
            lasted = time.perf_counter() - began
            history = _extend(history, info, spent, lasted, estimator, problem)
            spent += lasted
            before, done = done, _done(history)
            course = _snapshot(course, estimator, problem, state, history)
            if checkpoint is not None and done.evaluations + cost <= total:
                save(checkpoint, fingerprint, Checkpoint(state, history, course, spent))
            progress.advance(
                done.evaluations - before.evaluations,
                objective=history["log_likelihood"][-1],
                defect=history["max_defect"][-1],
                diverging=int(history["diverging"][-1]),
            )
            _check_alive(history, done)
    _check_draws(estimator.draws(problem, state))
    return RunResult(state, history, course, ended)


def _done(history: dict[str, np.ndarray]) -> Done:
    evaluations = history.get("evaluations", np.zeros(0))
    return Done(len(evaluations), int(evaluations.sum()))


def _check_affordable(estimator: Estimator, cost: int, total: int) -> None:
    if cost > total:
        remedy = f", or {estimator.cheaper}" if estimator.cheaper else ""
        raise PdsimError(
            f"a first result costs up to {cost} evaluations, and the budget has {total} "
            f"(particle_count {estimator.particle_count} · iteration_count "
            f"{estimator.iteration_count}); raise iteration_count to at least "
            f"{-(-cost // estimator.particle_count)}{remedy}"
        )


def _check_draws(draws: Position) -> None:
    finite = np.asarray(all_finite(draws))
    if not finite.all():
        raise PdsimError(
            f"{(~finite).sum()} of {len(finite)} draws are not finite; choose smaller steps in the "
            "estimator's settings, or narrow the limits"
        )


def _check_alive(history: dict[str, np.ndarray], done: Done) -> None:
    # The median over the particles is not a number only if none has a value.
    if np.isnan(history["log_likelihood"][-1]):
        raise PdsimError(
            f"after {done.iterations} iterations every particle's roll-out is not finite; "
            "choose smaller steps in the estimator's settings, or narrow the limits"
        )


def _extend(history, info: Info, before: float, lasted: float, estimator, problem):
    """Append a chunk's iterations to the history."""
    common = info._asdict()
    new = {name: np.asarray(values) for name, values in (common | common.pop("own")).items()}
    length = len(new["evaluations"])
    used = _done(history).evaluations + np.cumsum(new["evaluations"])
    new["seconds"] = before + lasted * (1 + np.arange(length)) / length
    new["rollouts"] = used * problem.rollout_count
    new["gradients"] = new["rollouts"] * estimator.uses_gradients
    return {
        name: np.concatenate([history[name], values]) if history else values
        for name, values in new.items()
    }


def _snapshot(course, estimator: Estimator, problem: Problem, state, history):
    """Append the draws as they stand to the course."""
    draws = np.asarray(estimator.draws(problem, state).parameters)
    padded = np.full((estimator.particle_count, draws.shape[1]), np.nan)
    padded[: len(draws)] = draws
    new = {
        "draws": padded[None],
        "rollouts": history["rollouts"][-1:],
        "seconds": history["seconds"][-1:],
    }
    return {
        name: np.concatenate([course[name], values]) if course else values
        for name, values in new.items()
    }
