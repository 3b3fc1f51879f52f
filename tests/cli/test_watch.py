"""What `pdsim fit` shows while jobs run: of each how far it is, and nothing of Snakemake's own."""

import pytest

from pdsim.cli import watch
from pdsim.cli.watch import Watch, progress

SAID = """\
SNAKEMAKE
=========
  Date: 2026-11-24 07:33:53
  Snakemake version: 9.27.1
  Working directory: /home/someone/pdsim
  Config file(s): ['config/config.yaml']
Using profile workflow/profiles/workstation for setting default command line arguments.
Building DAG of jobs...
Job stats:
job             count
------------  -------
infer               2
total               2

Select jobs to execute...
Execute 2 jobs...

[Tue Nov 24 07:06:41 2026]
Job 6: Estimating mine, csvgd_marginal, seed 0; log: csvgd/infer.log
Reason: Missing output files: results/mine/posterior.nc
[Tue Nov 24 07:06:41 2026]
Job 7: Cutting the trajectories of mine
Reason: Missing output files: results/mine/trajectories.nc
"""
FINISHED = """\
[Tue Nov 24 07:07:41 2026]
Finished jobid: 6 (Rule: infer)
1 of 2 steps (50%) done
pdsim preprocess: a.csv: line 3: broken
Error in rule preprocess:
Elapsed time: 0:05:06.399923
"""


@pytest.fixture
def told():
    return []


@pytest.fixture
def clock():
    return [0.0]


@pytest.fixture
def watching(tmp_path, told, clock):
    return Watch(tmp_path, told.append, lambda: clock[0])


def test_jobs_are_told_and_snakemake_is_not(watching, told, clock, tmp_path):
    log = tmp_path / "csvgd/infer.log"
    for line in SAID.splitlines():
        watching.read(line)
    assert told == [
        f"Estimating mine, csvgd_marginal, seed 0; log: {log}",
        "Cutting the trajectories of mine",
    ]
    clock[0] = 65.0
    for line in FINISHED.splitlines():
        watching.read(line)
    assert told[2:] == [
        "  Estimating mine, csvgd_marginal, seed 0: done in 1 min 5 s",
        "1 of 2 jobs are done",
        "pdsim preprocess: a.csv: line 3: broken",
        "Error in rule preprocess:",
    ]


def test_how_far_every_running_job_is_comes_from_its_log(watching, told, tmp_path):
    for line in SAID.splitlines():
        watching.read(line)
    del told[:]
    watching.tell()
    assert told == []
    log = tmp_path / "csvgd/infer.log"
    log.parent.mkdir()
    log.write_text("INFO pdsim.runtime.progress: 0/20 evaluations, compiling\n")
    watching.tell()
    watching.tell()
    assert told == ["  Estimating mine, csvgd_marginal, seed 0: 0/20 evaluations, compiling"]
    with log.open("a") as file:
        file.write(
            "WARNING other: 1\nINFO pdsim.runtime.progress: 10/20 evaluations, 5/s, 2 s left\n"
        )
        file.write("INFO pdsim.stages.infer: written\n")
    watching.tell()
    assert told[1:] == [
        "  Estimating mine, csvgd_marginal, seed 0: 10/20 evaluations, 5/s, 2 s left"
    ]


def test_a_log_that_is_not_there_has_no_progress(tmp_path):
    assert progress(tmp_path / "none.log") is None


def test_output_is_followed_until_the_process_has_ended(watching, told, tmp_path, monkeypatch):
    monkeypatch.setattr(watch, "_LOOK", 0.0)
    output = tmp_path / "fit.log"
    output.write_text("Job 1: Wri")
    steps = iter(["ting a.html\n", "something broke\n", ""])

    def running():
        more = next(steps)
        with output.open("a") as file:
            file.write(more)
        return bool(more)

    watching.follow(output, running)
    assert told == ["Writing a.html", "something broke"]


def test_a_lock_is_noted_and_not_told(watching, told):
    for line in ("LockException:", "Error: Directory cannot be locked.", "the --unlock argument."):
        watching.read(line)
    assert watching.locked
    assert told == []


def test_a_full_disk_is_noted(watching, told):
    watching.read("INFO: all is well")
    assert not watching.full
    watching.read("pdsim infer: p.nc: no space left to write it (NetCDF: HDF error)")
    assert watching.full
    assert len(told) == 2
