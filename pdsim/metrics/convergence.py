"""Whether chains have mixed, and weights have a light tail: the worst parameter's numbers."""

from collections.abc import Callable

import numpy as np

from pdsim.metrics.metric import Evidence, Metric
from pdsim.metrics.score import Score, undefined


def _worst(name: str, pick: Callable) -> Callable[[Evidence], Score | None]:
    def compute(evidence: Evidence) -> Score | None:
        if evidence.convergence is None or name not in evidence.convergence:
            return None
        value = float(pick(evidence.convergence[name].values))
        return Score(value) if np.isfinite(value) else undefined("there are too few draws to tell")

    return compute


METRICS = (
    Metric("r_hat", "largest R-hat [-]", _worst("r_hat", np.max)),
    Metric("pareto_k", "Pareto k of the weights [-]", _worst("pareto_k", np.max)),
    Metric("ess_bulk", "smallest effective sample size", _worst("ess_bulk", np.min)),
)
