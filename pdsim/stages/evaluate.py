"""Stage ``evaluate``: every metric of one posterior, in long format."""

from typing import Any

import numpy as np
import xarray as xr

from pdsim.runtime.files import read_dataset
from pdsim.likelihood.config import LikelihoodConfig
from pdsim.likelihood.noise import channel_noise, channel_spread
from pdsim.metrics.coverage import coverage
from pdsim.metrics.credible_rank import credible_rank
from pdsim.metrics.energy_score import energy_score
from pdsim.metrics.kl import kl_divergence
from pdsim.metrics.log_likelihood import log_likelihood
from pdsim.metrics.long_format import COLUMNS, score_rows, write_rows
from pdsim.metrics.mmd import mmd
from pdsim.metrics.rmse import rmse
from pdsim.metrics.score import Score, undefined
from pdsim.parameters import ParameterSpace
from pdsim.posterior import read_draws
from pdsim.recordings.config import PopulationConfig, RecordingConfig
from pdsim.systems.simulator import build_simulator, known_truth
from pdsim.systems.config import SimulatorConfig

# Pooled sets hold this many roll-outs at most; distances between all pairs are taken.
POOLED = 1000
# Samples of a true distribution of parameters.
_TRUE_SAMPLES = 1000


def pool(simulated: np.ndarray) -> np.ndarray:
    """One set of roll-outs (n, time · channel) from every start and every draw (Sec. III).

    Where they are too many, each draw keeps some of its starts, in rotation: every draw and every
    start are met equally often.

    Args:
        simulated: (start, draw, time, channel).
    """
    starts, draws = simulated.shape[:2]
    turns = min(starts, max(POOLED // draws, 1))
    draw = np.arange(draws)
    chosen = [
        simulated[(draw + round(turn * starts / turns)) % starts, draw] for turn in range(turns)
    ]
    return np.concatenate(chosen).reshape(turns * draws, -1)


def trajectory_scores(
    observed: np.ndarray,
    simulated: np.ndarray,
    *,
    spread: np.ndarray,
    noise: np.ndarray,
    position: np.ndarray,
) -> dict[str, Score]:
    """Compare roll-outs with recordings, as sets and one by one.

    Args:
        observed: (trajectory, time, channel).
        simulated: (trajectory, draw, time, channel).
        spread, noise: (channel,) scale for sets, and standard deviation of the observations.
        position: (channel,) which are positions.
    """
    real = (observed / spread).reshape(len(observed), -1)
    sim = pool(simulated / spread)
    return {
        "kl_real_sim": kl_divergence(real, sim),
        "kl_sim_real": kl_divergence(sim, real),
        "mmd": mmd(real, sim),
        "log_likelihood": log_likelihood(observed, simulated, noise),
        "rmse": rmse(observed[..., position], simulated[..., position]),
        "energy_score": energy_score(observed / spread, simulated / spread),
        "coverage_90": coverage(observed, simulated),
    }


def parameter_scores(
    draws: np.ndarray, space: ParameterSpace, population: PopulationConfig
) -> dict[str, Score]:
    """Compare draws with the true distribution of the parameters, in unit coordinates.

    Args:
        draws: (draw, M) physical values.
    """
    random = np.random.default_rng(0)
    covariance = np.array(population.covariance)
    true = random.multivariate_normal(population.mean, covariance, size=_TRUE_SAMPLES)
    p, q = (np.asarray(space.to_unit(x)) for x in (true, draws))
    return {
        "parameter_kl_true_posterior": kl_divergence(p, q),
        "parameter_kl_posterior_true": kl_divergence(q, p),
        "parameter_mmd": mmd(p, q),
    }


def scores(
    options: dict[str, Any], trajectories: str, posterior: str, rollouts: str
) -> dict[str, Score]:
    """Compute every metric of one posterior.

    Args:
        options: ``simulator``, ``recording`` and ``likelihood`` of the experiment's config.
    """
    simulator = SimulatorConfig.model_validate(options["simulator"])
    data, rolled = read_dataset(trajectories), read_dataset(rollouts)
    stats, history = read_dataset(posterior, "sample_stats"), read_dataset(posterior, "history")
    position = data["channel_kind"].values == "position"
    test = data["split"].values == "test"
    observed = data["observed"].values[:, 1:]
    simulated = rolled["simulated"].values.astype(np.float64)
    fitted = rolled["fitted"].values[:, None].astype(np.float64)
    near = {"observed": observed[..., position], "simulated": simulated[..., position]}
    result = trajectory_scores(observed[test], simulated[test], **scales(options, data))
    result |= {
        "rmse_train": rmse(near["observed"][~test], near["simulated"][~test]),
        "rmse_fitted_start": rmse(near["observed"][test], fitted[test][..., position]),
        "rmse_train_fitted_start": rmse(near["observed"][~test], fitted[~test][..., position]),
        "lost_rollouts": Score(float((~np.isfinite(simulated[test]).all(axis=(2, 3))).sum())),
        "diverging": Score(float(stats["diverging"].sum())),
        "max_defect_median": Score(float(stats["max_defect"].median())),
        "rollouts_used": Score(float(history["rollouts"].values[-1])),
        "gradients_used": Score(float(history["gradients"].values[-1])),
        "seconds": Score(float(history["seconds"].values[-1])),
    }
    convergence = read_dataset(posterior, "convergence")
    for name, worst in (("r_hat", np.max), ("ess_bulk", np.min)):
        if name in convergence:
            value = float(worst(convergence[name].values))
            result[name] = (
                Score(value) if np.isfinite(value) else undefined("the chains are too short")
            )
    _, space = build_simulator(simulator)
    draws = read_draws(posterior, space)
    truth = known_truth(simulator)
    if truth is not None:
        result["credible_rank"] = credible_rank(draws, truth)
    population = true_population(options)
    if population is not None:
        result |= parameter_scores(draws, space, population)
    return result


def scales(options: dict[str, Any], data: xr.Dataset) -> dict[str, np.ndarray]:
    """Return the keyword arguments of ``trajectory_scores`` that come from config and data."""
    return {
        "spread": channel_spread(data),
        "noise": channel_noise(LikelihoodConfig.model_validate(options["likelihood"]), data),
        "position": data["channel_kind"].values == "position",
    }


def true_population(options: dict[str, Any]) -> PopulationConfig | None:
    """Return the distribution the parameters were drawn from, where there is one."""
    camera = RecordingConfig.model_validate(options["recording"]).camera
    return camera.population if camera else None


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
    rows = [
        [identity[column] for column in COLUMNS[:4]] + row
        for row in score_rows(scores(options, trajectories, posterior, rollouts))
    ]
    write_rows(output, COLUMNS, rows)
