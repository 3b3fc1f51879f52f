"""The command line: one verb per stage. What a workflow rule runs, a person can run."""

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from pdsim.cli.arguments import PLOT_NEEDS, parser
from pdsim.runtime.errors import PdsimError


def _execute(a: argparse.Namespace) -> None:
    # Imports are local: a job pays only for the stage it runs.
    if a.verb == "gather":
        return _gather(a)
    if a.verb == "schema":
        from pdsim.config.reference import write_reference

        return write_reference(a.folder)
    if a.verb == "download":
        from pdsim.recordings.ibm import download

        return download(a.run, a.output)
    from pdsim.config.experiment import load_experiment

    if a.verb == "check":
        for path in a.experiments:
            load_experiment(path)
        return None
    experiment = load_experiment(a.experiment)
    system = experiment.simulator.system
    if a.verb == "record":
        from pdsim.stages.record import record

        return record(experiment.recording, system, a.output)
    if a.verb == "preprocess":
        from pdsim.stages.preprocess import preprocess

        return preprocess(experiment.recording, system, a.raw, a.output)
    if a.verb == "infer":
        from pdsim.config.experiment import check_method
        from pdsim.stages.infer import infer

        check_method(a.method, a.shooting)
        return infer(
            experiment.inference_options(a.method, a.shooting, experiment.budget(a.budget)),
            method=a.method,
            shooting=a.shooting,
            seed=a.seed,
            trajectories=a.trajectories,
            output=a.output,
            resume=a.resume,
        )
    if a.verb in ("training-set", "statistics", "train", "condition"):
        return _bayessim(a, experiment)
    if a.verb == "simulate":
        from pdsim.stages.simulate import simulate

        return simulate(
            experiment.section("simulator", "precision"),
            trajectories=a.trajectories,
            posterior=a.posterior,
            output=a.output,
        )
    if a.verb == "evaluate":
        from pdsim.stages.evaluate import evaluate

        return evaluate(
            experiment.section("simulator", "recording", "likelihood"),
            identity=_identity(a),
            trajectories=a.trajectories,
            posterior=a.posterior,
            rollouts=a.rollouts,
            output=a.output,
        )
    if a.verb == "course":
        from pdsim.stages.course import course

        return course(
            experiment.section("simulator", "recording", "likelihood", "precision"),
            identity=_identity(a),
            trajectories=a.trajectories,
            posterior=a.posterior,
            output=a.output,
        )
    if a.verb == "tune":
        from pdsim.config.experiment import check_method
        from pdsim.stages.tune import tune

        check_method(a.method, a.shooting)
        name = Path(a.experiment).stem
        return tune(experiment, name, a.method, a.shooting, a.trajectories, a.output)
    if a.verb == "table":
        from pdsim.stages.summarise import write_table_3, write_tables

        if a.table_3:
            return write_table_3(experiment, a.metrics, a.table_3)
        return write_tables(experiment, a.metrics, a.folder, a.rollouts)
    if a.verb == "plot":
        return _plot(a, experiment)
    from pdsim.stages.summarise import write_report

    return write_report(
        experiment,
        metrics=a.metrics,
        trajectories=a.trajectories,
        posteriors=a.posteriors,
        figures=a.figures,
        output=a.output,
    )


def _bayessim(a: argparse.Namespace, experiment) -> None:
    options = experiment.bayessim_options(experiment.budget(a.budget))
    if a.verb in ("train", "condition") and a.variant not in experiment.bayessim.variants():
        raise PdsimError(
            f"{a.experiment}: bayessim: no variant {a.variant!r}; there are: "
            f"{', '.join(experiment.bayessim.variants())}"
        )
    if a.verb == "training-set":
        from pdsim.stages.training_set import training_set

        return training_set(options, trajectories=a.trajectories, output=a.output)
    if a.verb == "statistics":
        from pdsim.stages.statistics import statistics

        return statistics(
            options,
            name=a.name,
            trajectories=a.trajectories,
            training_set=a.training_set,
            output=a.output,
        )
    if a.verb == "train":
        from pdsim.stages.train import train

        return train(
            options, variant=a.variant, seed=a.seed, statistics=a.statistics, output=a.output
        )
    from pdsim.stages.condition import condition

    return condition(
        options,
        variant=a.variant,
        seed=a.seed,
        trajectories=a.trajectories,
        statistics=a.statistics,
        trained=a.trained,
        output=a.output,
    )


def _identity(a: argparse.Namespace) -> dict:
    return {
        "experiment": Path(a.experiment).stem,
        "method": a.method,
        "shooting": a.shooting,
        "seed": a.seed,
    }


def _gather(a: argparse.Namespace) -> None:
    if a.kind == "tuning":
        from pdsim.stages import tune

        return tune.gather(a.parts, a.output)
    from pdsim.metrics.long_format import COLUMNS, COURSE_COLUMNS, gather

    return gather(a.parts, a.output, COURSE_COLUMNS if a.kind == "course" else COLUMNS)


def _plot(a: argparse.Namespace, experiment) -> None:
    missing = [f"--{name}" for name in PLOT_NEEDS[a.kind] if not getattr(a, name)]
    if missing:
        raise PdsimError(f"pdsim plot {a.kind} needs {' '.join(missing)}")
    if a.kind == "landscape" and experiment.landscape is None:
        raise PdsimError(f"{a.experiment}: landscape: this key is missing; name two parameters")
    from pdsim.stages import plot

    if a.kind == "density":
        plot.plot_density(
            experiment,
            a.method,
            a.shooting,
            trajectories=a.trajectories,
            rollouts=a.rollouts[0],
            stem=a.stem,
        )
    elif a.kind == "densities":
        plot.plot_densities(experiment, a.trajectories, a.rollouts, a.posterior, a.stem)
    elif a.kind == "posterior":
        plot.plot_posterior(
            experiment, a.method, a.shooting, posterior_file=a.posterior[0], stem=a.stem
        )
    elif a.kind == "posteriors":
        plot.plot_posteriors(experiment, a.posterior, a.stem)
    elif a.kind == "windows":
        plot.plot_windows(
            experiment,
            a.method,
            trajectories=a.trajectories,
            posterior_file=a.posterior[0],
            stem=a.stem,
        )
    elif a.kind == "convergence":
        plot.plot_convergence(experiment, a.posterior, a.stem)
    elif a.kind == "course":
        plot.plot_course(experiment, a.course, a.stem)
    elif a.kind == "statistics":
        plot.plot_statistics(experiment, a.trajectories, a.statistics, a.stem)
    elif a.kind == "training":
        plot.plot_training(experiment, a.trained, a.stem)
    elif a.kind == "calibration":
        plot.plot_calibration(experiment, a.statistics, a.trained, a.stem)
    else:
        plot.plot_landscape(experiment, a.trajectories, a.stem)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    a = parser().parse_args(arguments)
    # Other libraries tell what they do, not what the user's job does: their warnings only.
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s", stream=sys.stderr)
    logging.getLogger("pdsim").setLevel(logging.WARNING if a.quiet else logging.INFO)
    try:
        _execute(a)
    except PdsimError as error:
        sys.stderr.write(f"pdsim {a.verb}: {error}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write(f"pdsim {a.verb}: interrupted\n")
        return 130
    return 0
