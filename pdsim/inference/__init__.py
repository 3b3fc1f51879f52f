"""Estimators, one file each, and the runner that drives them all.

To add one: a file with a class that follows ``Estimator``, its settings in ``pdsim.config.runs``, and
a line here.
"""

from importlib import import_module

from pdsim.inference.estimator import Estimator

MODULES = {
    "emcee": "pdsim.inference.emcee",
    "cem": "pdsim.inference.cem",
    "sgld": "pdsim.inference.sgld",
    "nuts": "pdsim.inference.nuts",
    "svgd": "pdsim.inference.svgd",
    "csvgd": "pdsim.inference.csvgd",
}


def load_estimator(method: str, settings, budget) -> Estimator:
    """Build an estimator; only its own module is imported."""
    return import_module(MODULES[method]).ESTIMATOR(
        settings=settings,
        particle_count=budget.particle_count,
        iteration_count=budget.iteration_count,
    )
