"""Jobs killed at random points, again and again: what was saved is kept, the result is the same.

PDSIM_KILLS sets how many kills each job suffers (the default makes 32 in all).
"""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
import yaml

from pdsim.runtime.files import checkpoint_of, read_dataset

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("PDSIM_KILLS", "16"))
# What an undisturbed run measures differently, too.
CLOCK = "seconds"


class Victim:
    """A process that runs jobs, and kills them."""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", Path(__file__).with_name("victim.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, arguments, log, delay=None, number=signal.SIGKILL, after=None):
        job = {
            "arguments": arguments,
            "log": str(log),
            "delay": delay,
            "signal": int(number),
            "after": after and str(after),
        }
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


@pytest.fixture(scope="module")
def victim():
    victim = Victim()
    yield victim
    victim.process.communicate(timeout=60)


@pytest.fixture(scope="module")
def longer(tiny):
    """The tiny experiment with enough chunks to be killed in."""
    values = yaml.safe_load((tiny / "tiny.yaml").read_text())
    values["budgets"] = {"quick": {"particle_count": 12, "iteration_count": 1500, "chunk_size": 25}}
    values["bayessim"]["density"]["epochs"] = 1500
    path = tiny / "longer.yaml"
    path.write_text(yaml.safe_dump(values))
    return path


def saved(checkpoint: Path) -> int:
    """Iterations or epochs in a checkpoint, which must be whole; none without one."""
    if not checkpoint.exists():
        return 0
    with np.load(checkpoint) as content:
        return len(content["history_seconds"])


def content(path: Path, groups) -> dict[str, xr.Dataset]:
    return {g: read_dataset(path, g).drop_vars(CLOCK, errors="ignore") for g in groups}


@pytest.mark.parametrize(
    ("job", "groups"),
    [
        (
            [
                "infer",
                "--run",
                "csvgd_multiple",
                "--trajectories",
                "trajectories.nc",
            ],
            ("posterior", "shooting", "sample_stats", "history", "course"),
        ),
        (
            ["train", "--run", "bayessim_downsampled_mdn", "--statistics", "downsampled.nc"],
            ("network", "scaling", "history"),
        ),
    ],
    ids=["infer", "train"],
)
def test_random_kills_lose_a_chunk_at_most(victim, longer, tmp_path, job, groups, record_property):
    """Every job that saves its state goes on after kill -9 and ends with the same result."""
    verb, *options = [str(longer.parent / a) if a.endswith(".nc") else a for a in job]
    output, log = tmp_path / "result.nc", tmp_path / "log"
    checkpoint = checkpoint_of(output)
    arguments = [verb, str(longer), *options, "--budget", "quick", "--output", str(output)]
    assert victim.run(arguments, log)["code"] == 0, log.read_text()
    whole = victim.run(arguments, log)["seconds"]
    expected = content(output, groups)
    worked = float(read_dataset(output, "history")[CLOCK][-1])
    output.unlink()

    random = np.random.default_rng(0)
    kills = finished = resumed = 0
    while kills < KILLS or finished == 0:
        before = saved(checkpoint)
        enough = kills >= KILLS
        number = signal.SIGKILL if kills % 2 else signal.SIGTERM
        # One in four at any time of the process, start-up included; the others while it works.
        after = None if kills % 4 == 0 else checkpoint
        delay = None if enough else random.uniform(0, worked / 3 if after else whole)
        # A job killed at once would leave the log of the one before it.
        log.write_text("")
        code = victim.run(arguments, log, delay, number, after)["code"]
        said = re.search(r"resuming after (?:iteration|epoch) (\d+)", log.read_text())
        if said:
            # The work goes on exactly where it was saved.
            assert int(said[1]) == before > 0
            resumed += 1
        whole_result = output.exists()
        if whole_result:
            # Finished, or killed after the result was whole.
            for group, data in content(output, groups).items():
                xr.testing.assert_identical(data, expected[group])
            output.unlink()
        if code == 0:
            assert whole_result
            assert not checkpoint.exists()
            finished += 1
            continue
        assert code == -number, log.read_text()
        kills += 1
        assert whole_result or saved(checkpoint) >= before
    assert resumed >= KILLS // 4
    print(f"{verb}: {kills} kills, {resumed} resumed, {finished} finished")
    left = {path.name for path in tmp_path.iterdir()} - {"log", checkpoint.name}
    assert all(name.endswith((".partial.nc", ".partial.npz")) for name in left), left
