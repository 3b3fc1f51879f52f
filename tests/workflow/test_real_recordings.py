"""The quick pipeline on the real recordings, from raw files to report."""

import pandas as pd
import pytest
import yaml

pytestmark = pytest.mark.slow


def test_quick_calibrated_pendulum(project, ibm_dir):
    """Every stage together on the IBM double pendulum, scores and report included."""
    folder = project.folder / "config"
    values = yaml.safe_load((folder / "experiments/ibm_calibrated.yaml").read_text())
    kept = (("emcee", "single"), ("csvgd", "multiple"))
    values["runs"] = [
        run
        for run in values["runs"]
        if (run["method"], run["shooting"]) in kept and "name" not in run
    ]
    values["bayessim"] = {
        "statistics": ["difference"],
        "densities": ["mdn"],
        "training_set": {"count": 500, "held_out_count": 100},
        "density": {"epochs": 50, "batch_size": 50},
    }
    values["budgets"]["quick"]["bayessim"] = True
    (folder / "experiments/real_calibrated.yaml").write_text(yaml.safe_dump(values))
    (folder / "real.yaml").write_text(
        f"groups: {{real: [real_calibrated]}}\nbudget: quick\nibm_dir: {ibm_dir}\n"
    )
    project.snakemake("real", "bayessim", "--configfile", "config/real.yaml")
    results = project.folder / "results/quick/real_calibrated"
    assert (results / "report.html").stat().st_size > 100_000
    table = pd.read_csv(results / "metrics.csv").set_index(["run", "metric"])["value"]
    assert table["csvgd_multiple", "lost_rollouts"] == 0
    # The quick budget is a twentieth of the paper's; a pendulum that hangs still would be off by
    # 1 rad.
    assert table["csvgd_multiple", "rmse_train"] < 0.3
    rows = pd.read_csv(results / "tables/table_3.csv", index_col=0)
    assert "difference_mdn, published" in rows.index
    assert rows.loc["difference_mdn", "rmse_median"] > 0
    for name in ("statistics", "training", "calibration", "bayessim_densities"):
        assert (results / f"figures/{name}.pdf").stat().st_size > 0
    shown = project.snakemake("real", "bayessim", "--configfile", "config/real.yaml", "--dry-run")
    assert "Nothing to be done" in shown.stdout
