"""A real one-node SLURM: jobs submitted, killed and retried, cancelled, and only the rest redone.

Asked for by PDSIM_SLURM_UP, the path of a script that installs and starts the node, and stops it
with --down. That needs root on a Debian machine, and changes its SLURM configuration.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
import yaml

from pdsim.runtime.files import read_dataset

pytestmark = pytest.mark.slow

# Status is asked of the queue: the node has no accounting. Ten seconds more go by before each
# question that brings no news: 6, 22 and 48 s after a submission.
OPTIONS = (
    "--profile", "workflow/profiles/slurm",
    "--slurm-status-command", "squeue",
    "--slurm-init-seconds-before-status-checks", "6",
    "--seconds-between-status-checks", "1",
    "--latency-wait", "5",
)  # fmt: skip
GPU = ("--set-resources", "infer:gpu=1", "infer:jax_platforms='cuda,cpu'")
TARGET = "results/batch/tiny/metrics.csv"
# Daemons are where Debian's users need not look.
PATH = f"{os.environ['PATH']}:/usr/sbin:/sbin"
RUNS = ("svgd_single/seed0", "csvgd_multiple/seed0")


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    """A node with two cores and one GPU that is none; the folder of its daemons."""
    if not (named := os.environ.get("PDSIM_SLURM_UP")):
        pytest.skip("PDSIM_SLURM_UP names no script that starts a SLURM node")
    script = Path(named).resolve(strict=True)
    if os.geteuid() != 0:
        pytest.skip("starting a SLURM node needs root")
    pytest.importorskip("snakemake_executor_plugin_slurm")
    environment = os.environ | {
        # Not the folder of another node that may be up on this machine.
        "SLURM_BASE": str(tmp_path_factory.mktemp("slurm")),
        "FAKE_GPU": "1",
        "PATH": PATH,
    }
    up = subprocess.run(
        ["timeout", "120", "bash", script], env=environment, capture_output=True, text=True
    )
    if not shutil.which("slurmctld", path=PATH):
        pytest.skip(f"SLURM cannot be installed here: {up.stderr[-500:]}")
    assert up.returncode == 0, up.stderr
    try:
        yield Path(environment["SLURM_BASE"])
        # A node that goes down with a job would take it up again when it next comes up.
        subprocess.run(["scancel", "--user", "root"], check=True)
        deadline = time.monotonic() + 20
        while queue() and time.monotonic() < deadline:
            time.sleep(0.2)
    finally:
        subprocess.run(["bash", script, "--down"], env=environment, check=True)


@pytest.fixture(scope="module")
def batch(slurm, project):
    """A project with a budget long enough for a job to be caught at work."""
    path = project.folder / "config/experiments/tiny.yaml"
    values = yaml.safe_load(path.read_text())
    values["budgets"]["batch"] = {
        "particle_count": 10,
        "iteration_count": 3000,
        "chunk_size": 50,
    }
    path.write_text(yaml.safe_dump(values, sort_keys=False))
    project.options = (TARGET, "--config", "budget=batch", *OPTIONS)
    return project


def queue():
    """Return the jobs in the queue: (id, state, what was asked for besides cores and memory)."""
    lines = subprocess.run(
        ["squeue", "--noheader", "--Format", "JobID:20,State:20,tres-per-job:40"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    return [tuple(line.split()) for line in lines]


def job_processes(project):
    """What Snakemake's jobs run on the node: this project's, whatever else the machine does."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            here = process.cwd() == str(project.folder)
            if here and any(above.name() == "slurmstepd" for above in process.parents()):
                found.append(process)
    return found


def infer_processes(project):
    found = []
    for process in job_processes(project):
        with suppress(psutil.Error):
            words = process.cmdline()
            # Not the shell that waits for it, whose command is one word.
            if "infer" in words and any(word.endswith("pdsim") for word in words):
                found.append(process)
    return found


def kill(processes):
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.kill()


def lose_the_node(project, daemons):
    """Kill all that runs on the node, and have SLURM see it; then bring the node back."""
    lost = job_processes(project)
    steps = {
        above for process in lost for above in process.parents() if above.name() == "slurmstepd"
    }
    assert lost and steps
    number = int((daemons / "run/slurmd.pid").read_text())
    kill([*steps, psutil.Process(number), *lost])
    name = socket.gethostname().split(".")[0]
    update = ["scontrol", "update"]
    subprocess.run([*update, f"NodeName={name}", "State=DOWN", "Reason=lost"], check=True)
    subprocess.run(["slurmd"], env=os.environ | {"PATH": PATH}, check=True)
    waiting = [job for job, state, _ in queue() if state == "PENDING"]
    assert len(waiting) == 1
    # Otherwise SLURM starts it again two minutes later; at once, its order to end reaches it late.
    subprocess.run([*update, f"JobId={waiting[0]}", "StartTime=now+5"], check=True)


def submitted(output):
    return len(re.findall(r"submitted with SLURM jobid", output))


def test_jobs_run_on_slurm_one_at_a_time_on_the_gpu_and_are_retried(batch):
    """On a real SLURM, jobs of one GPU take turns and a killed one is submitted again."""
    began = time.monotonic()
    results = batch.folder / "results/batch/tiny"
    saved = [results / run / "posterior.checkpoint.npz" for run in RUNS]
    at_once = []
    with batch.running(*batch.options, *GPU) as process:
        batch.wait_until(lambda: any(path.exists() for path in saved), process)
        kill(infer_processes(batch))
        while process.poll() is None:
            held = [state == "RUNNING" and "gpu" in asked for _, state, asked in queue()]
            at_once.append(sum(held))
            time.sleep(0.3)
        output, _ = process.communicate()
    assert process.returncode == 0, output[-3000:]
    assert (batch.folder / TARGET).exists()
    assert max(at_once) == 1
    # Recording with preprocessing, two estimations and one again, all scores, gathering.
    assert submitted(output) == 6
    assert "Trying to restart job" in output
    devices = [read_dataset(results / run / "posterior.nc").attrs["device"] for run in RUNS]
    assert all(device.startswith("cpu:") for device in devices)
    logs = [(results / run / "logs/infer.log").read_text() for run in RUNS]
    assert sum("resuming after iteration" in log for log in logs) == 1
    assert queue() == []
    print(f"batch: {submitted(output)} jobs submitted, 1 retried, {time.monotonic() - began:.0f} s")


def test_a_cancelled_workflow_leaves_no_job_and_a_lost_node_is_survived(slurm, batch):
    """On a real SLURM, Ctrl-C leaves nothing behind and a node's failure costs its jobs alone."""
    assert (batch.folder / TARGET).exists(), "the test before this one failed"
    folder = batch.folder / "results/batch/tiny" / RUNS[1]
    shutil.rmtree(folder)
    (batch.folder / TARGET).unlink()
    # While Snakemake asks after its jobs it would cancel none.
    later = ("--slurm-init-seconds-before-status-checks", "20")
    with batch.running(*batch.options, *later) as process:
        batch.wait_until(lambda: infer_processes(batch), process)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
    assert process.returncode != 0, output
    deadline = time.monotonic() + 20
    while queue() or infer_processes(batch):
        assert time.monotonic() < deadline, queue()
        time.sleep(0.2)
    print(f"cancelled in {time.monotonic() - began:.1f} s")

    with batch.running(*batch.options) as process:
        batch.wait_until((folder / "posterior.checkpoint.npz").exists, process)
        lose_the_node(batch, slurm)
        output, _ = process.communicate(timeout=300)
    assert process.returncode == 0, output[-3000:]
    assert "resuming after iteration" in (folder / "logs/infer.log").read_text()
    # The estimation, its scores, and the gathering: nothing of the other run.
    jobs = dict(re.findall(r"^(\w+) +(\d+)$", output, flags=re.MULTILINE))
    again = ("infer", "simulate", "predict", "evaluate", "gather")
    assert jobs == dict.fromkeys(again, "1") | {"total": "5"}
    assert submitted(output) == 3
