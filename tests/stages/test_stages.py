import json

import arviz
import numpy as np
import pandas as pd
import pytest
import xarray as xr

from pdsim.cli import main
from pdsim.files import read_dataset
from pdsim.stages.evaluate import COLUMNS, read_metrics
from pdsim.tables import comparison

RUNS = (("svgd", "single"), ("csvgd", "multiple"))


def posterior_file(tiny, method="csvgd", shooting="multiple"):
    return tiny / method / shooting / "seed0/posterior.nc"


def test_trajectories_carry_units_splits_and_sources(tiny):
    data = read_dataset(tiny / "trajectories.nc")
    assert data["observed"].dims == ("trajectory", "time", "channel")
    assert data["channel_unit"].values.tolist() == ["rad", "rad", "rad/s", "rad/s"]
    assert data["time"].attrs["units"] == "s"
    assert data["split"].values.tolist() == ["train"] + ["test"] * 4
    assert data["run"].values.tolist() == [0, 1, 2, 3, 4]
    assert all(len(digest) == 64 for digest in data["sha256"].values)


@pytest.mark.parametrize(("method", "shooting"), RUNS)
def test_posteriors_open_in_arviz(tiny, method, shooting):
    data = arviz.from_netcdf(posterior_file(tiny, method, shooting))
    posterior = data["posterior"]
    assert dict(posterior.sizes) == {"chain": 1, "draw": 12}
    for name in ("link_1", "link_2"):
        assert posterior[name].attrs == {"units": "m", "lower": 0.5, "upper": 5.0}
        assert posterior[name].min() >= 0.5
        assert posterior[name].max() <= 5.0
    summary = arviz.summary(data, kind="stats")
    assert list(summary.index) == ["link_1", "link_2"]


def test_posteriors_hold_all_groups_and_their_provenance(tiny):
    tree = xr.open_datatree(posterior_file(tiny), engine="netcdf4")
    assert set(tree.children) == {"posterior", "sample_stats", "prior", "shooting", "history"}
    assert tree["history"].sizes["iteration"] == 30
    assert tree["shooting"]["defect"].shape == (12, 1, 9, 4)
    stats = tree["sample_stats"]
    expected = {"log_likelihood", "log_prior", "limit_violation", "max_defect", "diverging"}
    assert set(stats.data_vars) == expected
    np.testing.assert_allclose(
        stats["max_defect"].values[0],
        np.abs(tree["shooting"]["defect"].values).reshape(12, -1).max(axis=1),
    )
    attributes = tree.attrs
    assert attributes["sample_kind"] == "particles"
    assert attributes["seed"] == 0
    assert len(attributes["fingerprint"]) == 64
    assert "jax=" in attributes["versions"]
    assert json.loads(attributes["config"])["budget"]["particle_count"] == 12
    tree.close()


def test_the_same_job_gives_the_same_draws(tiny, tmp_path):
    again = tmp_path / "posterior.nc"
    arguments = ["--quiet", "infer", str(tiny / "tiny.yaml"), "--method", "csvgd"]
    arguments += ["--shooting", "multiple", "--budget", "quick", "--output", str(again)]
    assert main([*arguments, "--trajectories", str(tiny / "trajectories.nc")]) == 0
    for group in ("posterior", "sample_stats", "prior", "shooting"):
        xr.testing.assert_identical(
            read_dataset(again, group), read_dataset(posterior_file(tiny), group)
        )
    assert not (tmp_path / "checkpoint.npz").exists()


def test_roll_outs_start_where_the_recording_does(tiny):
    data = read_dataset(tiny / "trajectories.nc")
    rolled = read_dataset(tiny / "csvgd/multiple/seed0/rollouts.nc")
    assert rolled["simulated"].dims == ("trajectory", "draw", "time", "channel")
    assert rolled.sizes["draw"] == 12
    first = rolled["simulated"].values[:, :, 0, :2]
    start = data["smoothed"].values[:, None, 0, :2]
    # One frame of 0.01 s at rates below 5 rad/s.
    assert np.abs(first - start).max() < 0.06


def test_metrics_are_in_long_format_with_every_metric_of_every_run(tiny):
    table = read_metrics(tiny / "metrics.csv")
    assert tuple(table.columns) == COLUMNS
    assert set(table["method"]) == {"svgd", "csvgd"}
    for _, run in table.groupby("method"):
        needed = {"kl_real_sim", "kl_sim_real", "mmd", "log_likelihood", "rmse"}
        needed |= {"energy_score", "coverage_90", "credible_rank", "lost_rollouts", "diverging"}
        assert needed <= set(run["metric"])
    missing = table[table["value"].isna()]
    assert (missing["reason"] != "").all()


def test_a_fitted_start_state_lowers_the_error(tiny):
    table = read_metrics(tiny / "metrics.csv").set_index(["method", "metric"])["value"]
    assert table["csvgd", "rmse_fitted_start"] < table["csvgd", "rmse"]


def example_metrics():
    rows = []
    for method, shooting, kl, mmd in (
        ("svgd", "single", 5.0, 0.2),
        ("csvgd", "multiple", 3.0, None),
    ):
        for seed in (0, 1):
            rows.append(("e", method, shooting, seed, "kl_real_sim", kl + seed, ""))
            rows.append(("e", method, shooting, seed, "mmd", mmd, "" if mmd else "collapsed"))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def test_tables_show_spread_best_published_and_missing_values():
    columns, rows = comparison.build(example_metrics(), published=True)
    assert [row.label for row in rows] == [
        "svgd (single shooting)",
        "svgd, published",
        "csvgd (multiple shooting)",
        "csvgd, published",
    ]
    text = comparison.to_markdown(columns, rows)
    assert "**3.5 ± 0.5**" in text
    assert "8804" in text
    assert "n/a" in text
    assert "csvgd (multiple shooting), MMD² [-]: collapsed" in text
    latex = comparison.to_latex(columns, rows)
    assert r"\textbf{3.5 $\pm$ 0.5}" in latex
    frame = pd.read_csv(__import__("io").StringIO(comparison.to_csv(columns, rows)), index_col=0)
    assert frame.loc["csvgd (multiple shooting)", "kl_real_sim"] == 3.5


PLOTS = {
    "density": ("--trajectories", "trajectories.nc", "--rollouts", "{run}/rollouts.nc"),
    "posterior": ("--posterior", "{run}/posterior.nc"),
    "windows": ("--trajectories", "trajectories.nc", "--posterior", "{run}/posterior.nc"),
    "convergence": ("--posterior", "{run}/posterior.nc", "svgd/single/seed0/posterior.nc"),
    "landscape": ("--trajectories", "trajectories.nc"),
}


@pytest.fixture(scope="session")
def figures(tiny):
    def draw(kind, folder):
        arguments = ["--quiet", "plot", kind, str(tiny / "tiny.yaml")]
        arguments += ["--method", "csvgd", "--shooting", "multiple", "--stem", str(folder / kind)]
        for word in PLOTS[kind]:
            word = word.format(run="csvgd/multiple/seed0")
            arguments.append(word if word.startswith("--") else str(tiny / word))
        assert main(arguments) == 0

    for kind in PLOTS:
        draw(kind, tiny)
    return draw


@pytest.mark.parametrize("kind", PLOTS)
def test_figures_are_drawn_and_are_the_same_bytes_again(tiny, figures, tmp_path, kind):
    figures(kind, tmp_path)
    for suffix in (".png", ".pdf"):
        content = (tmp_path / f"{kind}{suffix}").read_bytes()
        assert len(content) > 5000
        assert content == (tiny / f"{kind}{suffix}").read_bytes()


def test_the_report_is_one_file_with_everything(tiny, figures, tmp_path):
    report = tmp_path / "report.html"
    posteriors = [str(posterior_file(tiny, *run)) for run in RUNS]
    arguments = ["--quiet", "report", str(tiny / "tiny.yaml"), "--output", str(report)]
    arguments += ["--metrics", str(tiny / "metrics.csv")]
    arguments += ["--trajectories", str(tiny / "trajectories.nc"), "--posteriors", *posteriors]
    assert main([*arguments, "--figures", *(str(tiny / f"{kind}.png") for kind in PLOTS)]) == 0
    text = report.read_text()
    assert text.count("data:image/png;base64,") == len(PLOTS)
    assert 'src="http' not in text
    for word in ("Synthetic double pendulum", "What the start state explains", "link_2", "jax="):
        assert word in text
