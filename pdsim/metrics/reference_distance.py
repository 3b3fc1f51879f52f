"""How far a run's draws are from the reference posterior, in unit coordinates.

The reference is a run of the same experiment whose chains have mixed (``reference`` in the
experiment). The same numbers of another seed of the reference itself say how near is near enough.
"""

from collections.abc import Callable

import numpy as np

from pdsim.metrics.metric import Evidence, Metric
from pdsim.metrics.mmd import mmd
from pdsim.metrics.score import Score, undefined

# Directions of the sliced distance, and quantiles compared along each.
_DIRECTIONS, _QUANTILES = 200, 199


def sliced_wasserstein(p: np.ndarray, q: np.ndarray) -> float:
    """Sliced 2-Wasserstein distance (Bonneel et al., 2015).

    The root mean square, over random directions and quantiles, of the difference of the two sets'
    quantiles along a direction. Between two Gaussians of unit covariance in M dimensions whose
    means are δ apart it is δ/√M.

    Args:
        p, q: (n, M) and (m, M).
    """
    directions = np.random.default_rng(0).normal(size=(p.shape[1], _DIRECTIONS))
    directions /= np.linalg.norm(directions, axis=0)
    levels = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
    apart = np.quantile(p @ directions, levels, axis=0) - np.quantile(
        q @ directions, levels, axis=0
    )
    return float(np.sqrt((apart**2).mean()))


def _compared(evidence: Evidence) -> tuple[np.ndarray, np.ndarray] | None:
    """Draws and reference, each coordinate in deviations of the reference from its mean."""
    if evidence.reference is None:
        return None
    draws, reference = (
        np.asarray(evidence.space.to_coordinates(x)) for x in (evidence.draws, evidence.reference)
    )
    mean, deviation = reference.mean(axis=0), reference.std(axis=0)
    return (draws - mean) / deviation, (reference - mean) / deviation


def _scored(compute: Callable[[np.ndarray, np.ndarray], Score]):
    def score(evidence: Evidence) -> Score | None:
        sets = _compared(evidence)
        if sets is None:
            return None
        if not all(np.isfinite(x).all() for x in sets):
            return undefined("the reference does not move in some parameter")
        return compute(*sets)

    return score


METRICS = (
    Metric(
        "reference_wasserstein",
        "distance to the reference [deviation]",
        _scored(lambda p, q: Score(sliced_wasserstein(p, q))),
    ),
    Metric("reference_mmd", "MMD² to the reference [-]", _scored(mmd)),
    Metric(
        "reference_spread_lowest",
        "smallest deviation over the reference's [-]",
        _scored(lambda p, q: Score(float(p.std(axis=0).min()))),
    ),
    Metric(
        "reference_spread_highest",
        "largest deviation over the reference's [-]",
        _scored(lambda p, q: Score(float(p.std(axis=0).max()))),
    ),
)
