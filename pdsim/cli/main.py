"""Verbs to stages. Imports are local: a job pays only for the stage it runs."""

import argparse
import logging
import os
import sys
from collections.abc import Callable, Sequence

from pdsim.cli import of_an_experiment, of_control
from pdsim.cli.arguments import parser
from pdsim.runtime.environment import check_environment
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.memory import out_of_memory, too_little


def _check(a: argparse.Namespace) -> None:
    from pdsim.experiment.checks.size import check_memory
    from pdsim.experiment.load import load_any
    from pdsim.experiment.model import ExperimentConfig
    from pdsim.experiment.workflow import check_paths, workflow_config

    for path in a.experiments:
        experiment = load_any(path)
        workflow_config({"groups": {}, "experiment": path}, path)
        if isinstance(experiment, ExperimentConfig):
            check_paths(experiment, path)
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

    export(a.posterior, count=a.count, seed=a.seed, output=a.output, force=a.force)


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
    from pdsim.experiment.reference import write_reference

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
    if a.verb in of_control.VERBS:
        from pdsim.experiment.load import load_control

        controlled = load_control(a.experiment)
        _check_output(a)
        of_control.VERBS[a.verb](a, controlled)
        return None
    from pdsim.experiment.earlier import with_earlier
    from pdsim.experiment.load import load_experiment
    from pdsim.experiment.next_prior import with_next_prior

    experiment = load_experiment(a.experiment)
    if hasattr(a, "fixed_from") and _simulates(a):
        experiment = with_earlier(experiment, a.fixed_from)
    if hasattr(a, "prior_from"):
        experiment = with_next_prior(experiment, a.prior_from)
    _check_output(a)
    of_an_experiment.VERBS[a.verb](a, experiment)
    return None


def _check_output(a: argparse.Namespace) -> None:
    """Refuse an output that cannot be written, before the work; a folder its stage looks at."""
    from pdsim.runtime.files import check_output

    if a.verb != "record" and getattr(a, "output", None):
        check_output(a.output)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    a = parser().parse_args(arguments)
    # Other libraries tell what they do, not what the user's job does: their warnings only.
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s", stream=sys.stderr)
    logging.getLogger("pdsim").setLevel(logging.WARNING if a.quiet else logging.INFO)
    try:
        check_environment(os.environ)
        return _execute(a) or 0
    except PdsimError as error:
        sys.stderr.write(f"pdsim {a.verb}: {error}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write(f"pdsim {a.verb}: interrupted{_resumption(a.verb)}\n")
        return 130
    except (MemoryError, RuntimeError) as error:
        if not out_of_memory(error):
            raise
        words = str(error).partition("\n")[0] or "the system gives no more"
        remedy = too_little(a.verb, on_device=not isinstance(error, MemoryError))
        sys.stderr.write(f"pdsim {a.verb}: {remedy} ({words}){_resumption(a.verb)}\n")
        return 2


def _resumption(verb: str) -> str:
    return "; the same command goes on from the last checkpoint" if verb in _RESUMED else ""
