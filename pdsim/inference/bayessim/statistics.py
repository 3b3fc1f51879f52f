"""Input statistics ψ(X): one vector for each trajectory, (n, time, channel) → (n, features)."""

import jax
import jax.numpy as jnp
import numpy as np

from pdsim.inference.bayessim.config import StatisticsConfig
from pdsim.inference.bayessim.signature import signature


def downsampled(x: jax.Array, config: StatisticsConfig) -> jax.Array:
    """Every k-th state, flattened."""
    return _flat(x[:, :: config.every])


def difference(x: jax.Array, config: StatisticsConfig) -> jax.Array:
    """Differences τ of successive states: every k-th of them, their mean and variance over time."""
    tau = jnp.diff(x, axis=1)
    return jnp.concatenate([_flat(tau[:, :: config.every]), tau.mean(axis=1), tau.var(axis=1)], 1)


def summary(x: jax.Array, config: StatisticsConfig) -> jax.Array:
    """Mean and variance of each channel, cross-correlations, autocorrelations at some lags.

    The autocorrelation at lag l is 1/(T − l) Σ_t z_t z_{t+l} of the standardised channel z; where a
    channel does not move, all its correlations are 0.
    """
    mean, variance = x.mean(axis=1), x.var(axis=1)
    # What is left of a constant channel by rounding is no motion.
    moves = variance > 1e-24 * (mean**2 + 1)
    scale = jnp.where(moves, jnp.where(moves, variance, 1.0) ** -0.5, 0.0)
    z = (x - mean[:, None]) * scale[:, None]
    time, channels = x.shape[1:]
    one, other = jnp.triu_indices(channels, k=1)
    cross = (z[..., one] * z[..., other]).mean(axis=1)
    lags = [lag for lag in config.lags if lag < time]
    auto = [(z[:, :-lag] * z[:, lag:]).mean(axis=1) for lag in lags]
    return jnp.concatenate([mean, variance, cross, *auto], axis=1)


def signature_of(x: jax.Array, config: StatisticsConfig) -> jax.Array:
    """Path signature up to the depth of the config."""
    return signature(x, config.depth)


def _flat(x: jax.Array) -> jax.Array:
    return x.reshape(x.shape[0], -1)


# Trajectories of which a statistic is computed at once.
_CHUNK = 1000


def compute(name: str, config: StatisticsConfig, x: np.ndarray) -> np.ndarray:
    """Return the statistic of trajectories (n, time, channel) as (n, features), in float64."""
    function = jax.jit(lambda part: STATISTICS[name](part, config))
    parts = [
        np.asarray(function(jnp.asarray(x[i : i + _CHUNK], float)))
        for i in range(0, len(x), _CHUNK)
    ]
    return np.concatenate(parts)


STATISTICS = {
    "downsampled": downsampled,
    "difference": difference,
    "summary": summary,
    "signature": signature_of,
}
