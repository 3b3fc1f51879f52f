"""Verbs to stages. Imports are local: a job pays only for the stage it runs."""

import argparse
import logging
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pdsim.cli.arguments import PLOT_FILES, parser
from pdsim.runtime.errors import PdsimError


def _check(a: argparse.Namespace) -> None:
    from pdsim.config.experiment import ExperimentConfig, load_any
    from pdsim.config.size import check_memory

    for path in a.experiments:
        experiment = load_any(path)
        if isinstance(experiment, ExperimentConfig):
            try:
                check_memory(experiment)
            except PdsimError as error:
                raise PdsimError(f"{path}: {error}") from None
        if a.data:
            from pdsim.cli.data import check_data

            check_data(path, experiment, a.raw)


def _doctor(a: argparse.Namespace) -> None:
    from pdsim.doctor.checks import examine
    from pdsim.runtime import device

    device.configure()
    wrong = []
    for finding in examine(a.results):
        sys.stdout.write(f"{finding.state:6}{finding.what:12}{finding.text}\n")
        sys.stdout.flush()
        if finding.state == "wrong":
            wrong.append(finding.what)
    if wrong:
        raise PdsimError(f"not fit: {', '.join(wrong)}")
    sys.stdout.write("fit\n")


def _export(a: argparse.Namespace) -> None:
    from pdsim.stages.export import export

    export(a.posterior, count=a.count, seed=a.seed, output=a.output)


def _new(a: argparse.Namespace) -> None:
    from pdsim.cli.new import new

    new(a)


def _fit(a: argparse.Namespace) -> int:
    from pdsim.cli.fit import fit

    return fit(a)


def _model(a: argparse.Namespace) -> None:
    from pdsim.systems.describe import describe

    sys.stdout.write(describe(a.file, tuple(a.ignore)) + "\n")


def _schema(a: argparse.Namespace) -> None:
    from pdsim.config.reference import write_reference

    write_reference(a.folder)


def _download(a: argparse.Namespace) -> None:
    from pdsim.recordings.ibm import download

    download(a.run, a.output)


def _gather(a: argparse.Namespace) -> None:
    if a.kind == "tuning":
        from pdsim.stages import tune

        return tune.gather(a.parts, a.output)
    if a.kind == "calibration":
        from pdsim.tables import calibration

        return calibration.gather(a.parts, a.output)
    from pdsim.metrics.long_format import COLUMNS, LEARNING_CURVE_COLUMNS, gather

    return gather(
        a.parts, a.output, LEARNING_CURVE_COLUMNS if a.kind == "learning_curve" else COLUMNS
    )


def _document(a: argparse.Namespace) -> None:
    from pdsim.report import documents

    if a.results:
        documents.collect(a.root, a.results)
    documents.write(a.root)


def _options(a: argparse.Namespace, experiment) -> Any:
    from pdsim.config.slices import slice_of

    stage = a.verb.replace("-", "_")
    budget = getattr(a, "budget", "")
    return slice_of(stage, experiment, run=getattr(a, "run", None) or "", budget=budget)


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


def _control(a: argparse.Namespace, experiment) -> None:
    from pdsim.stages.control import control

    control(experiment.run(a.controller, a.budget), output=a.output, prior=a.prior_from)


def _control_table(a: argparse.Namespace, experiment) -> None:
    from pdsim.stages.control_table import control_table

    control_table(experiment, logs=a.logs, folder=a.folder)


def _control_plot(a: argparse.Namespace, experiment) -> None:
    from pdsim.stages.control_plot import control_plot

    control_plot(experiment, a.figure, file=a.file, stem=a.stem)


def _control_report(a: argparse.Namespace, experiment) -> None:
    from pdsim.stages.control_report import control_report

    control_report(experiment, logs=a.logs, figures=a.figures, output=a.output)


_PLAIN: dict[str, Callable[[argparse.Namespace], int | None]] = {
    "new": _new,
    "fit": _fit,
    "check": _check,
    "doctor": _doctor,
    "export": _export,
    "model": _model,
    "schema": _schema,
    "document": _document,
    "download": _download,
    "gather": _gather,
}
_OF_AN_EXPERIMENT: dict[str, Callable[[argparse.Namespace, Any], None]] = {
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
_OF_CONTROL: dict[str, Callable[[argparse.Namespace, Any], None]] = {
    "control": _control,
    "control-table": _control_table,
    "control-plot": _control_plot,
    "control-report": _control_report,
}


# Verbs that keep a checkpoint beside their output.
_RESUMED = ("infer", "train", "calibrate", "control")


def _simulates(a: argparse.Namespace) -> bool:
    """Whether a verb that can simulate does: of figures, those that ask for the simulator."""
    from pdsim import registry

    figure = getattr(a, "figure", None)
    return figure is None or "simulator" in registry.load("figures", figure).FIGURE.sections


def _execute(a: argparse.Namespace) -> int | None:
    """Run a verb; an exit code where it is not 0."""
    if a.verb in _PLAIN:
        return _PLAIN[a.verb](a)
    if a.verb in _OF_CONTROL:
        from pdsim.config.experiment import load_control

        _OF_CONTROL[a.verb](a, load_control(a.experiment))
        return None
    from pdsim.config.earlier import with_earlier
    from pdsim.config.experiment import load_experiment
    from pdsim.config.next_prior import with_next_prior

    experiment = load_experiment(a.experiment)
    if hasattr(a, "fixed_from") and _simulates(a):
        experiment = with_earlier(experiment, a.fixed_from)
    if hasattr(a, "prior_from"):
        experiment = with_next_prior(experiment, a.prior_from)
    _OF_AN_EXPERIMENT[a.verb](a, experiment)
    return None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    a = parser().parse_args(arguments)
    # Other libraries tell what they do, not what the user's job does: their warnings only.
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s", stream=sys.stderr)
    logging.getLogger("pdsim").setLevel(logging.WARNING if a.quiet else logging.INFO)
    try:
        return _execute(a) or 0
    except PdsimError as error:
        sys.stderr.write(f"pdsim {a.verb}: {error}\n")
        return 2
    except KeyboardInterrupt:
        resumes = a.verb in _RESUMED
        rest = "; the same command goes on from the last checkpoint" if resumes else ""
        sys.stderr.write(f"pdsim {a.verb}: interrupted{rest}\n")
        return 130
