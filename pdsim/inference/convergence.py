"""Whether chains have mixed: rank-normalised split R-hat and bulk effective sample size.

Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), "Rank-normalization, folding, and
localization: an improved R-hat". Each chain is cut in half, and all draws x together are replaced
by normal scores of their ranks, z = Φ⁻¹((rank − 3/8) / (n + 1/4)). In NumPy, for lengths of chains
differ from run to run, and each would be a compiled program of its own.
"""

import numpy as np
from scipy import fft, special, stats


def r_hat(x: np.ndarray) -> np.ndarray:
    """Return √((B/W + n − 1)/n) of normal scores of x or of |x − median|, the larger one, (M,).

    B/n is the variance of the means of half chains of n draws, W the mean of their variances.

    Args:
        x: (chain, draw, M), four draws or more.
    """
    halves = _halves(x)
    folded = np.abs(halves - np.median(halves, axis=(0, 1)))
    return np.maximum(_scale_reduction(_scores(halves)), _scale_reduction(_scores(folded)))


def bulk_sample_size(x: np.ndarray) -> np.ndarray:
    """Return C n / τ of the normal scores of C half chains of n draws, (M,).

    τ = −1 + 2 Σ_k P_k with P_k = ρ_2k + ρ_2k+1, the autocorrelations of all chains together, up to
    the first negative pair, and none above the one before it (Geyer, 1992).

    Args:
        x: (chain, draw, M), eight draws or more.
    """
    z = _scores(_halves(x))
    chains, count = z.shape[:2]
    centred = z - z.mean(axis=1, keepdims=True)
    size = fft.next_fast_len(2 * count)
    power = np.abs(fft.rfft(centred, size, axis=1)) ** 2
    covariance = fft.irfft(power, size, axis=1)[:, :count].mean(axis=0) / count
    within = covariance[0] * count / (count - 1)
    total = covariance[0] + z.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation = 1 - (within - covariance) / total
    correlation[0] = 1.0
    return np.array([_size(chains * count, rho) for rho in correlation.T])


def _size(total: int, rho: np.ndarray) -> float:
    """Effective sample size of ``total`` draws with autocorrelations (lag,)."""
    if not np.isfinite(rho).all():
        return np.nan
    # The last pair that is looked at begins three lags before the end.
    last = max((len(rho) - 3) // 2, 0) + 1
    even, pairs = rho[0 : 2 * last : 2], rho[0 : 2 * last : 2] + rho[1 : 2 * last : 2]
    negative = np.flatnonzero(pairs < 0)
    end = negative[0] if len(negative) else last - 1
    time = -1 + 2 * np.minimum.accumulate(pairs[:end]).sum() + max(even[end], 0.0)
    # Draws may be better than independent ones, but not by any factor.
    return total / max(time, 1 / np.log10(total))


def _halves(x: np.ndarray) -> np.ndarray:
    """Chains cut in half, the middle draw of an odd number left out, (2 chain, draw // 2, M)."""
    half = x.shape[1] // 2
    return np.concatenate([x[:, :half], x[:, -half:]])


def _scores(x: np.ndarray) -> np.ndarray:
    """Normal scores of ranks among all draws of each parameter; not a number if one is none."""
    flat = x.reshape(-1, x.shape[-1])
    rank = stats.rankdata(flat, axis=0, nan_policy="propagate")
    return special.ndtri((rank - 0.375) / (len(flat) + 0.25)).reshape(x.shape)


def _scale_reduction(z: np.ndarray) -> np.ndarray:
    count = z.shape[1]
    between = z.mean(axis=1).var(axis=0, ddof=1)
    within = z.var(axis=1, ddof=1).mean(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.sqrt(between / within + (count - 1) / count)
