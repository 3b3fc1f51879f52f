"""Results and experiments that are not where the project keeps its own."""

import numpy as np
import pandas as pd
import pytest
import yaml

pytestmark = pytest.mark.slow

OSCILLATOR = {
    "title": "A mass on a spring",
    "simulator": {
        "system": "oscillator",
        "parameters": {"stiffness": {"lower": 5.0, "upper": 50.0, "unit": "N/m"}},
    },
    "recording": {
        "source": "table",
        "files": {"pushed": "pushed table.csv", "other": "data/other.csv"},
        "time": {"column": "t", "unit": "ms"},
        "channels": {"x": {"column": "position", "unit": "mm"}},
        "inputs": {"force": {"column": "push", "unit": "N"}},
        "train": [
            {"run": "pushed", "frames": [0, 120]},
            {"run": "pushed", "frames": [150, 240]},
        ],
        "test": [{"run": "other", "frames": [0, 200]}, {"run": "other", "frames": [210, 280]}],
        "smoothing": {"frames": 11, "order": 4},
    },
    "likelihood": {"combination": "product", "window_count": 5, "noise_relative": 0.1},
    "runs": [
        {"method": "svgd", "shooting": "single"},
        {"name": "many_windows", "method": "csvgd", "shooting": "multiple"},
    ],
    "budgets": {"quick": {"particle_count": 10, "iteration_count": 40, "chunk_size": 20}},
}


def write_table(path, seed):
    """A mass on a spring of 20 N/m that is pushed, sampled at 50 Hz."""
    rng = np.random.default_rng(seed)
    dt, fine = 0.02, 200
    push = np.repeat(rng.normal(size=60), 5)
    x, v, rows = 0.1, 0.0, []
    for i, force in enumerate(push):
        rows.append((1000 * dt * i, 1000 * (x + 1e-4 * rng.normal()), force))
        for _ in range(fine):
            v += dt / fine * (force - 0.5 * v - 20.0 * x)
            x += dt / fine * v
    path.parent.mkdir(exist_ok=True)
    pd.DataFrame(rows, columns=["t", "position", "push"]).to_csv(path, index=False)


def test_a_table_outside_the_project_goes_from_file_to_report(project, tmp_path):
    """Windows of unequal length, one channel that nobody observed, inputs, a run with a name."""
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(OSCILLATOR, sort_keys=False))
    write_table(tmp_path / "pushed table.csv", 0)
    write_table(tmp_path / "data/other.csv", 1)
    before = project.tracked()
    mine = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    arguments = ("--config", f"experiment={tmp_path}/mine.yaml")
    project.snakemake(*arguments)
    assert project.tracked() == before
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == mine
    results = project.folder / "results/quick/mine"
    assert (results / "report.html").stat().st_size > 50_000
    table = pd.read_csv(results / "metrics.csv").set_index(["run", "metric"])["value"]
    for run in ("svgd_single", "many_windows"):
        assert table[run, "lost_rollouts"] == 0
        # The mass moves by centimetres; 20 N/m is to be found.
        assert table[run, "rmse"] < 0.02
        assert np.isfinite(table[run, "energy_score"])
    shown = project.snakemake(*arguments, "--dry-run")
    assert "Nothing to be done" in shown.stdout
    # However its path is spelt, it is the same experiment.
    link = tmp_path.with_name(f"{tmp_path.name}-link")
    link.symlink_to(tmp_path)
    for spelling in (f"{tmp_path}/data/../mine.yaml", f"{link}/mine.yaml"):
        assert project.planned("--config", f"experiment={spelling}", target="mine") == {}
    # An edit of the table is seen.
    write_table(tmp_path / "data/other.csv", 2)
    assert project.planned(*arguments, target="mine")["preprocess"] == 1


def test_results_with_a_space_and_nothing_held_out(project):
    """The whole pipeline into a folder whose name has to be quoted; and without a test set."""
    values = yaml.safe_load((project.folder / "config/experiments/tiny.yaml").read_text())
    values["recording"]["test"], values["prediction"] = [], None
    experiment = project.folder / "config/experiments/untested.yaml"
    settings = project.folder / "config/untested.yaml"
    experiment.write_text(yaml.safe_dump(values, sort_keys=False))
    settings.write_text("groups: {untested: [untested]}\nbudget: quick\n")
    try:
        arguments = ("untested", "--configfile", "config/untested.yaml")
        arguments += ("--config", "results=results/my own; touch x")
        project.snakemake(*arguments)
        results = project.folder / "results/my own; touch x/quick/untested"
        assert (results / "report.html").stat().st_size > 50_000
        table = pd.read_csv(results / "metrics.csv").set_index(["run", "metric"])
        assert table["reason"]["csvgd_multiple", "rmse"] == "no recording is held out"
        assert np.isfinite(table["value"]["csvgd_multiple", "rmse_train"])
        assert not (project.folder / "x").exists()
        shown = project.snakemake(*arguments, "--dry-run")
        assert "Nothing to be done" in shown.stdout
    finally:
        experiment.unlink()
        settings.unlink()
