"""Simulation-based calibration of a conditional density (Talts et al., 2018)."""

import jax
import numpy as np

from pdsim.inference.bayessim.mixture import Mixture

# Draws made for each one needed, so that enough lie within the limits.
_SURPLUS = 4


def ranks(density: Mixture, coordinates: np.ndarray, count: int, seed: int = 0) -> np.ndarray:
    """Rank of the true parameters among draws of their own posterior, (n, M).

    If the density is the posterior, each rank is uniform on 0 … ``count``.

    Args:
        density: conditioned on the statistics of n simulations.
        coordinates: (n, M) true unit coordinates.
        count: draws compared with; of ``_SURPLUS`` times as many those within the limits, and
            where fewer are, their rank is stretched.
    """
    draws = np.asarray(density.sample(jax.random.key(seed), _SURPLUS * count), float)
    inside = ((draws >= 0) & (draws <= 1)).all(axis=2)
    kept = inside & (np.cumsum(inside, axis=1) <= count)
    below = ((draws < coordinates[:, None]) & kept[..., None]).sum(axis=1)
    number = np.maximum(kept.sum(axis=1, keepdims=True), 1)
    return np.round(below * count / number).astype(int)


def histogram(rank: np.ndarray, count: int, bins: int) -> np.ndarray:
    """Count ranks (n,) of 0 … ``count`` in equal bins."""
    return np.histogram(rank, bins, range=(-0.5, count + 0.5))[0]


def flat_band(number: int, bins: int, share: float) -> tuple[float, float]:
    """Counts between which a bin of a flat histogram of ``number`` ranks lies with ``share``."""
    # Imported here: scipy.stats takes as long to load as JAX.
    from scipy import stats

    low, high = stats.binom.interval(share, number, 1 / bins)
    return float(low), float(high)
