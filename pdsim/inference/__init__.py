"""Estimators, one file each, and the runner that drives them all.

To add one: a file ``pdsim/inference/<name>.py`` and its name in ``pdsim.registry``. The file holds

- ``Settings``, a section of the config;
- ``ESTIMATOR``, called with ``settings``, ``particle_count`` and ``iteration_count``, which returns
  what follows ``pdsim.inference.estimator.Estimator``;
- ``SHOOTINGS``, if it cannot be run with each of "single", "multiple" and "marginal": those it
  can; and ``INSTEAD``, what a user reads who asks for another: "<method> with <shooting> shooting
  …".

Configs are checked with every file's ``Settings``, so whatever takes long to import is imported by
the functions that use it.
"""

from pdsim.inference.estimator import Estimator
from pdsim.registry import load


def load_estimator(method: str, settings, budget) -> Estimator:
    """Build an estimator; only its own module is imported.

    Args:
        method: one of ``pdsim.registry.NAMES["inference"]``.
        settings: the ``Settings`` of that module.
        budget: has ``particle_count`` and ``iteration_count``.
    """
    return load("inference", method).ESTIMATOR(
        settings=settings,
        particle_count=budget.particle_count,
        iteration_count=budget.iteration_count,
    )
