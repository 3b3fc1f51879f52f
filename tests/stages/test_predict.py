"""Stages ``predict`` and ``evaluate`` on files, with draws that have noise and draws that do not."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from posteriors import write_posterior

from pdsim.experiment.slices import Evaluate, Predict
from pdsim.inference.identity import Identity
from pdsim.runtime.files import read_dataset, write_dataset
from pdsim.stages.evaluate import evaluate
from pdsim.stages.predict import predict
from pdsim.systems.oscillator import Oscillator

DRAWS, PREFIX, LENGTHS = 6, 9, (31, 31, 24)
COMMON = {
    "simulator": {
        "system": "oscillator",
        "parameters": {"stiffness": {"lower": 5.0, "upper": 50.0, "unit": "N/m"}},
    },
    "precision": "float64",
    "likelihood": {"window_count": 5},
}
NOISE = {"sensor_x": 0.01, "process_x": 0.002, "process_dx": 0.02, "process_correlation": 0.5}


@pytest.fixture(scope="module")
def folder(trajectories_of, tmp_path_factory):
    """Recordings of unequal length, one with a gap across the prefix's end; and posteriors."""
    path, random = tmp_path_factory.mktemp("predict"), np.random.default_rng(0)
    states = [np.cumsum(0.1 * random.normal(size=(n, 2)), axis=0) for n in LENGTHS]
    seen = [x + 0.01 * random.normal(size=x.shape) for x in states]
    seen[1][7:12] = np.nan
    data = trajectories_of(Oscillator(), seen, states, 0.05, splits=["train", "test", "test"])
    data["start_covariance"][:] = 1e-4 * np.eye(2)
    data["channel_derived"][:] = [False, True]
    write_dataset(path / "trajectories.nc", data)
    for name, noise in (("single", {}), ("marginal", NOISE)):
        drawn = {"stiffness": random.uniform(15, 25, DRAWS)}
        wiggled = {k: v * random.uniform(0.9, 1.1, (1, DRAWS)) for k, v in noise.items()}
        chain = ("chain", "draw")
        write_posterior(
            path / f"{name}.nc",
            drawn,
            COMMON["simulator"],
            stats={"max_defect": np.zeros(DRAWS)},
            groups={
                "noise": xr.Dataset({k: (chain, v) for k, v in wiggled.items()}),
                "history": xr.Dataset({"rollouts": ("iteration", [3.0])}),
                "convergence": xr.Dataset(),
            },
        )
    shape = (len(LENGTHS), DRAWS, max(LENGTHS) - 1, 2)
    rolled = {
        "simulated": (("trajectory", "draw", "time", "channel"), np.zeros(shape)),
        "fitted": (("trajectory", "time", "channel"), np.zeros((shape[0], *shape[2:]))),
    }
    write_dataset(path / "rollouts.nc", xr.Dataset(rolled))
    return path


def predicted(folder, name, output, seed=0, samples=1):
    section = {"prefix": PREFIX, "samples": samples}
    options = Predict.model_validate(COMMON | {"prediction": section})
    predict(
        options,
        seed=seed,
        trajectories=str(folder / "trajectories.nc"),
        posterior=str(folder / f"{name}.nc"),
        output=str(output),
    )
    return read_dataset(output)


def scored(folder, prediction, output):
    evaluate(
        Evaluate.model_validate(COMMON),
        experiment="tiny",
        identity=Identity("run", "svgd", "marginal"),
        seed=0,
        trajectories=str(folder / "trajectories.nc"),
        posterior=str(folder / "marginal.nc"),
        rollouts=str(folder / "rollouts.nc"),
        prediction=prediction,
        output=str(output),
    )
    return pd.read_csv(output).set_index("metric")["value"]


@pytest.mark.parametrize("name", ["single", "marginal"])
def test_the_file_holds_the_frames_beyond_the_prefix_and_its_scores_are_numbers(
    folder, tmp_path, name
):
    found = predicted(folder, name, tmp_path / "prediction.nc")
    assert dict(found.sizes) == {
        "trajectory": 2, "draw": DRAWS, "time": 22, "channel": 2, "measured": 1,
    }  # fmt: skip
    assert found["trajectory"].values.tolist() == [1, 2]
    assert found["measured"].values.tolist() == ["x"]
    assert found["time"].values[0] == pytest.approx(PREFIX * 0.05)
    assert found["predicted"].dtype == found["predicted_observation"].dtype == np.float32
    noise = found["predicted_observation"].values[..., 0] - found["predicted"].values[..., 0]
    assert 0.001 < noise.std() < 0.2
    table = scored(folder, str(tmp_path / "prediction.nc"), tmp_path / "metrics.csv")
    chosen = table[table.index.str.startswith("prefix_")]
    assert len(chosen) == 12
    # One held-out recording says nothing of others.
    over = ["prefix_coverage_90_low", "prefix_coverage_90_high"]
    assert np.isfinite(chosen.drop(over)).all()


def test_draws_are_taken_again_with_other_noise(folder, tmp_path):
    once = predicted(folder, "marginal", tmp_path / "once.nc")
    found = predicted(folder, "marginal", tmp_path / "more.nc", samples=2 * DRAWS + 1)
    assert found["draw"].values.tolist() == [*range(DRAWS)] * 3
    np.testing.assert_array_equal(found["predicted"][:, :DRAWS], once["predicted"])
    again = found["predicted"][:, DRAWS : 2 * DRAWS].values
    assert (again != once["predicted"].values).any(axis=(2, 3)).all()


def test_one_seed_gives_one_file_and_another_a_different_one(folder, tmp_path):
    one, again = (predicted(folder, "marginal", tmp_path / f"{i}.nc") for i in range(2))
    assert one.identical(again)
    other = predicted(folder, "marginal", tmp_path / "other.nc", seed=1)
    assert not np.array_equal(one["predicted"].values, other["predicted"].values)


def test_without_a_prediction_no_score_has_its_name(folder, tmp_path):
    table = scored(folder, None, tmp_path / "metrics.csv")
    assert not table.index.str.startswith("prefix_").any()
