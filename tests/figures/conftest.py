"""Small result files in the layout of the stages: with a test set, and without one."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from pdsim.inference.bayessim.config import BayesSimConfig
from pdsim.inference.identity import Identity
from pdsim.likelihood.config import LikelihoodConfig
from pdsim.metrics.long_format import COLUMNS, LEARNING_CURVE_COLUMNS
from pdsim.posterior import parameter_group
from pdsim.recordings.recording import Recording
from pdsim.recordings.trajectories import trajectory_set
from pdsim.runtime.files import write_dataset
from pdsim.systems.config import SimulatorConfig
from pdsim.systems.ensemble import simulate_each
from pdsim.systems.simulator import Simulator, build_simulator

FRAME_TIME = 0.02
DRAWS = 24
WINDOWS = 5
PREFIX = 12
TRUTH = np.array([1.5, 2.0])
ESTIMATORS = (
    Identity("svgd_single", "svgd", "single"),
    Identity("csvgd_multiple", "csvgd", "multiple"),
    Identity("csvgd_gradient", "csvgd", "multiple"),
    Identity("newcomer_single", "newcomer", "single"),
)
VARIANTS = tuple(
    Identity(f"bayessim_{name}", "bayessim", "none")
    for name in ("downsampled_mdn", "signature_mdrff_rbf")
)
SECTIONS: dict[str, Any] = {
    "title": "Two links",
    "simulator": SimulatorConfig.model_validate(
        {
            "system": "double_pendulum",
            "parameters": {
                "link_1": {"lower": 0.5, "upper": 5.0, "unit": "m", "sets": ["com_y_1", "length"]},
                "link_2": {"lower": 0.5, "upper": 5.0, "unit": "m", "sets": ["com_y_2"]},
            },
            "fixed": {"mass_1": 1.0, "mass_2": 1.0, "inertia_1": 0.0, "inertia_2": 0.0},
        }
    ),
    "likelihood": LikelihoodConfig(noise_relative=0.1, window_count=WINDOWS),
    "landscape": ("link_1", "link_2"),
    "bayessim": BayesSimConfig(),
}


class Files(NamedTuple):
    """A folder of results, and which files of each kind it holds."""

    folder: Path
    trajectories: str
    posterior: dict[Identity, str]
    rollouts: dict[Identity, str]
    prediction: dict[Identity, str]
    course: str
    metrics: str
    statistics: list[str]
    trained: list[str]


class Layout(NamedTuple):
    """Recordings to make.

    Attributes:
        lengths: of each [frames].
        train: how many of them are for training.
        unobserved: a channel that no sensor saw.
        population: whether the truths were drawn from a Gaussian, and are not all the same.
    """

    lengths: tuple[int, ...]
    train: int
    unobserved: int
    population: bool


HELD_OUT = Layout((60, 60, 45, 60), 1, unobserved=3, population=False)
TRAINING_ONLY = Layout((60, 40), 2, unobserved=1, population=True)


@pytest.fixture(scope="session")
def simulator() -> Simulator:
    return build_simulator(SECTIONS["simulator"])


@pytest.fixture(scope="session")
def held_out(simulator, tmp_path_factory) -> Files:
    return write_files(tmp_path_factory.mktemp("held_out"), simulator, HELD_OUT)


@pytest.fixture(scope="session")
def training_only(simulator, tmp_path_factory) -> Files:
    return write_files(tmp_path_factory.mktemp("training_only"), simulator, TRAINING_ONLY)


def write_files(folder: Path, simulator: Simulator, layout: Layout) -> Files:
    rng = np.random.default_rng(0)
    data = write_trajectories(folder / "trajectories.nc", simulator, layout, rng)
    posteriors, rollouts, predictions = {}, {}, {}
    for identity in (*ESTIMATORS, *VARIANTS):
        run = folder / identity.run / "seed0"
        posteriors[identity] = str(run / "posterior.nc")
        rollouts[identity] = str(run / "rollouts.nc")
        predictions[identity] = str(run / "prediction.nc")
        write_prediction(predictions[identity], data)
        write_posterior(posteriors[identity], rollouts[identity], identity, simulator, data, rng)
    learned = [write_learned(folder, identity, rng) for identity in VARIANTS]
    course, metrics = write_scores(folder, data, rng)
    return Files(
        folder,
        str(folder / "trajectories.nc"),
        posteriors,
        rollouts,
        predictions,
        course,
        metrics,
        [statistics for statistics, _ in learned],
        [trained for _, trained in learned],
    )


def simulate(simulator, physical, start, frames):
    """Trajectories (n, frames, 4) with their start."""
    starts = np.broadcast_to(start, (len(physical), 4))
    shown = simulate_each(
        simulator, np.asarray(simulator.space.to_coordinates(physical)), starts,
        np.zeros((len(physical), frames - 1, 0)), frame_time=FRAME_TIME, precision="float64",
    )  # fmt: skip
    return np.concatenate([starts[:, None], shown], axis=1)


def write_trajectories(path, simulator, layout, rng) -> xr.Dataset:
    recordings = []
    for number, length in enumerate(layout.lengths):
        truth = TRUTH + 0.2 * rng.normal(size=2) * layout.population
        start = np.array([1.2 - 0.3 * number, 0.3, 0.0, 0.0])
        (states,) = simulate(simulator, truth[None], start, length)
        observed = states + 0.01 * rng.normal(size=states.shape)
        observed[:, layout.unobserved] = np.nan
        observed[10:13, 0] = np.nan
        recordings.append(
            Recording(
                f"shake {number}", FRAME_TIME, observed, np.zeros((length, 0)), states, states[0],
                1e-4 * np.eye(4), dict(zip(("com_y_1", "length", "com_y_2"),
                                           truth[[0, 0, 1]], strict=True)),
                first_frame=20, segment="wide_$wing" if number else "", source="raw/<0>.csv",
                sha256=f"{number}" * 64,
            )
        )  # fmt: skip
    splits = ["train"] * layout.train + ["test"] * (len(layout.lengths) - layout.train)
    data = trajectory_set(simulator.system, recordings, splits, {})
    if layout.population:
        data["population_mean"] = ("parameter", TRUTH)
        data["population_covariance"] = (("parameter", "other_parameter"), 0.04 * np.eye(2))
    write_dataset(path, data)
    return data


def write_posterior(path, rollouts, identity, simulator, data, rng) -> None:
    draws = TRUTH + 0.06 * rng.normal(size=(DRAWS, 2)) @ np.array([[1.0, 0.8], [0.0, 0.6]])
    count, frames = data.sizes["trajectory"], data.sizes["time"]
    simulated = np.stack(
        [simulate(simulator, draws, start, frames)[:, 1:] for start in data["start"].values]
    )
    simulated[0, 0, 30:] = np.nan
    write_dataset(
        rollouts,
        xr.Dataset({"simulated": (("trajectory", "draw", "time", "channel"), simulated)},
                   coords={"time": data["time"][1:]}),
    )  # fmt: skip
    windows = WINDOWS if identity.shooting == "multiple" else 1
    begin = 12 * np.arange(1, windows)
    train = np.flatnonzero(data["split"].values == "train")
    starts = np.nan_to_num(data["states"].values[train][:, begin])
    starts = starts + 0.05 * rng.normal(size=(DRAWS, *starts.shape))
    used = np.arange(1, 41) * DRAWS
    gap = 1e4 * np.exp(-np.arange(40) / 6) * rng.uniform(0.5, 1.5, 40)
    history = {
        "rollouts": used, "gradients": used, "seconds": 0.01 * used, "log_likelihood": -gap,
        "log_likelihood_best": -0.5 * gap, "max_defect": gap / 1e4, "median_defect": gap / 1e5,
        "diverging": np.maximum(3 - np.arange(40) // 4, 0),
    }  # fmt: skip
    likely = rng.normal(size=(1, DRAWS))
    likely[0, 0] = np.nan
    chain = ("chain", "draw")
    ratio = draws[:, 0] / draws[:, 1]
    tree = {
        "/": xr.Dataset(
            attrs={
                **identity._asdict(), "seed": 0, "sample_kind": "particles", "ended": "time",
                "rejected": 3, "moved_to_limits": 0, "versions": "jax=0", "device": "cpu",
                "fingerprint": "f" * 64,
            }
        ),
        "posterior": parameter_group(simulator.space, draws[None], chain),
        "sample_stats": xr.Dataset(
            {
                "log_likelihood": (chain, likely),
                "max_defect": (chain, np.full((1, DRAWS), 0.01)),
                "diverging": (chain, np.isnan(likely)),
            }
        ),
        "shooting": xr.Dataset({"start": (("draw", "trajectory", "window", "state"), starts)}),
        "history": xr.Dataset({name: ("iteration", x) for name, x in history.items()}),
        "convergence": xr.Dataset(),
    }  # fmt: skip
    if identity.method == "newcomer":
        tree["convergence"] = xr.Dataset(
            {"r_hat": ("parameter", [1.2, 1.0]), "ess_bulk": ("parameter", [8.0, 9.0])}
        )
    if identity.method == "svgd":
        tree["combinations"] = xr.Dataset({"ratio": (chain, ratio[None], {"units": "m/m"})})
    write_dataset(path, xr.DataTree.from_dict(tree))
    assert count == len(simulated)


def write_prediction(path, data) -> None:
    """The recordings themselves, scattered, with the first three channels measured."""
    rng, test = np.random.default_rng(1), np.flatnonzero(data["split"].values == "test")
    states = np.nan_to_num(data["states"].values[test, None, PREFIX:])
    shape = (len(test), DRAWS, *states.shape[2:])
    predicted = states + 0.05 * rng.normal(size=shape)
    if len(test):
        predicted[0, 0, 5:] = np.nan
    observed = predicted + 0.01 * rng.normal(size=shape)
    dims = ("trajectory", "draw", "time")
    write_dataset(
        path,
        xr.Dataset(
            {
                "predicted": ((*dims, "channel"), predicted.astype(np.float32)),
                "predicted_observation": ((*dims, "measured"), observed[..., :3]),
            },
            coords={"measured": data["channel"].values[:3]},
            attrs={"prefix": PREFIX, "seed": 0},
        ),
    )


def write_learned(folder, identity, rng) -> tuple[str, str]:
    """The files of a BayesSim variant: its statistic, and its training."""
    variant = identity.run.removeprefix("bayessim_")
    statistic = variant.partition("_")[0]
    statistics = folder / "bayessim" / f"{statistic}.nc"
    coordinates = rng.uniform(size=(70, 2))
    simulated = np.sin(coordinates @ rng.normal(size=(2, 30))) + 0.05 * rng.normal(size=(70, 30))
    write_dataset(
        statistics,
        xr.Dataset(
            {
                "simulated": (("sample", "feature"), simulated),
                "recorded": (("trajectory", "feature"), simulated[:1] + 0.1),
                "coordinates": (("sample", "parameter"), coordinates),
                "held_out": ("sample", np.arange(70) >= 50),
            },
            attrs={"statistic": statistic, "lost": 0},
        ),
    )
    epochs = np.arange(300)
    loss = 2 - np.log1p(epochs) / 3 + 0.1 * rng.normal(size=300)
    trained = folder / identity.run / "seed0/density_model.nc"
    write_dataset(
        trained,
        xr.DataTree.from_dict(
            {
                "/": xr.Dataset(attrs={"variant": variant}),
                "history": xr.Dataset(
                    {"loss": ("epoch", loss), "held_out_loss": ("epoch", loss + 0.2)}
                ),
            }
        ),
    )
    return str(statistics), str(trained)


def write_scores(folder, data, rng) -> tuple[str, str]:
    """The course and the metrics of all runs, two seeds."""
    held_out = bool((data["split"].values == "test").any())
    course, metrics = [], []
    for number, identity in enumerate((*ESTIMATORS, *VARIANTS)):
        for seed in (0, 1):
            start = ("two_links", *identity, seed)
            for step in range(6):
                for metric, scale in (("kl_real_sim", 900.0), ("rmse", 0.3), ("mmd", 0.1)):
                    value = scale * (1 + number / 4) / (1 + step) ** 2 * rng.uniform(0.9, 1.1)
                    row = (*start, 2**step * 10, 0.1 * 2**step, metric)
                    course.append((*row, np.nan if metric == "mmd" and number == 0 else value, ""))
            for metric, value in (("rmse_train", 0.1), ("rmse_train_fitted_start", 0.02),
                                  ("rollouts_used", 960.0)):  # fmt: skip
                metrics.append((*start, metric, value * (1 + 0.1 * number), ""))
            if identity.method == "newcomer":
                metrics.append((*start, "r_hat", 1.2, ""))
            for metric in ("rmse", "rmse_median", "rmse_fitted_start", "kl_real_sim", "mmd_perfect",
                           "energy_score"):  # fmt: skip
                value = 0.2 + 0.1 * number + 0.01 * seed if held_out else np.nan
                reason = "" if held_out else "no recording is held out"
                metrics.append((*start, metric, value, reason))
    pd.DataFrame(course, columns=list(LEARNING_CURVE_COLUMNS)).to_csv(
        folder / "learning_curve.csv", index=False
    )
    pd.DataFrame(metrics, columns=list(COLUMNS)).to_csv(folder / "metrics.csv", index=False)
    return str(folder / "learning_curve.csv"), str(folder / "metrics.csv")
