"""All metrics, or those of learning curves, in the order of the registry."""

from collections.abc import Sequence

from pdsim import registry
from pdsim.metrics.metric import Evidence, Metric
from pdsim.metrics.score import Score


def metrics(modules: Sequence[str] | None = None) -> list[Metric]:
    """Return the metrics of some modules; default: of all."""
    chosen = registry.NAMES["metrics"] if modules is None else modules
    return [metric for name in chosen for metric in registry.load("metrics", name).METRICS]


def scores(evidence: Evidence, modules: Sequence[str] | None = None) -> dict[str, Score]:
    """Compute every metric that applies, key → score."""
    found = ((metric.key, metric(evidence)) for metric in metrics(modules))
    return {key: score for key, score in found if score is not None}
