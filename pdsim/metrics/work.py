"""What a posterior cost, and what was lost on the way."""

import numpy as np

from pdsim.metrics.metric import Evidence, Metric
from pdsim.metrics.score import Score


def _lost(evidence: Evidence) -> Score:
    """Held-out roll-outs that are not finite."""
    whole = np.isfinite(evidence.simulated[evidence.test]).all(axis=(2, 3))
    return Score(float((~whole).sum()))


def _diverging(evidence: Evidence) -> Score | None:
    return None if evidence.stats is None else Score(float(evidence.stats["diverging"].sum()))


def _defect(evidence: Evidence) -> Score | None:
    return None if evidence.stats is None else Score(float(evidence.stats["max_defect"].median()))


def _last(name: str):
    def compute(evidence: Evidence) -> Score | None:
        if evidence.history is None or name not in evidence.history:
            return None
        return Score(float(evidence.history[name].values[-1]))

    return compute


# Roll-outs are those of the iterations; csvgd's include its tangents, which stand for gradients.
METRICS = (
    Metric("lost_rollouts", "lost roll-outs", _lost, held_out=True),
    Metric("diverging", "diverging draws", _diverging),
    Metric("max_defect_median", "", _defect),
    Metric("rollouts_used", "roll-outs used", _last("rollouts")),
    Metric("gradients_used", "gradients used", _last("gradients")),
    Metric("seconds", "time [s]", _last("seconds")),
    # Of a learned density: what its training is judged by, on simulations and not on recordings.
    Metric("kept_loss", "", _last("kept_loss")),
)
