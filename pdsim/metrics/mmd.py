"""Maximum mean discrepancy between two sets of samples (Gretton et al., 2012)."""

import numpy as np

from pdsim.metrics.distance import squared_distances
from pdsim.metrics.metric import Evidence, Metric, pool
from pdsim.metrics.score import Score, finite_rows, undefined


def mmd(p: np.ndarray, q: np.ndarray, square: np.ndarray | None = None) -> Score:
    """Squared maximum mean discrepancy, the unbiased estimator.

        MMD² = 1/(n(n−1)) Σ_{i≠j} k(p_i, p_j) + 1/(m(m−1)) Σ_{i≠j} k(q_i, q_j)
               − 2/(nm) Σ_{ij} k(p_i, q_j)
        k(x, y) = exp(−‖x − y‖² / (2 ℓ²)),  ℓ = median of all pooled pairwise distances

    Unbiased, so it may be slightly negative when the two distributions agree. Two sets that are
    equal, sample by sample, give 0.

    Args:
        p, q: (n, N) and (m, N) samples.
        square: squared distances of all, those of p first, where they are known; all samples are
            finite then.
    """
    if p.shape == q.shape and np.array_equal(np.sort(p, axis=0), np.sort(q, axis=0)):
        return Score(0.0)
    p, q = finite_rows(p), finite_rows(q)
    if len(p) < 2 or len(q) < 2:
        return undefined(f"{len(p)} and {len(q)} finite samples, but 2 of each are needed")
    pooled = np.concatenate([p, q])
    if square is None:
        square = squared_distances(pooled, pooled)
    median = np.median(square[np.triu_indices(len(pooled), 1)])
    # What is left of rounding where vectors coincide.
    if median <= 1e-14 * (pooled**2).sum(axis=1).max():
        return undefined("more than half of all pairs of samples coincide")
    kernel = np.exp(-square / (2 * median))
    np.fill_diagonal(kernel, 0.0)
    n, m = len(p), len(q)
    return Score(
        float(
            kernel[:n, :n].sum() / (n * (n - 1))
            + kernel[n:, n:].sum() / (m * (m - 1))
            - 2 * kernel[:n, n:].mean()
        )
    )


def _of_perfect_simulator(evidence: Evidence) -> Score:
    """MMD² that roll-outs would get if each were its recording.

    Roll-outs start where the recordings do, so the two sets are not independent, and a perfect
    simulator repeats each of the n recordings. Its MMD² is about −(1 − k̄)/n and not 0, with k̄ the
    mean kernel of two different recordings.
    """
    recorded = evidence.recorded
    shape = len(recorded), evidence.simulated.shape[1]
    starts = np.broadcast_to(np.arange(len(recorded))[:, None], shape)
    finite = np.isfinite(recorded).all(axis=1)
    repeated = pool(starts[..., None, None])[:, 0]
    number = np.concatenate([np.flatnonzero(finite), repeated[finite[repeated]]])
    square = squared_distances(recorded, recorded)[np.ix_(number, number)]
    count = finite.sum()
    return mmd(recorded[number[:count]], recorded[number[count:]], square)


# Neither is better than another for a lower value by itself: see docs/paper.md.
METRICS = (
    Metric("mmd", "MMD² [-]", lambda e: mmd(*e.sets, e.squared_distances), held_out=True),
    Metric("mmd_perfect", "", _of_perfect_simulator, held_out=True),
)
