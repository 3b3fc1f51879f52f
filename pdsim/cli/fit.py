"""`pdsim fit`: the whole pipeline for one experiment file, through Snakemake, and what came out.

Snakemake writes to `logs/fit.log` among the results, and what the terminal shows is read from there
(``pdsim.cli.watch``): a terminal that is closed, or a fit that is killed, takes nothing along.
"""

import argparse
import contextlib
import fcntl
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TextIO

import pdsim
from pdsim.cli.watch import Watch
from pdsim.experiment.checks.size import check_memory
from pdsim.experiment.load import load_experiment
from pdsim.experiment.model import ExperimentConfig
from pdsim.experiment.workflow import (
    WorkflowConfig,
    absolute_path,
    check_file,
    check_paths,
    workflow_config,
)
from pdsim.report.summary import summary
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import check_regular, expanded, fullest, is_full

_ROOT = Path(pdsim.__file__).parents[1]
_TABLES = "run_1.csv run_2.csv --system double_pendulum --output mine.yaml"
_SETTINGS = "config/config.yaml"
# Folders that the environment names, seen from where the user is.
_FOLDERS = ("PDSIM_DATA_DIR", "PDSIM_IBM_DIR")
# Among the results: what Snakemake says, and which process is at work.
_LOG, _AT_WORK = "logs/fit.log", "logs/at_work"
# What ends a run from outside: Ctrl-C, a batch system or `kill`, a closed terminal.
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def fit(a: argparse.Namespace) -> int:
    """Run Snakemake on one experiment, and print the report's path and what came out.

    Returns:
        The exit code: 0, 2 if a job failed, 130 after Ctrl-C, 143 after SIGTERM, 129 after SIGHUP.

    Raises:
        PdsimError: the experiment cannot be run; nothing was started.
    """
    experiment, results = _checked(a)
    command = _command(a, results)
    if a.dry_run or a.unlock:
        return 2 if _run(command) else 0
    watch = Watch(_ROOT, (lambda line: None) if a.quiet else _tell)
    ended = _fit(command, results, watch)
    log = results / _LOG
    if ended < 0 or ended > 128:
        sys.stderr.write(
            "pdsim fit: interrupted; what is finished is kept, and estimations have checkpoints "
            f"(log: {log}). To go on: {_again(a)}\n"
        )
        return ended if ended > 0 else 128 - ended
    if ended:
        why = _full(results, watch) or f"a job failed, see above, or all of it in {log}"
        sys.stderr.write(
            f"pdsim fit: {why}. Once that is mended, what is finished is not done again: "
            f"{_again(a)}\n"
        )
        return 2
    told = "\n".join(summary(experiment, results, a.budget))
    sys.stdout.write(f"\nReport: {results / 'report.html'}\n{told}\n")
    return 0


def _full(results: Path, watch: Watch) -> str:
    """Which disk is full, and what to do; empty where none is."""
    folder, free = fullest((results, _ROOT / ".snakemake", Path(tempfile.gettempdir())))
    if not (watch.full or is_full(free)):
        return ""
    other = ", or name a folder on another disk: --results FOLDER" if folder == results else ""
    return (
        f"the disk of {folder} is full ({free / 1e6:.3g} MB are left), so a job could not write; "
        f"free some space there{other}"
    )


def _fit(command: list[str], results: Path, watch: Watch) -> int:
    """Run Snakemake and tell what it does; a lock that a killed fit left behind is removed.

    Raises:
        PdsimError: another run is at work on the same results, or they cannot be written.
    """
    log = results / _LOG
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        with (results / _AT_WORK).open("a+") as at_work:
            left = _left(at_work, results)
            _tell(f"Log: {log}")
            ended = _run(command, log, watch, at_work)
            if watch.locked and left:
                _tell("A fit that was killed left its lock behind; it is removed.")
                _run([*command, "--unlock"], log)
                watch.locked = False
                ended = _run(command, log, watch, at_work)
            at_work.truncate(0)
    except OSError as error:
        raise PdsimError(
            f"{error.filename or results}: cannot be written ({error.strerror}); name another "
            "folder: --results FOLDER"
        ) from None
    if watch.locked:
        raise PdsimError(
            f"{_ROOT}: Snakemake is at work on these results, or was killed. Wait for its end; if "
            "there is none, add --unlock once, then give the same command again"
        )
    return ended


def _tell(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _left(at_work: TextIO, results: Path) -> str:
    """Which Snakemake was at work and has ended without a word; empty if there is none.

    The file is locked while one is at work: it has it open, and outlives a fit that is killed.

    Raises:
        PdsimError: one is at work.
    """
    at_work.seek(0)
    number = at_work.read()
    try:
        fcntl.flock(at_work, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise PdsimError(
            f"{results}: another fit is at work on it, process {number}; wait for its end, or end "
            f"it: kill -INT {number}. What it does: {results / _LOG}"
        ) from None
    return number


def _checked(a: argparse.Namespace) -> tuple[ExperimentConfig, Path]:
    """The experiment, and the folder of its results; all that can be known before a job runs."""
    if not (_ROOT / "Snakefile").is_file():
        raise PdsimError(
            f"{_ROOT}: holds no Snakefile; fit needs a checkout of pdsim, installed with "
            "pip install --editable"
        )
    _check_is_experiment(Path(a.experiment))
    experiment = load_experiment(a.experiment)
    experiment.budget(a.budget)
    _check_files(experiment, a.experiment)
    check_paths(experiment, a.experiment)
    check_memory(experiment, a.budget)
    settings = workflow_of(a.experiment, a.results)
    folder = _ROOT / settings.results
    if a.budget != "paper":
        folder /= a.budget
    return experiment, folder / Path(a.experiment).stem


def workflow_of(experiment: str, results: str | None = None) -> WorkflowConfig:
    """The workflow's config for one experiment file, which need not be there.

    Args:
        results: folder; None: that of config/config.yaml.

    Raises:
        PdsimError: the workflow cannot take a file of this name.
    """
    settings = _ROOT / _SETTINGS
    values = check_file(str(settings)) if settings.is_file() else {"groups": {}}
    values["experiment"] = str(absolute_path(experiment))
    values["experiment_dir"] = str(_ROOT / "config/experiments")
    if results:
        values["results"] = str(expanded(results).resolve())
    return workflow_config(values, experiment)


def _check_is_experiment(path: Path) -> None:
    """Refuse what is no experiment file, and say how to have one."""
    if path.is_file() and path.suffix in (".yaml", ".yml"):
        return
    what = "is no experiment file, which ends in .yaml" if path.exists() else "no such file"
    raise PdsimError(f"{path}: {what}; draft one: pdsim new {_TABLES}")


def _check_files(experiment: ExperimentConfig, path: str) -> None:
    """Refuse recordings that are not there; those that are made or downloaded need not be."""
    if hasattr(experiment.source, "make") or experiment.recording.source == "ibm":
        return
    for file in experiment.source.files(experiment.recording, str(experiment.folder)).values():
        check_regular(file, f"a table ({path}: recording.files)")
        if not Path(file).is_file():
            raise PdsimError(
                f"{file}: no such file, but {path} names it (recording.files). Relative names are "
                "looked for beside that file, then in PDSIM_DATA_DIR, then in data"
            )


def _command(a: argparse.Namespace, results: Path) -> list[str]:
    """Snakemake's, from the checkout's folder."""
    cores = ["--cores", str(a.cores)] if a.cores else []
    flags = [f"--{name}" for name in ("dry-run", "unlock") if getattr(a, name.replace("-", "_"))]
    given = {"experiment": str(absolute_path(a.experiment)), "budget": a.budget}
    if a.results:
        given["results"] = str(expanded(a.results).resolve())
    # Snakemake reads each value as YAML, without quotes at its ends, but for the spaces here.
    quoted = {key: json.dumps(value, ensure_ascii=False) for key, value in given.items()}
    settings = [f"{key}= {text} " for key, text in quoted.items()]
    return [
        *(sys.executable, "-m", "snakemake", "--snakefile", str(_ROOT / "Snakefile")),
        *("--directory", str(_ROOT), "--profile", str(_ROOT / "workflow/profiles/workstation")),
        *cores, *flags, "--config", *settings,
    ]  # fmt: skip


def _run(
    command: list[str],
    log: Path | None = None,
    watch: Watch | None = None,
    at_work: TextIO | None = None,
) -> int:
    """Run a command in a group of its own; what is to end us ends all of it, as Ctrl-C would.

    Snakemake, asked to terminate, waits for its jobs; interrupted, it ends them and unlocks.

    Args:
        log: what it says goes there; None: on the terminal.
        watch: tells what it says.
        at_work: a file that it keeps open, with its number.

    Returns:
        Its exit code, or 128 and the signal's number.
    """
    process, told = None, 0

    def end(number: int, _frame: object) -> None:
        nonlocal told
        told = number
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGINT)

    before = {number: signal.getsignal(number) for number in _ENDING}
    for number, handler in before.items():
        # What we were started to ignore we do, but in the child's group Ctrl-C has to work.
        signal.signal(number, _ignore if handler == signal.SIG_IGN else end)
    try:
        with contextlib.ExitStack() as stack:
            output = stack.enter_context(log.open("w")) if log else None
            process = subprocess.Popen(
                command,
                env=_environment(),
                start_new_session=True,
                stdout=output,
                stderr=subprocess.STDOUT if log else None,
                pass_fds=(at_work.fileno(),) if at_work else (),
            )
        if told:
            end(told, None)
        if at_work:
            at_work.truncate(0)
            at_work.write(str(process.pid))
            at_work.flush()
        if log and watch:
            watch.follow(log, lambda: process.poll() is None)
        ended = process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return 128 + told if told else ended


def _ignore(_number: int, _frame: object) -> None:
    """Do nothing; unlike SIG_IGN, a child does not inherit it."""


def _environment() -> dict[str, str]:
    """Ours, with its folders as seen from everywhere."""
    environment = dict(os.environ)
    for name in _FOLDERS:
        if environment.get(name):
            environment[name] = str(expanded(environment[name]).resolve())
    return environment


def _again(a: argparse.Namespace) -> str:
    """The command that was given."""
    options = [f"--budget={a.budget}"] if a.budget != "paper" else []
    options += [f"--results={a.results}"] if a.results else []
    return shlex.join(["pdsim", "fit", a.experiment, *options])
