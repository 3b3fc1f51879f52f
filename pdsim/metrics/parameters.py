"""Draws against the true distribution of the parameters, in unit coordinates."""

import numpy as np

from pdsim.metrics.kl import kl_divergence
from pdsim.metrics.metric import Evidence, Metric
from pdsim.metrics.mmd import mmd
from pdsim.metrics.score import Score

# Samples of the true distribution.
_SAMPLES = 1000


def _sets(evidence: Evidence) -> tuple[np.ndarray, np.ndarray] | None:
    """Samples of the truth and the draws, unit coordinates; None where there is no truth."""
    if evidence.population is None:
        return None
    true = np.random.default_rng(0).multivariate_normal(*evidence.population, size=_SAMPLES)
    p, q = (np.asarray(evidence.space.to_coordinates(x)) for x in (true, evidence.draws))
    return p, q


def _true_posterior(evidence: Evidence) -> Score | None:
    sets = _sets(evidence)
    return None if sets is None else kl_divergence(*sets)


def _posterior_true(evidence: Evidence) -> Score | None:
    sets = _sets(evidence)
    return None if sets is None else kl_divergence(*sets[::-1])


def _mmd(evidence: Evidence) -> Score | None:
    sets = _sets(evidence)
    return None if sets is None else mmd(*sets)


# None is better for a lower value by itself: the exact posterior's draws are not the truth's, and
# the nearest-neighbour estimate rewards even spacing.
METRICS = (
    Metric(
        "parameter_kl_true_posterior", "KL(true‖posterior) of parameters [nat]", _true_posterior
    ),
    Metric(
        "parameter_kl_posterior_true", "KL(posterior‖true) of parameters [nat]", _posterior_true
    ),
    Metric("parameter_mmd", "MMD² of parameters [-]", _mmd),
)
