"""Stage ``evaluate``: every metric of one posterior, in long format."""

import csv
import io
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from pdsim.config import LikelihoodConfig, SimulatorConfig
from pdsim.errors import PdsimError
from pdsim.files import read_dataset, write_text
from pdsim.likelihood.noise import channel_noise, channel_spread
from pdsim.metrics.coverage import coverage
from pdsim.metrics.credible_rank import credible_rank
from pdsim.metrics.energy_score import energy_score
from pdsim.metrics.kl import kl_divergence
from pdsim.metrics.log_likelihood import log_likelihood
from pdsim.metrics.mmd import mmd
from pdsim.metrics.rmse import rmse
from pdsim.metrics.score import Score
from pdsim.posterior import read_draws
from pdsim.simulator import build_simulator, known_truth

COLUMNS = ("experiment", "method", "shooting", "seed", "metric", "value", "reason")


def scores(
    options: dict[str, Any], trajectories: str, posterior: str, rollouts: str
) -> dict[str, Score]:
    """Compute every metric of one posterior.

    Args:
        options: ``simulator`` and ``likelihood`` of the experiment's config.
    """
    simulator = SimulatorConfig.model_validate(options["simulator"])
    data, rolled = read_dataset(trajectories), read_dataset(rollouts)
    stats, history = read_dataset(posterior, "sample_stats"), read_dataset(posterior, "history")
    noise = channel_noise(LikelihoodConfig.model_validate(options["likelihood"]), data)
    spread = channel_spread(data)
    position = data["channel_kind"].values == "position"
    test = data["split"].values == "test"
    observed = data["observed"].values[:, 1:]
    simulated = rolled["simulated"].values.astype(np.float64)
    fitted = rolled["fitted"].values[:, None].astype(np.float64)

    # Sets of whole trajectories as vectors: every draw from every held-out start against every
    # held-out recording (Sec. III), channels in units of their spread.
    real = (observed[test] / spread).reshape(test.sum(), -1)
    sim = (simulated[test] / spread).reshape(-1, real.shape[1])
    lost = int((~np.isfinite(sim).all(axis=1)).sum())
    result = {
        "kl_real_sim": kl_divergence(real, sim),
        "kl_sim_real": kl_divergence(sim, real),
        "mmd": mmd(real, sim),
        "log_likelihood": log_likelihood(observed[test], simulated[test], noise),
        "rmse": rmse(observed[test][..., position], simulated[test][..., position]),
        "rmse_train": rmse(observed[~test][..., position], simulated[~test][..., position]),
        "rmse_fitted_start": rmse(observed[test][..., position], fitted[test][..., position]),
        "rmse_train_fitted_start": rmse(
            observed[~test][..., position], fitted[~test][..., position]
        ),
        "energy_score": energy_score(observed[test] / spread, simulated[test] / spread),
        "coverage_90": coverage(observed[test], simulated[test]),
        "lost_rollouts": Score(float(lost)),
        "diverging": Score(float(stats["diverging"].sum())),
        "max_defect_median": Score(float(stats["max_defect"].median())),
        "rollouts_used": Score(float(history["rollouts"].values[-1])),
        "seconds": Score(float(history["seconds"].values[-1])),
    }
    truth = known_truth(simulator)
    if truth is not None:
        _, space = build_simulator(simulator)
        result["credible_rank"] = credible_rank(read_draws(posterior, space), truth)
    return result


def evaluate(
    options: dict[str, Any],
    *,
    identity: dict[str, Any],
    trajectories: str,
    posterior: str,
    rollouts: str,
    output: str,
) -> None:
    """Write one posterior's metrics.

    Args:
        identity: values of the columns experiment, method, shooting and seed.
    """
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(COLUMNS)
    for name, score in scores(options, trajectories, posterior, rollouts).items():
        value = "" if np.isnan(score.value) else repr(score.value)
        writer.writerow([identity[column] for column in COLUMNS[:4]] + [name, value, score.reason])
    write_text(output, table.getvalue())


def read_metrics(path: str) -> pd.DataFrame:
    """Read a metrics file."""
    try:
        table = pd.read_csv(path, dtype={"reason": str}, keep_default_na=True)
    except (OSError, ValueError) as error:
        raise PdsimError(f"{path}: not a metrics table: {error}") from error
    if tuple(table.columns) != COLUMNS:
        raise PdsimError(f"{path}: its columns are {list(table.columns)}, not {list(COLUMNS)}")
    return table.assign(reason=table["reason"].fillna(""))


def gather(parts: Sequence[str], output: str) -> None:
    """Put the metrics of all runs of an experiment into one file."""
    table = pd.concat([read_metrics(path) for path in parts], ignore_index=True)
    write_text(output, table.to_csv(index=False))
