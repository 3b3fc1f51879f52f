"""Killed runs: no half-written file is taken for whole, and the work done is kept."""

from pathlib import Path

import pytest
import xarray as xr

from pdsim.runtime.files import read_dataset

pytestmark = pytest.mark.slow

RUN = "csvgd_multiple/seed0"


def test_a_killed_inference_resumes_and_ends_as_if_undisturbed(project):
    """After kill -9 of a workflow a rerun goes on from the checkpoint, to the same numbers."""
    folder = project.folder / "results/long/tiny" / RUN
    target = f"results/long/tiny/{RUN}/posterior.nc"
    arguments = (target, "--config", "budget=long")
    checkpoint, posterior = folder / "posterior.checkpoint.npz", folder / "posterior.nc"

    project.kill_when(checkpoint.exists, *arguments)
    assert checkpoint.exists()
    assert not posterior.exists()

    # kill −9 leaves Snakemake's lock behind.
    project.snakemake(*arguments, "--unlock")
    project.snakemake(*arguments, "--rerun-incomplete")
    assert "resuming after iteration" in (folder / "logs/infer.log").read_text()
    assert not checkpoint.exists()
    interrupted = {g: read_dataset(posterior, g) for g in ("posterior", "shooting", "sample_stats")}

    posterior.unlink()
    project.snakemake(*arguments)
    assert "resuming" not in (folder / "logs/infer.log").read_text()
    for group, data in interrupted.items():
        xr.testing.assert_identical(read_dataset(posterior, group), data)


def test_a_file_cut_short_by_a_kill_is_not_taken_for_whole(project):
    """A job that dies while it writes leaves a temporary name, which nothing reads."""
    results = project.folder / "results/quick/tiny"
    part = results / ".trajectories.999.partial.nc"
    part.write_bytes(b"\x89HDF half a file")
    try:
        assert project.planned() == {}
    finally:
        part.unlink()


def test_a_broken_result_is_named_by_the_next_stage(project):
    """Half a NetCDF file ends the next job with one line that names it."""
    run = Path("results/quick/tiny/svgd_single/seed0")
    posterior = project.folder / run / "posterior.nc"
    whole = posterior.read_bytes()
    posterior.write_bytes(whole[: len(whole) // 2])
    try:
        result = project.snakemake(f"{run}/rollouts.nc", check=False)
    finally:
        posterior.write_bytes(whole)
        # Bring the results up to date again for the tests that follow.
        project.snakemake("tiny")
    assert result.returncode != 0
    # The end of the job's log is shown once, and its exit status is not that of the showing.
    text = result.stdout + result.stderr
    shown = [line for line in text.splitlines() if "pdsim simulate: " in line]
    assert len(shown) == 1
    assert f"{run}/posterior.nc: not a readable NetCDF file" in shown[0]
    assert "non-zero exit status 2" in text
