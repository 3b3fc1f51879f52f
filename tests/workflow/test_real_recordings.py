"""The quick pipeline on the real recordings, from raw files to report."""

import pandas as pd
import yaml


def test_quick_calibrated_pendulum(project, ibm_dir):
    folder = project.folder / "config"
    values = yaml.safe_load((folder / "experiments/ibm_calibrated.yaml").read_text())
    kept = (("emcee", "single"), ("csvgd", "multiple"))
    values["runs"] = [run for run in values["runs"] if (run["method"], run["shooting"]) in kept]
    (folder / "experiments/real_calibrated.yaml").write_text(yaml.safe_dump(values))
    (folder / "real.yaml").write_text(
        f"groups: {{real: [real_calibrated]}}\nbudget: quick\nibm_dir: {ibm_dir}\n"
    )
    project.snakemake("real", "--configfile", "config/real.yaml")
    results = project.folder / "results/quick/real_calibrated"
    assert (results / "report.html").stat().st_size > 100_000
    table = pd.read_csv(results / "metrics.csv").set_index(["method", "metric"])["value"]
    assert table["csvgd", "lost_rollouts"] == 0
    # 20 particles and 200 iterations are a tenth of the paper's budget; a pendulum that hangs
    # still would be off by 1 rad.
    assert table["csvgd", "rmse_train"] < 0.3
