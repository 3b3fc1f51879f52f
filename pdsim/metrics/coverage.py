"""Coverage of the recordings by the band of roll-outs."""

import numpy as np

from pdsim.metrics.metric import Evidence, Metric
from pdsim.metrics.score import Score, undefined


def coverage(observed: np.ndarray, simulated: np.ndarray, level: float = 0.9) -> Score:
    """Share of observed samples inside the central band of matched roll-outs.

    The band is that of the model's motion from one start state: it holds no observation noise, no
    error of the start state and no error of the model. So the draws of a right posterior need not
    cover ``level``, and less does not tell an overconfident posterior from a band that lacks these.

    Args:
        observed: (trajectory, time, channel).
        simulated: (trajectory, draw, time, channel), from matched start states.
        level: share of the draws inside the band.
    """
    whole = np.isfinite(simulated).all(axis=(2, 3))
    if not whole.any(axis=1).all():
        return undefined("no draw has a finite roll-out for some trajectory")
    ends = (1 - level) / 2, (1 + level) / 2
    bands = [np.quantile(x[kept], ends, axis=0) for x, kept in zip(simulated, whole, strict=True)]
    low, high = np.stack(bands, axis=1)
    seen = np.isfinite(observed)
    inside = (observed >= low) & (observed <= high)
    return Score(float(inside[seen].mean()))


def _held_out(evidence: Evidence) -> Score:
    return coverage(evidence.observed[evidence.test], evidence.simulated[evidence.test])


METRICS = (Metric("coverage_90", "coverage of 90 % band [-]", _held_out, held_out=True),)
