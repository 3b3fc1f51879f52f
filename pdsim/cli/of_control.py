"""Verbs of an experiment of kind ``control`` to stages; imports are local."""

import argparse
from collections.abc import Callable
from typing import Any


def _control(a: argparse.Namespace, experiment) -> None:
    from pdsim.stages.control import control

    control(
        experiment.run(a.controller, a.budget), output=a.output, prior=a.prior_from, cores=a.cores
    )


def _control_table(a: argparse.Namespace, experiment) -> None:
    from pdsim.stages.control_table import control_table

    control_table(experiment, logs=a.logs, folder=a.folder)


def _control_plot(a: argparse.Namespace, experiment) -> None:
    from pdsim.stages.control_plot import control_plot

    control_plot(experiment, a.figure, file=a.file, stem=a.stem)


def _control_report(a: argparse.Namespace, experiment) -> None:
    from pdsim.stages.control_report import control_report

    control_report(experiment, logs=a.logs, figures=a.figures, output=a.output)


VERBS: dict[str, Callable[[argparse.Namespace, Any], None]] = {
    "control": _control,
    "control-table": _control_table,
    "control-plot": _control_plot,
    "control-report": _control_report,
}
