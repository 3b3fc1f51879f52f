"""Mistakes are named before any job starts; the workflow is clean by its own tools."""

import subprocess
import sys
from pathlib import Path

import pytest
from tiers import slow
from workflow.conftest import tiny_project


@pytest.fixture(scope="module")
def project(root, tmp_path_factory):
    """One that nobody runs."""
    return tiny_project(root, tmp_path_factory.mktemp("mistakes") / "project")


def test_a_mistake_in_an_experiment_stops_before_any_job(project):
    restore = project.change("config/experiments/tiny.yaml", "window_count: 10", "window_cuont: 10")
    try:
        result = project.snakemake("tiny", check=False)
    finally:
        restore()
    text = result.stdout + result.stderr
    assert result.returncode != 0
    assert "config/experiments/tiny.yaml: likelihood.window_cuont" in text
    assert "did you mean 'window_count'" in text
    assert "Traceback" not in text
    assert "Job stats" not in text


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("budget=huge", ["huge", "quick, long"]),
        slow("bugdet=quick", ["bugdet", "did you mean 'budget'"]),
    ],
)
def test_a_mistake_on_the_command_line_is_named(project, override, words):
    """A value or a key that does not exist is told before any job, with what does."""
    result = project.snakemake("tiny", "--dry-run", "--config", override, check=False)
    assert result.returncode != 0
    for word in words:
        assert word in result.stdout + result.stderr


@pytest.mark.slow
def test_a_folder_without_recordings_is_named_with_both_ways(project, root, tmp_path):
    """Real recordings are downloaded, or taken from a folder that must hold them."""
    (project.folder / "config/with_ibm.yaml").write_text(
        "groups: {real: [ibm_calibrated]}\nbudget: quick\n"
    )
    arguments = ("real", "--dry-run", "--configfile", "config/with_ibm.yaml")
    found = project.snakemake(*arguments)
    assert "download" in found.stdout
    missing = project.snakemake(*arguments, "--config", f"ibm_dir={tmp_path}", check=False)
    text = missing.stdout + missing.stderr
    assert missing.returncode != 0
    for word in (str(tmp_path), "ibm_dir", "PDSIM_IBM_DIR", "download"):
        assert word in text


def test_lint_is_clean(project):
    result = project.snakemake("--lint")
    assert "Congratulations" in result.stderr + result.stdout


def test_format_is_clean(root):
    files = [root / "Snakefile", *sorted((root / "workflow").rglob("*.smk"))]
    result = subprocess.run(
        [Path(sys.executable).with_name("snakefmt"), "--check", *files],
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr


PLUGINS = {
    "slurm": "snakemake_executor_plugin_slurm",
    "generic": "snakemake_executor_plugin_cluster_generic",
}


OTHERS = [slow(name) for name in ("gpu", "slurm", "generic")]


@pytest.mark.parametrize("name", ["workstation", *OTHERS])
def test_profiles_are_read(project, name):
    """Snakemake plans a run by each profile."""
    pytest.importorskip(PLUGINS.get(name, "snakemake"), reason="needs the extra `cluster`")
    result = project.snakemake("tiny", "--dry-run", "--profile", f"workflow/profiles/{name}")
    assert "write_report" in result.stdout + result.stderr
