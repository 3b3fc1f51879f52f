"""`pdsim fit`: the whole pipeline for one experiment file, through Snakemake, and what came out."""

import argparse
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pdsim
from pdsim.config.experiment import ExperimentConfig, load_experiment
from pdsim.config.workflow import check_file, workflow_config
from pdsim.report.summary import summary
from pdsim.runtime.errors import PdsimError

_ROOT = Path(pdsim.__file__).parents[1]
_SETTINGS = "config/config.yaml"
# Folders that the environment names, seen from where the user is.
_FOLDERS = ("PDSIM_DATA_DIR", "PDSIM_IBM_DIR")


def fit(a: argparse.Namespace) -> int:
    """Run Snakemake on one experiment, and print the report's path and three lines.

    Returns:
        The exit code: 0, 2 if a job failed, 130 if interrupted.

    Raises:
        PdsimError: the experiment cannot be run; nothing was started.
    """
    experiment, results = _checked(a)
    command = _command(a, results)
    ended = _run(command)
    if ended < 0 or ended == 130:
        sys.stderr.write(
            "pdsim fit: interrupted; what is finished is kept, and estimations have checkpoints. "
            f"To go on: {_again(a)}\n"
        )
        return 130
    if ended:
        sys.stderr.write(
            f"pdsim fit: a job failed, see above; logs are below {results}. Once it is mended, "
            f"what is finished is not done again: {_again(a)}\n"
        )
        return 2
    if a.dry_run or a.unlock:
        return 0
    told = "\n".join(summary(experiment, results))
    sys.stdout.write(f"\nReport: {results / 'report.html'}\n{told}\n")
    return 0


def _checked(a: argparse.Namespace) -> tuple[ExperimentConfig, Path]:
    """The experiment, and the folder of its results; all that can be known before a job runs."""
    if not (_ROOT / "Snakefile").is_file():
        raise PdsimError(
            f"{_ROOT}: holds no Snakefile; fit needs a checkout of pdsim, installed with "
            "pip install --editable"
        )
    experiment = load_experiment(a.experiment)
    experiment.budget(a.budget)
    if a.cores is not None and a.cores < 1:
        raise PdsimError(f"--cores {a.cores}: one or more are needed")
    results = str(Path(a.results).expanduser().absolute()) if a.results else None
    settings = workflow_config(
        {
            **check_file(str(_ROOT / _SETTINGS)),
            "experiment": str(Path(a.experiment).absolute()),
            "experiment_dir": str(_ROOT / "config/experiments"),
            **({"results": results} if results else {}),
        },
        a.experiment,
    )
    folder = _ROOT / settings.results
    if a.budget != "paper":
        folder /= a.budget
    return experiment, folder / Path(a.experiment).stem


def _command(a: argparse.Namespace, results: Path) -> list[str]:
    """Snakemake's, from the checkout's folder."""
    cores = ["--cores", str(a.cores)] if a.cores else []
    flags = [f"--{name}" for name in ("dry-run", "unlock") if getattr(a, name.replace("-", "_"))]
    settings = [f"experiment={Path(a.experiment).absolute()}", f"budget={a.budget}"]
    if a.results:
        settings.append(f"results={Path(a.results).expanduser().absolute()}")
    quiet = ["--quiet", "all"] if a.quiet else []
    return [
        *(sys.executable, "-m", "snakemake", "--snakefile", str(_ROOT / "Snakefile")),
        *("--directory", str(_ROOT), "--profile", str(_ROOT / "workflow/profiles/workstation")),
        *cores, *flags, *quiet, "--config", *settings,
    ]  # fmt: skip


def _run(command: list[str]) -> int:
    """Run a command in a group of its own; Ctrl-C goes to all of it, once."""
    environment = dict(os.environ)
    for name in _FOLDERS:
        if environment.get(name):
            environment[name] = str(Path(environment[name]).expanduser().absolute())
    process = subprocess.Popen(command, env=environment, start_new_session=True)
    try:
        return process.wait()
    except KeyboardInterrupt:
        os.killpg(process.pid, signal.SIGINT)
        process.wait()
        return 130


def _again(a: argparse.Namespace) -> str:
    """The command that was given."""
    options = [f"--budget={a.budget}"] if a.budget != "paper" else []
    options += [f"--results={a.results}"] if a.results else []
    return shlex.join(["pdsim", "fit", a.experiment, *options])
