"""Verbs of an experiment to stages. Imports are local: a job pays only for the stage it runs."""

import argparse
import logging
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pdsim.cli.arguments import PLOT_FILES
from pdsim.runtime.errors import PdsimError

log = logging.getLogger(__name__)


# Verbs of one posterior.
_SCORING = ("simulate", "predict", "evaluate", "learning-curve")
# Verbs that show several → the option that names them.
_SHOWING = {"plot": "posterior", "report": "posteriors"}


def _options(a: argparse.Namespace, experiment) -> Any:
    """The slice of the verb's stage, once its files are known to go with the experiment."""
    from pdsim.experiment.slices import slice_of

    stage = a.verb.replace("-", "_")
    budget = getattr(a, "budget", "")
    options = slice_of(stage, experiment, run=getattr(a, "run", None) or "", budget=budget)
    _check_files(a, experiment)
    return options


def _check_files(a: argparse.Namespace, experiment) -> None:
    """Refuse files of earlier stages that were made with another experiment; ``--force`` warns.

    Raises:
        PdsimError: names the file, the key and both values.
    """
    from pdsim.experiment.checks.made_with import check_posterior, check_trajectories
    from pdsim.posterior import open_posterior, read_posterior
    from pdsim.runtime.kinds import KINDS, check_kind, check_same_recordings

    for option in KINDS:
        for path in _listed(getattr(a, option, None)):
            check_kind(path, option)
    for path in _listed(getattr(a, "trajectories", None)):
        _forced(a, partial(check_trajectories, path, experiment))
    if a.verb in _SCORING:
        posterior = open_posterior(a.posterior)
        whose = {} if a.verb == "simulate" else {"run": a.run, "seed": a.seed}
        if a.verb == "predict":
            # Its seed is that of the noise it draws.
            del whose["seed"]
        _forced(a, partial(check_posterior, posterior, experiment, **whose))
    for path in (*_listed(getattr(a, "rollouts", None)), *_listed(getattr(a, "prediction", None))):
        check_same_recordings(path, _listed(a.trajectories))
    for path in getattr(a, _SHOWING.get(a.verb, ""), ()):
        read_posterior(path, force=a.force)


def _listed(given: Any) -> Sequence[str]:
    """The files of an option that takes one, several or none; of a number of that name, none."""
    if isinstance(given, str):
        return [given]
    return given if isinstance(given, list) else []


def _forced(a: argparse.Namespace, check: Callable[[], None]) -> None:
    """Make a check, or tell what it finds where the user wants the file all the same."""
    try:
        check()
    except PdsimError as error:
        if not a.force:
            raise
        log.warning("%s; taken as it is", error)


def _record(a: argparse.Namespace, experiment) -> None:
    from pdsim.stages.record import record

    record(_options(a, experiment), output=a.output)


def _preprocess(a: argparse.Namespace, experiment) -> None:
    from pdsim.cli.data import read_raw

    read_raw(experiment, a.raw, a.output)


def _preflight(a: argparse.Namespace, experiment) -> None:
    from pdsim.cli.data import read_trajectories
    from pdsim.stages import preflight

    options = _options(a, experiment)
    if a.output:
        if a.trajectories is None:
            raise PdsimError("--output: needs --trajectories, the file that it is about")
        return preflight.write(options, trajectories=a.trajectories, output=a.output)
    with read_trajectories(experiment, a.raw, a.trajectories) as trajectories:
        found = preflight.preflight(options, trajectories)
    if found.findings is None:
        raise PdsimError(f"{a.experiment}: {found.reason}")
    lines = found.findings.lines() + [cost.line(run) for run, cost in found.costs.items()]
    sys.stdout.write("\n".join(lines) + "\n")
    return found.findings.check(a.experiment)


def _infer(a: argparse.Namespace, experiment) -> None:
    from pdsim.stages.infer import infer

    infer(
        _options(a, experiment),
        identity=experiment.run(a.run).identity,
        seed=a.seed,
        trajectories=a.trajectories,
        output=a.output,
        resume=a.resume,
        cores=a.cores,
    )


def _training_set(a: argparse.Namespace, experiment) -> None:
    from pdsim.stages.training_set import training_set

    training_set(_options(a, experiment), trajectories=a.trajectories, output=a.output)


def _statistics(a: argparse.Namespace, experiment) -> None:
    from pdsim.stages.statistics import statistics

    statistics(
        _options(a, experiment),
        name=a.name,
        trajectories=a.trajectories,
        training_set=a.training_set,
        output=a.output,
    )


def _variant(experiment, run: str):
    """The identity of a BayesSim variant's run."""
    identity = experiment.identity(run)
    if identity.method != "bayessim":
        raise PdsimError(
            f"{run} is an estimator's run, and not trained; BayesSim's are: "
            f"{', '.join(i.run for i in experiment.variants())}"
        )
    return identity


def _train(a: argparse.Namespace, experiment) -> None:
    from pdsim.stages.train import train

    variant = _variant(experiment, a.run).run.removeprefix("bayessim_")
    options = _options(a, experiment)
    train(options, variant=variant, seed=a.seed, statistics=a.statistics, output=a.output)


def _condition(a: argparse.Namespace, experiment) -> None:
    from pdsim.stages.condition import condition

    condition(
        _options(a, experiment),
        identity=_variant(experiment, a.run),
        seed=a.seed,
        trajectories=a.trajectories,
        statistics=a.statistics,
        trained=a.trained,
        output=a.output,
    )


def _simulate(a: argparse.Namespace, experiment) -> None:
    from pdsim.stages.simulate import simulate

    simulate(
        _options(a, experiment),
        trajectories=a.trajectories,
        posterior=a.posterior,
        output=a.output,
        force=a.force,
    )


def _predict(a: argparse.Namespace, experiment) -> None:
    from pdsim.stages.predict import predict

    if experiment.prediction is None:
        raise PdsimError(f"{a.experiment}: prediction: this section is missing")
    predict(
        _options(a, experiment),
        seed=a.seed,
        trajectories=a.trajectories,
        posterior=a.posterior,
        output=a.output,
        force=a.force,
    )


def _scored(a: argparse.Namespace, experiment) -> dict[str, Any]:
    """What the stages share that score a posterior."""
    return {
        "experiment": Path(a.experiment).stem,
        "identity": experiment.identity(a.run),
        "seed": a.seed,
        "trajectories": a.trajectories,
        "posterior": a.posterior,
        "output": a.output,
        "force": a.force,
    }


def _evaluate(a: argparse.Namespace, experiment) -> None:
    from pdsim.stages.evaluate import evaluate

    if experiment.prediction is not None and a.prediction is None:
        raise PdsimError(f"{a.experiment} has a section prediction: evaluate needs --prediction")
    evaluate(
        _options(a, experiment),
        rollouts=a.rollouts,
        prediction=a.prediction,
        reference=a.reference,
        **_scored(a, experiment),
    )


def _learning_curve(a: argparse.Namespace, experiment) -> None:
    from pdsim.stages.learning_curve import learning_curve

    learning_curve(_options(a, experiment), **_scored(a, experiment))


def _tune(a: argparse.Namespace, experiment) -> None:
    from pdsim.stages.tune import tune

    tune(
        _options(a, experiment),
        experiment=Path(a.experiment).stem,
        identity=experiment.run(a.run).identity,
        trajectories=a.trajectories,
        output=a.output,
    )


def _calibrate(a: argparse.Namespace, experiment) -> None:
    from pdsim.stages.calibrate import calibrate

    identity = experiment.run(a.run).identity
    if identity not in experiment.calibrated():
        raise PdsimError(
            f"{a.run}: not to be calibrated: the experiment has no section calibration, or this "
            "run has multiple shooting"
        )
    calibrate(
        _options(a, experiment), identity=identity, trajectories=a.trajectories, output=a.output
    )


def _table(a: argparse.Namespace, experiment) -> None:
    from pdsim.stages.table import write_table_3, write_tables

    options = _options(a, experiment)
    if a.table_3:
        return write_table_3(options, a.metrics, a.table_3)
    return write_tables(options, a.metrics, a.folder, a.rollouts)


def _plot(a: argparse.Namespace, experiment) -> None:
    from pdsim import registry
    from pdsim.figures.figure import Request
    from pdsim.stages.plot import plot

    sections = registry.load("figures", a.figure).FIGURE.sections
    _check_files(a, experiment)
    plot(
        a.figure,
        Request(
            sections={name: getattr(experiment, name) for name in sections},
            identity=experiment.identity(a.run) if a.run else None,
            files={name: getattr(a, name) for name in PLOT_FILES},
            stem=a.stem,
        ),
    )


def _report(a: argparse.Namespace, experiment) -> None:
    from pdsim.stages.report import write_report

    write_report(
        _options(a, experiment),
        metrics=a.metrics,
        trajectories=a.trajectories,
        posteriors=a.posteriors,
        preflight=a.preflight,
        figures=a.figures,
        output=a.output,
    )


VERBS: dict[str, Callable[[argparse.Namespace, Any], None]] = {
    "record": _record,
    "preprocess": _preprocess,
    "preflight": _preflight,
    "infer": _infer,
    "training-set": _training_set,
    "statistics": _statistics,
    "train": _train,
    "condition": _condition,
    "simulate": _simulate,
    "predict": _predict,
    "evaluate": _evaluate,
    "learning-curve": _learning_curve,
    "tune": _tune,
    "calibrate": _calibrate,
    "table": _table,
    "plot": _plot,
    "report": _report,
}
