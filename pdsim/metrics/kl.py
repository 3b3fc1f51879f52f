"""Kullback–Leibler divergence between two sets of samples, by nearest neighbours (Eq. 11)."""

import numpy as np

from pdsim.metrics.distance import nearest_distance
from pdsim.metrics.metric import Evidence, Metric
from pdsim.metrics.score import Score, finite_rows, undefined


def kl_divergence(
    p: np.ndarray,
    q: np.ndarray,
    neighbour: int = 3,
    squares: tuple[np.ndarray | None, np.ndarray | None] = (None, None),
) -> Score:
    """Estimate d_KL(p ‖ q) from samples (Wang, Kulkarni, Verdú, 2009; Eq. 11 with k_i = l_i).

        d = N/|p| Σ_i log( ν_k(i) / ρ_l(i) ) + ψ(l) − ψ(k) + log( |q| / (|p| − 1) )

    with ν_k(i) the distance from the i-th sample of p to its k-th nearest in q, and ρ_l(i) to its
    l-th nearest among the other samples of p. For k = l the digamma terms cancel.

    Args:
        p, q: (n, N) and (m, N) samples.
        neighbour: k = l.
        squares: squared distances of p to itself and to q, where they are known; all samples are
            finite then.

    Returns:
        The estimate [nat]; undefined if a distance is 0 (a collapsed set) or there are too few
        finite samples.
    """
    p, q = finite_rows(p), finite_rows(q)
    if len(p) <= neighbour or len(q) < neighbour:
        return undefined(
            f"{len(p)} and {len(q)} finite samples, but {neighbour + 1} and {neighbour} are needed"
        )
    to_p, to_q = (
        nearest_distance(p, of, neighbour, square)
        for of, square in zip((p, q), squares, strict=True)
    )
    if (to_p == 0).any():
        return undefined("the first set is collapsed: a sample coincides with its neighbours")
    if (to_q == 0).any():
        return undefined("a sample of the first set coincides with samples of the second")
    dimension = p.shape[1]
    mean_log_ratio = np.mean(np.log(to_q) - np.log(to_p))
    return Score(float(dimension * mean_log_ratio + np.log(len(q) / (len(p) - 1))))


def _real_sim(evidence: Evidence) -> Score:
    (real, simulated), square = evidence.sets, evidence.squared_distances
    first = slice(len(real))
    squares = square[first, first], square[first, len(real) :]
    return kl_divergence(real, simulated, squares=squares)


def _sim_real(evidence: Evidence) -> Score:
    (real, simulated), square = evidence.sets, evidence.squared_distances
    last = slice(len(real), None)
    squares = square[last, last], square[last, : len(real)]
    return kl_divergence(simulated, real, squares=squares)


# Neither is better than another for a lower value by itself: roll-outs start where the recordings
# do, and in so many dimensions draws that are wider come nearer to some recording.
METRICS = (
    Metric("kl_real_sim", "KL(real‖sim) [nat]", _real_sim, held_out=True),
    Metric("kl_sim_real", "KL(sim‖real) [nat]", _sim_real, held_out=True),
)
