"""The command line: one verb per stage. What a workflow rule runs, a person can run."""

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from pdsim import __version__
from pdsim.errors import PdsimError
from pdsim.settings import SETTINGS

_EPILOG = """\
The stages in their order, by hand, for one estimator:

  pdsim record     config/experiments/demo.yaml --output raw
  pdsim preprocess config/experiments/demo.yaml --raw raw --output trajectories.nc
  pdsim infer      config/experiments/demo.yaml --method csvgd --shooting multiple \\
                   --trajectories trajectories.nc --output posterior.nc
  pdsim simulate   config/experiments/demo.yaml --trajectories trajectories.nc \\
                   --posterior posterior.nc --output rollouts.nc
  pdsim evaluate   config/experiments/demo.yaml --method csvgd --shooting multiple \\
                   --trajectories trajectories.nc --posterior posterior.nc \\
                   --rollouts rollouts.nc --output metrics.csv

All of them at once, in parallel and only what is missing:  snakemake demo --profile \
workflow/profiles/workstation

exit codes: 0 done, 1 a bug (with a stack trace), 2 something to mend (the message says what),
130 interrupted
"""


# Figures, and the options each needs.
_PLOT_NEEDS = {
    "density": ("method", "shooting", "trajectories", "rollouts"),
    "densities": ("trajectories", "rollouts", "posterior"),
    "posterior": ("method", "shooting", "posterior"),
    "posteriors": ("posterior",),
    "windows": ("method", "trajectories", "posterior"),
    "convergence": ("posterior",),
    "course": ("course",),
    "landscape": ("trajectories",),
    "statistics": ("trajectories", "statistics"),
    "training": ("trained",),
    "calibration": ("statistics", "trained"),
}


def _experiment(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("experiment", help="an experiment file, config/experiments/<name>.yaml")


def _run(parser: argparse.ArgumentParser, *, budget: bool = False) -> None:
    parser.add_argument("--method", required=True, help=f"estimator: {', '.join(SETTINGS)}")
    parser.add_argument("--shooting", required=True, choices=("single", "multiple"))
    parser.add_argument("--seed", type=int, default=0, help="of all random numbers (default 0)")
    if budget:
        parser.add_argument("--budget", default="paper", help="quick or paper (default)")


def _scored(parser: argparse.ArgumentParser) -> None:
    """Options of stages that read a posterior of any kind."""
    parser.add_argument("--method", required=True, help=f"{', '.join(SETTINGS)}, bayessim")
    parser.add_argument(
        "--shooting", required=True, help="single, multiple; of bayessim, the variant"
    )
    parser.add_argument("--seed", type=int, default=0, help="of all random numbers (default 0)")


def _variant(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--variant", required=True, help="<statistic>_<density>")
    parser.add_argument("--seed", type=int, default=0, help="of all random numbers (default 0)")


def _files(parser: argparse.ArgumentParser, *names: str) -> None:
    for name in names:
        parser.add_argument(f"--{name}", required=True, metavar="FILE")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pdsim",
        description="Probability distributions over simulator parameters, from recordings.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"pdsim {__version__}")
    parser.add_argument("--quiet", action="store_true", help="only warnings and errors")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="verb")

    def verb(name: str, text: str) -> argparse.ArgumentParser:
        return verbs.add_parser(name, help=text, description=text)

    p = verb("check", "Check experiment files, and print nothing if all is well.")
    p.add_argument("experiments", nargs="+", metavar="experiment")

    p = verb("schema", "Write the JSON schemas of the config files and the table of their keys.")
    p.add_argument("--folder", default="config", help="where (default: config)")

    p = verb("download", "Fetch one IBM run from the public copy, and check it.")
    p.add_argument("--run", type=int, required=True)
    _files(p, "output")

    p = verb("record", "Record all runs with the experiment's synthetic camera into a folder.")
    _experiment(p)
    p.add_argument("--output", required=True, metavar="FOLDER")

    p = verb("preprocess", "Raw runs to a trajectories file: angles, differences, windows.")
    _experiment(p)
    p.add_argument(
        "--raw", nargs="+", required=True, metavar="FILE", help="<run>.csv files, or folder"
    )
    _files(p, "output")

    p = verb("infer", "Trajectories to a posterior, with one estimator.")
    _experiment(p)
    _run(p, budget=True)
    _files(p, "trajectories", "output")
    p.add_argument(
        "--resume",
        choices=("auto", "require", "never"),
        default="auto",
        help="continue from the checkpoint beside the output: if it fits (auto, the default), or "
        "fail (require), or start afresh (never)",
    )

    p = verb("training-set", "Simulate parameters from the prior, for BayesSim to learn from.")
    _experiment(p)
    p.add_argument("--budget", default="paper", help="quick or paper (default)")
    _files(p, "trajectories", "output")

    p = verb("statistics", "One input statistic of every simulated and recorded trajectory.")
    _experiment(p)
    p.add_argument("--budget", default="paper", help="quick or paper (default)")
    p.add_argument("--name", required=True, help="downsampled, difference, summary or signature")
    _files(p, "trajectories", "training-set", "output")

    p = verb("train", "Fit one density model to one input statistic.")
    _experiment(p)
    _variant(p)
    p.add_argument("--budget", default="paper", help="quick or paper (default)")
    _files(p, "statistics", "output")

    p = verb("condition", "A trained density and the recording to a posterior.")
    _experiment(p)
    _variant(p)
    p.add_argument("--budget", default="paper", help="quick or paper (default)")
    _files(p, "trajectories", "statistics", "trained", "output")

    p = verb("simulate", "Roll out every posterior draw from every recorded start state.")
    _experiment(p)
    _files(p, "trajectories", "posterior", "output")

    p = verb("evaluate", "Metrics of one posterior.")
    _experiment(p)
    _scored(p)
    _files(p, "trajectories", "posterior", "rollouts", "output")

    p = verb("course", "Metrics of one posterior after more and more roll-outs.")
    _experiment(p)
    _run(p)
    _files(p, "trajectories", "posterior", "output")

    p = verb("gather", "Metrics of all runs, or their courses or searches, into one file.")
    p.add_argument("parts", nargs="+", metavar="FILE")
    p.add_argument("--kind", choices=("metrics", "course", "tuning"), default="metrics")
    p.add_argument("--output", required=True, metavar="FILE", help="for tuning: without suffix")

    p = verb("table", "Metrics to the tables, each as CSV, Markdown and LaTeX.")
    _experiment(p)
    _files(p, "metrics")
    p.add_argument("--rollouts", type=int, help="cut at so many roll-outs; needs a course")
    where = p.add_mutually_exclusive_group(required=True)
    where.add_argument("--folder", help="where the tables go")
    where.add_argument("--table-3", metavar="STEM", help="BayesSim's table alone, without suffix")

    p = verb("tune", "Search an estimator's settings on the training recordings alone.")
    _experiment(p)
    p.add_argument("--method", required=True, help=f"estimator: {', '.join(SETTINGS)}")
    p.add_argument("--shooting", required=True, choices=("single", "multiple"))
    _files(p, "trajectories", "output")

    p = verb("plot", "Draw a figure as PDF and PNG.")
    p.add_argument("kind", choices=tuple(_PLOT_NEEDS))
    _experiment(p)
    p.add_argument("--method")
    p.add_argument("--shooting", help="single, multiple; of bayessim, the variant")
    for name in ("trajectories", "course"):
        p.add_argument(f"--{name}", metavar="FILE")
    for name in ("rollouts", "posterior", "statistics", "trained"):
        p.add_argument(f"--{name}", nargs="+", metavar="FILE", default=[])
    p.add_argument("--stem", required=True, help="output path without suffix")

    p = verb("report", "Write the HTML report of an experiment.")
    _experiment(p)
    _files(p, "metrics", "trajectories", "output")
    p.add_argument("--posteriors", nargs="+", required=True, metavar="FILE")
    p.add_argument("--figures", nargs="+", required=True, metavar="PNG")
    return parser


def _execute(a: argparse.Namespace) -> None:
    # Imports are local: a job pays only for the stage it runs.
    if a.verb == "gather":
        return _gather(a)
    if a.verb == "schema":
        from pdsim.reference import write_reference

        return write_reference(a.folder)
    if a.verb == "download":
        from pdsim.recordings.ibm import download

        return download(a.run, a.output)
    from pdsim.config import load_experiment

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
        from pdsim.config import check_method
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
        from pdsim.config import check_method
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
    missing = [f"--{name}" for name in _PLOT_NEEDS[a.kind] if not getattr(a, name)]
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
    a = _parser().parse_args(arguments)
    logging.basicConfig(
        level=logging.WARNING if a.quiet else logging.INFO,
        format="%(levelname)s %(name)s: %(message)s",
        stream=sys.stderr,
    )
    logging.getLogger("matplotlib").setLevel(logging.WARNING)
    try:
        _execute(a)
    except PdsimError as error:
        sys.stderr.write(f"pdsim {a.verb}: {error}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write(f"pdsim {a.verb}: interrupted\n")
        return 130
    return 0
