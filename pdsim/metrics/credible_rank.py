"""Where the true parameters lie in a posterior."""

import numpy as np

from pdsim.metrics.metric import Evidence, Metric
from pdsim.metrics.score import Score, finite_rows, undefined


def credible_rank(draws: np.ndarray, truth: np.ndarray) -> Score:
    """Share of the draws that lie nearer to the posterior's mean than the truth does.

    Distances are Mahalanobis distances in the draws' covariance, so a truth of rank r lies on the
    border of the ellipsoid that holds the share r of the draws: 0 at the mean, 1 outside all.
    Uniform over repetitions if the posterior is right.

    Args:
        draws: (draw, M).
        truth: (M,).
    """
    draws = finite_rows(draws)
    if len(draws) <= draws.shape[1]:
        return undefined(f"{len(draws)} finite draws do not span {draws.shape[1]} parameters")
    deviation = draws - draws.mean(axis=0)
    scale = deviation.std(axis=0)
    if (scale == 0).any():
        return undefined("the posterior is collapsed in a parameter")
    inverse = np.linalg.pinv(np.cov(deviation / scale, rowvar=False).reshape(len(scale), -1))

    def distance(x):
        z = x / scale
        return np.einsum("...i,ij,...j->...", z, inverse, z)

    return Score(float(np.mean(distance(deviation) < distance(truth - draws.mean(axis=0)))))


def _rank(evidence: Evidence) -> Score | None:
    if evidence.truth is None:
        return None
    return credible_rank(evidence.draws, evidence.truth)


METRICS = (Metric("credible_rank", "credible rank of truth [-]", _rank),)
