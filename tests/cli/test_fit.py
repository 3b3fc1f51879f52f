"""`pdsim fit`: what is refused before anything runs, what ends it, and a whole run on tables far away."""

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import time

import pytest
import yaml
from draft.swings import swing, write_csv

from pdsim.cli.main import main

WAITING = """
import sys, time
from pathlib import Path
Path(sys.argv[1], "began").write_text("yes")
try:
    time.sleep(60)
except KeyboardInterrupt:
    Path(sys.argv[1], "ended").touch()
"""
RUNNING = """
import sys
from pdsim.cli.fit import _run
raise SystemExit(_run([sys.executable, "-c", sys.argv[1], sys.argv[2]]))
"""
RUNNING_ALL = """
import sys
from pdsim.cli.fit import _run
raise SystemExit(_run(sys.argv[1:]))
"""
SNAKEFILE = """
rule second:
    input: "first"
    output: "second"
    shell: "if [ -e began ]; then touch second; else echo $$ > began; exec sleep 60; fi"


rule first:
    output: "first"
    shell: "echo once >> first"
"""


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["none.yaml"], ["none.yaml", "no such file; draft one"]),
        (["{root}/config/experiments/demo.yaml", "--budget", "huge"], ["huge", "quick, paper"]),
        (["{root}/config/experiments/quadrotor_circle.yaml"], ["kind", "identification"]),
        (["{folder}/demo.yaml"], ["'demo'", "rename your file"]),
        (["{folder}/a b.yaml"], ["'a b'", "letters, digits"]),
    ],
)
def test_what_cannot_be_fitted_is_said_before_anything_runs(
    root, tmp_path, capsys, monkeypatch, arguments, told
):
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("something was started"))
    for name in ("demo.yaml", "a b.yaml"):
        text = (root / "config/experiments/demo.yaml").read_text()
        (tmp_path / name).write_text(text)
    assert main(["fit", *(a.format(root=root, folder=tmp_path) for a in arguments)]) == 2
    error = capsys.readouterr().err
    for words in told:
        assert words in error


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_what_ends_us_reaches_what_runs_and_is_waited_for(tmp_path, number):
    command = [sys.executable, "-c", RUNNING, WAITING, str(tmp_path)]
    with started(command, tmp_path / "began") as process:
        process.send_signal(number)
        assert process.wait(60) == 128 + number
    assert (tmp_path / "ended").exists()


@pytest.mark.slow
def test_sigterm_ends_snakemake_and_its_jobs_and_the_same_command_goes_on(tmp_path):
    """A fit that is ended leaves no job behind and loses nothing."""
    """Also where Ctrl-C is ignored, as of all that a script starts with `&`."""
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    snakemake = [sys.executable, "-m", "snakemake", "--cores", "1", "--directory", str(tmp_path)]
    snakemake += ["--snakefile", str(tmp_path / "Snakefile"), "--quiet", "all"]
    command = [sys.executable, "-c", RUNNING_ALL, *snakemake]
    with started(command, tmp_path / "began", ignored=True) as process:
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 143
    job = int((tmp_path / "began").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(job, 0)
    assert (tmp_path / "first").exists()
    # No lock is left, and what was finished is not done again.
    (tmp_path / "began").write_text("again")
    assert subprocess.run(command, check=False).returncode == 0
    assert (tmp_path / "first").read_text() == "once\n"


def test_how_to_go_on_is_said(root, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("pdsim.cli.fit._run", lambda *_: 143)
    demo = str(root / "config/experiments/demo.yaml")
    out = str(tmp_path / "out")
    assert main(["fit", demo, "--budget", "quick", "--results", out]) == 143
    error = capsys.readouterr().err
    assert "what is finished is kept" in error
    assert f"(log: {out}/quick/demo/logs/fit.log)" in error
    assert f"To go on: pdsim fit {demo} --budget=quick --results={out}" in error


@pytest.mark.parametrize("place", ["out/quick/demo", ".snakemake"])
def test_of_a_full_disk_the_last_line_says_which(root, tmp_path, capsys, monkeypatch, place):
    """A job, or Snakemake, that cannot write its own log leaves nothing above."""
    folder = (root if place == ".snakemake" else tmp_path) / place
    monkeypatch.setattr("pdsim.cli.fit._run", lambda *_: 1)
    demo = str(root / "config/experiments/demo.yaml")
    command = ["fit", demo, "--budget", "quick", "--results", str(tmp_path / "out")]
    monkeypatch.setattr("pdsim.cli.fit.fullest", lambda folders: (folder, 4096))
    assert main(command) == 2
    error = capsys.readouterr().err
    assert f"pdsim fit: the disk of {folder} is full (0.0041 MB are left)" in error
    assert ("--results FOLDER" in error) == (place != ".snakemake")
    assert "what is finished is not done again" in error
    monkeypatch.setattr("pdsim.cli.fit.fullest", lambda folders: (folder, 10**10))
    assert main(command) == 2
    assert "a job failed, see above" in capsys.readouterr().err


def test_recordings_that_are_not_there_are_named_before_anything_runs(root, tmp_path, capsys):
    text = (root / "config/experiments/trusted_pendubot.yaml").read_text()
    (tmp_path / "mine.yaml").write_text(text.replace("dfki_pendubot/", "far/"))
    assert main(["fit", str(tmp_path / "mine.yaml"), "--results", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert "far/trajectory_" in error
    assert "no such file, but" in error
    assert "mine.yaml names it" in error
    assert not (tmp_path / "out").exists()


def test_results_that_cannot_be_written_are_refused(root, tmp_path, capsys):
    (tmp_path / "out").write_text("a file")
    demo = str(root / "config/experiments/demo.yaml")
    assert main(["fit", demo, "--results", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert "cannot be written" in error
    assert "--results FOLDER" in error


def test_of_two_fits_the_second_is_refused_and_of_a_killed_one_the_lock_is_removed(
    root, tmp_path, capsys, monkeypatch
):
    demo = str(root / "config/experiments/demo.yaml")
    folder = tmp_path / "demo"
    given = []

    def locked_once(command, log=None, watch=None, at_work=None):
        given.append(command[-1])
        if watch is not None:
            watch.locked = len(given) == 1
        return 1

    (folder / "logs").mkdir(parents=True)
    at_work = folder / "logs/at_work"
    at_work.write_text("4321")
    command = ["fit", demo, "--results", str(tmp_path)]
    with at_work.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert main(command) == 2
    assert "another fit is at work on it, process 4321" in capsys.readouterr().err
    monkeypatch.setattr("pdsim.cli.fit._run", locked_once)
    assert main(command) == 2
    assert "its lock behind; it is removed" in capsys.readouterr().out
    assert [one == "--unlock" for one in given] == [False, True, False]
    # Of a lock that no fit left behind nothing is known.
    del given[:]
    assert main(command) == 2
    assert "Snakemake is at work on these results, or was killed" in capsys.readouterr().err
    assert len(given) == 1


@contextlib.contextmanager
def started(command, began, *, ignored=False):
    """A process that has begun; Ctrl-C works in it, or is ignored, whatever it is here.

    So does the end of its terminal, which `nohup` ignores.
    """
    handler = signal.SIG_IGN if ignored else signal.default_int_handler
    handlers = {signal.SIGINT: handler, signal.SIGHUP: signal.SIG_DFL}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        process = subprocess.Popen(command)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    try:
        deadline = time.monotonic() + 60
        while not (began.exists() and began.read_text()):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
def test_from_tables_to_four_lines_from_another_folder(root, tmp_path, monkeypatch, capfd):
    """`pdsim new` and `fit` from two tables to a posterior and a report, away from the checkout."""
    for letter, start in (("a", (1.2, 0.4)), ("b", (-1.0, 0.8))):
        write_csv(tmp_path / f"{letter}.csv", swing(start, 800, ord(letter)))
    monkeypatch.chdir(tmp_path)
    arguments = ["a.csv", "b.csv", "--system", "double_pendulum", "--output", "far.yaml"]
    assert main(["new", *arguments]) == 0
    values = yaml.safe_load((tmp_path / "far.yaml").read_text())
    values["runs"] = values["runs"][:1]
    del values["budgets"]["quick"]["runs"]
    values["recording"]["train"] = values["recording"]["train"][:1]
    values["budgets"]["tiny"] = {
        "particle_count": 20, "iteration_count": 60, "learning_curve": False,
    }  # fmt: skip
    (tmp_path / "far.yaml").write_text(yaml.safe_dump(values))
    tracked = subprocess.run(
        ["git", "status", "--porcelain"], cwd=root, capture_output=True, check=False
    ).stdout
    fit = ["fit", "far.yaml", "--budget", "tiny", "--cores", "1", "--results", "out"]
    assert main([*fit, "--dry-run"]) == 0
    assert not (tmp_path / "out").exists()
    capfd.readouterr()
    assert main(fit) == 0
    told = capfd.readouterr().out
    report = tmp_path / "out/tiny/far/report.html"
    assert f"Report: {report}\nFound (" in told
    assert "\nPredicts: " in told
    assert "\nBelieve it: " in told
    assert report.stat().st_size > 50_000
    after = subprocess.run(
        ["git", "status", "--porcelain"], cwd=root, capture_output=True, check=False
    ).stdout
    assert after == tracked
