"""Log likelihood of recorded trajectories under the posterior's roll-outs."""

import numpy as np

from pdsim.metrics.metric import Evidence, Metric
from pdsim.metrics.score import Score, undefined


def log_likelihood(observed: np.ndarray, simulated: np.ndarray, noise: np.ndarray) -> Score:
    """Mean of log p_obs(D^real ‖ D^sim) per trajectory, time step and channel.

        mean_{i,t,c} log ( 1/n Σ_j N(x_itc | x^j_itc, σ_c²) )

    Args:
        observed: (trajectory, time, channel).
        simulated: (trajectory, draw, time, channel), from matched start states.
        noise: σ_c, (channel,).
    """
    finite = np.isfinite(simulated).all(axis=(2, 3), keepdims=True)
    if not finite.any(axis=1).all():
        return undefined("no draw has a finite roll-out for some trajectory")
    z = (np.where(finite, simulated, 0.0) - observed[:, None]) / noise
    with np.errstate(over="ignore", divide="ignore"):
        # A roll-out that is not finite explains nothing: its density is 0, and it counts as a draw.
        exponent = np.where(finite, -0.5 * z**2, -np.inf)
        largest = np.maximum(exponent.max(axis=1), np.finfo(float).min)
        mean = np.exp(exponent - largest[:, None]).mean(axis=1)
        mixture = largest + np.log(mean) - np.log(noise * np.sqrt(2 * np.pi))
    return Score(float(np.nanmean(mixture)))


def _held_out(evidence: Evidence) -> Score:
    test = evidence.test
    return log_likelihood(evidence.observed[test], evidence.simulated[test], evidence.noise)


METRICS = (Metric("log_likelihood", "log likelihood [nat]", _held_out, "high", held_out=True),)
