import json

import arviz
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
import xarray as xr
import yaml

from pdsim.cli.main import main
from pdsim.experiment.load import load_experiment
from pdsim.metrics.long_format import COLUMNS, LEARNING_CURVE_COLUMNS, at_rollouts, read_metrics
from pdsim.metrics.metric import pool
from pdsim.recordings.smoothing import white_noise
from pdsim.report.numbers import noise_text, recordings_lines
from pdsim.runtime.files import read_dataset, write_dataset
from pdsim.systems.ensemble import roll_out
from pdsim.systems.simulator import build_simulator
from pdsim.tables import paper

# Each with the chains and draws its twelve draws come from.
RUNS = (
    ("svgd_single", 1, 12),
    ("csvgd_multiple", 1, 12),
    ("csvgd_marginal", 1, 12),
    ("nuts_single", 12, 1),
    ("bayessim_signature_mdrff_rbf", 1, 12),
)
RUN_NAMES = tuple(name for name, _, _ in RUNS)


def posterior_file(tiny, run="csvgd_multiple"):
    return tiny / run / "seed0/posterior.nc"


def test_trajectories_carry_units_splits_and_sources(tiny):
    data = read_dataset(tiny / "trajectories.nc")
    assert data["observed"].dims == ("trajectory", "time", "channel")
    assert data["channel_unit"].values.tolist() == ["rad", "rad", "rad/s", "rad/s"]
    assert data["time"].attrs["units"] == "s"
    assert data["split"].values.tolist() == ["train"] + ["test"] * 4
    assert data["run"].values.tolist() == ["0", "1", "2", "3", "4"]
    assert all(len(digest) == 64 for digest in data["sha256"].values)


@pytest.mark.parametrize(("run", "chains", "draws"), RUNS)
def test_posteriors_open_in_arviz(tiny, run, chains, draws):
    data = arviz.from_netcdf(posterior_file(tiny, run))
    posterior = data["posterior"]
    assert dict(posterior.sizes) == {"chain": chains, "draw": draws}
    for name in ("link_1", "link_2"):
        assert posterior[name].attrs == {"units": "m", "lower": 0.5, "upper": 5.0}
        assert posterior[name].min() >= 0.5
        assert posterior[name].max() <= 5.0
    summary = arviz.summary(data, kind="stats")
    assert list(summary.index) == ["link_1", "link_2"]


def test_posteriors_hold_all_groups_and_their_provenance(tiny):
    tree = xr.open_datatree(posterior_file(tiny), engine="netcdf4")
    groups = {"posterior", "sample_stats", "prior", "shooting", "history", "course", "convergence"}
    assert set(tree.children) == groups | {"combinations", "noise", "recordings", "single"}
    assert set(tree["recordings"].data_vars) == set()
    assert set(tree["single"].data_vars) == set()
    assert set(tree["noise"].data_vars) == set()
    assert tree["combinations"]["J1_over_G1"].shape == tree["posterior"]["link_1"].shape
    assert tree["course"]["link_1"].shape == (tree["course"].sizes["snapshot"], 12)
    np.testing.assert_array_equal(
        tree["course"]["link_1"].values[-1], tree["posterior"]["link_1"].values[0]
    )
    assert tree["history"]["rollouts"].values[-1] <= 12 * 30
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
    assert attributes["ended"] == "budget"
    assert attributes["seed"] == 0
    assert len(attributes["fingerprint"]) == 64
    assert "jax=" in attributes["versions"]
    assert json.loads(attributes["config"])["work"]["particle_count"] == 12
    tree.close()


def test_marginal_shooting_s_posterior_holds_the_noise_it_inferred(tiny):
    noise = read_dataset(posterior_file(tiny, "csvgd_marginal"), "noise")
    names = {"sensor_q0", "sensor_q1", "process_correlation", "varying_link_1"}
    names |= {f"process_{name}" for name in ("q0", "q1", "dq0", "dq1")}
    assert set(noise.data_vars) == names
    assert dict(noise.sizes) == {"chain": 1, "draw": 12}
    assert all((noise[name] > 0).all() for name in names)


def test_a_parameter_that_varies_has_a_value_in_each_recording_of_training(tiny):
    path = posterior_file(tiny, "csvgd_marginal")
    own, shared = (read_dataset(path, group)["link_1"] for group in ("recordings", "posterior"))
    assert dict(own.sizes) == {"chain": 1, "draw": 12, "trajectory": 1}
    assert own.attrs["units"] == "m"
    assert np.isfinite(own).all() and (own.isel(trajectory=0) != shared).all()
    lines = recordings_lines(str(path))
    assert [line.name for line in lines] == ["link_1, run 0 from frame 20"]
    middle = float(np.median(own))
    assert float(lines[0].low) <= float(lines[0].median) <= float(lines[0].high)
    assert float(lines[0].median) == pytest.approx(middle, rel=1e-3)
    assert "from recording to recording deviate" in noise_text(str(path), 0.1).lower()


def test_the_same_job_gives_the_same_draws(tiny, tmp_path):
    again = tmp_path / "posterior.nc"
    arguments = ["--quiet", "infer", str(tiny / "tiny.yaml"), "--run", "csvgd_multiple"]
    arguments += ["--budget", "quick", "--output", str(again)]
    assert main([*arguments, "--trajectories", str(tiny / "trajectories.nc")]) == 0
    for group in ("posterior", "sample_stats", "prior", "shooting"):
        xr.testing.assert_identical(
            read_dataset(again, group), read_dataset(posterior_file(tiny), group)
        )
    assert [path.name for path in tmp_path.iterdir()] == ["posterior.nc"]


def test_jobs_that_write_side_by_side_keep_checkpoints_of_their_own(tiny, tmp_path, monkeypatch):
    kept = []

    class Stopped(Exception):
        pass

    def stop(*_, checkpoint, **__):
        kept.append(checkpoint)
        raise Stopped

    monkeypatch.setattr("pdsim.stages.infer.run", stop)
    for seed in ("0", "1"):
        arguments = ["infer", str(tiny / "tiny.yaml"), "--run", "csvgd_multiple", "--seed", seed]
        arguments += ["--budget", "quick", "--output", str(tmp_path / f"seed{seed}.nc")]
        with pytest.raises(Stopped):
            main([*arguments, "--trajectories", str(tiny / "trajectories.nc")])
    assert len(set(kept)) == 2


def test_roll_outs_start_where_the_recording_does(tiny):
    data = read_dataset(tiny / "trajectories.nc")
    rolled = read_dataset(tiny / "csvgd_multiple/seed0/rollouts.nc")
    assert rolled["simulated"].dims == ("trajectory", "draw", "time", "channel")
    assert rolled.sizes["draw"] == 12
    first = rolled["simulated"].values[:, :, 0, :2]
    start = data["start"].values[:, None, :2]
    # One frame of 0.01 s at rates below 5 rad/s.
    assert np.abs(first - start).max() < 0.06


def test_metrics_are_in_long_format_with_every_metric_of_every_run(tiny):
    table = read_metrics(tiny / "metrics.csv")
    assert tuple(table.columns) == COLUMNS
    assert set(table["method"]) == {"svgd", "csvgd", "nuts", "bayessim"}
    assert set(table["run"]) == {*RUN_NAMES, "bayessim_downsampled_mdn"}
    shootings = table.drop_duplicates("run").set_index("run")["shooting"].to_dict()
    assert shootings["csvgd_multiple"] == "multiple"
    assert shootings["bayessim_downsampled_mdn"] == "none"
    for method, run in table.groupby("method"):
        needed = {"kl_real_sim", "kl_sim_real", "mmd", "log_likelihood", "rmse"}
        needed |= {"energy_score", "coverage_90", "credible_rank", "lost_rollouts", "diverging"}
        needed |= {"rollouts_used", "gradients_used", "seconds"}
        needed |= {"rmse_median", "mmd_perfect"}
        needed |= {"r_hat", "ess_bulk"} if method == "nuts" else set()
        needed |= {"kept_loss"} if method == "bayessim" else set()
        assert needed <= set(run["metric"])
    missing = table[table["value"].isna()]
    assert (missing["reason"] != "").all()
    # All simulations count, those kept from the training included.
    used = table[(table.method == "bayessim") & (table.metric == "rollouts_used")].value
    assert set(used) == {80 + 40}


def test_a_fitted_start_state_lowers_the_error(tiny):
    table = read_metrics(tiny / "metrics.csv")
    csvgd = table[table.run == "csvgd_multiple"].set_index("metric").value
    assert csvgd["rmse_fitted_start"] < csvgd["rmse"]


def test_a_course_can_be_cut_at_a_number_of_roll_outs(tiny):
    table = read_metrics(tiny / "learning_curve.csv", LEARNING_CURVE_COLUMNS)
    whole, early = (at_rollouts(table, limit) for limit in (10**9, 60))
    assert tuple(early.columns) == COLUMNS
    final = read_metrics(tiny / "metrics.csv").set_index(["run", "metric"])["value"]
    last = whole.set_index(["run", "metric"])["value"]
    for run in ("svgd_single", "csvgd_multiple", "csvgd_marginal"):
        # Draws are scored alike at the end of the course and in the metrics; roll-outs are kept
        # with fewer digits in between.
        assert last[run, "rmse"] == pytest.approx(final[run, "rmse"], rel=1e-4)
    used = table[table["rollouts"] <= 60].groupby("run")["rollouts"].max()
    assert used.max() == 60
    first = early.set_index(["run", "metric"])["value"]
    assert first["svgd_single", "rmse"] != last["svgd_single", "rmse"]


def test_tables_can_be_cut_from_the_command_line(tiny, tmp_path):
    arguments = [
        "--quiet",
        "table",
        str(tiny / "tiny.yaml"),
        "--metrics",
        str(tiny / "learning_curve.csv"),
    ]
    assert main([*arguments, "--rollouts", "60", "--folder", str(tmp_path)]) == 0
    names = {"comparison", "table_1", "table_2"}
    assert {path.stem for path in tmp_path.iterdir()} == names
    assert len(list(tmp_path.iterdir())) == 9


def test_pooled_sets_meet_every_start_and_draw_equally_often():
    starts, draws = 50, 100
    number = np.arange(starts)[:, None] * 1000 + np.arange(draws)
    pooled = pool(number[..., None, None].astype(float))[:, 0].astype(int)
    assert len(pooled) == len(set(pooled)) == 1000
    assert (np.bincount(pooled % 1000) == 10).all()
    assert (np.bincount(pooled // 1000) == 20).all()
    few = pool(np.zeros((10, 100, 3, 2)))
    assert few.shape == (1000, 6)


def test_tuning_reads_the_training_recordings_alone(tiny, tmp_path):
    data = read_dataset(tiny / "trajectories.nc")
    hidden = data.copy(deep=True)
    hidden["observed"][np.flatnonzero(data["split"].values == "test")] = np.nan
    hidden["states"][np.flatnonzero(data["split"].values == "test")] = np.nan
    write_dataset(tmp_path / "hidden.nc", hidden)
    values = yaml.safe_load((tiny / "tiny.yaml").read_text())
    values["runs"][0] = {
        "method": "svgd",
        "shooting": "single",
        "settings": {"step_size": 0.03},
        "tune": {"step_size": [0.0001, 0.03]},
    }
    values["tuning"] = {"budget": {"particle_count": 12, "iteration_count": 60}}
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(values))
    arguments = ["--quiet", "tune", str(tmp_path / "tiny.yaml"), "--run", "svgd_single"]
    arguments += ["--trajectories", str(tmp_path / "hidden.nc")]
    assert main([*arguments, "--output", str(tmp_path / "tuning.csv")]) == 0
    table = pd.read_csv(tmp_path / "tuning.csv")
    assert table["use"].tolist()[1] == "best config"
    assert table["energy_score"][1] < 0.9 * table["energy_score"][0]


def test_training_sets_are_pairs(tiny):
    """Each trajectory is what its own parameters give, seen through the recording's sensors."""
    data, trajectories = (read_dataset(tiny / n) for n in ("training_set.nc", "trajectories.nc"))
    experiment = load_experiment(tiny / "tiny.yaml")
    simulator = build_simulator(experiment.simulator)
    assert data.sizes["sample"] + data.attrs["lost"] == 120
    assert int(data["held_out"].sum()) >= 40 - data.attrs["lost"]
    (again,) = roll_out(
        simulator,
        np.asarray(simulator.space.to_physical(jnp.asarray(data["coordinates"].values))),
        trajectories["start"].values[:1],
        np.zeros((1, trajectories.sizes["time"] - 1, 0)),
        frame_time=trajectories.attrs["frame_time"],
        precision="float64",
    )
    position = trajectories["channel_kind"].values == "angle"
    assert position.tolist() == [True, True, False, False]
    simulated = data["simulated"].values.astype(float)[..., position]
    recorded = trajectories["observed"].values[:1][..., position]
    # What is left of the noisy start state moves slowly, and is not in fourth differences.
    np.testing.assert_allclose(white_noise(simulated), data.attrs["noise"], rtol=0.05)
    np.testing.assert_allclose(white_noise(recorded), data.attrs["noise"])
    apart = np.median(np.abs(simulated[:, 1:] - again[..., position]))
    others = np.median(np.abs(simulated[::-1, 1:] - again[..., position]))
    assert apart < 0.05 * others


def test_an_unknown_variant_is_refused(tiny, capsys):
    arguments = ["--quiet", "train", str(tiny / "tiny.yaml"), "--run", "bayessim_summary_mdn"]
    arguments += ["--budget", "quick", "--statistics", "none.nc", "--output", "none2.nc"]
    assert main(arguments) == 2
    assert "no run is called 'bayessim_summary_mdn'" in capsys.readouterr().err


def test_table_3_has_the_variants_and_csvgd(tiny, tmp_path):
    arguments = ["--quiet", "table", str(tiny / "tiny.yaml"), "--metrics"]
    arguments += [str(tiny / "metrics.csv"), "--table-3", str(tmp_path / "table_3")]
    assert main(arguments) == 0
    frame = pd.read_csv(tmp_path / "table_3.csv", index_col=0)
    assert list(frame.index) == ["downsampled_mdn", "signature_mdrff_rbf", "csvgd"]
    assert np.isfinite(frame["rmse_median"]).all()
    metrics = read_metrics(tiny / "metrics.csv")
    best = paper.best_variant(metrics).run
    losses = metrics[metrics["metric"] == "kept_loss"].set_index("run")["value"]
    names = ("downsampled_mdn", "signature_mdrff_rbf")
    assert losses[best] == min(losses[f"bayessim_{name}"] for name in names)
    heading = paper.table_1(metrics, published=True, unit="rad").columns[5].heading
    assert heading == f"bayessim ({best.removeprefix('bayessim_')})"


def test_tuning_without_values_to_try_says_so(tiny, capsys):
    arguments = ["--quiet", "tune", str(tiny / "tiny.yaml"), "--run", "svgd_single"]
    arguments += ["--output", "none.csv"]
    assert main([*arguments, "--trajectories", str(tiny / "trajectories.nc")]) == 2
    assert "tune: nothing to search" in capsys.readouterr().err
