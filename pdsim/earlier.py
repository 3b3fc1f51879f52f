"""What an experiment takes out of an earlier posterior: numbers that it holds, or a joint prior.

What is computed here decides numbers of the jobs that are given an earlier posterior, so this
module is part of their fingerprints (``pdsim.stages.modules``).
"""

import logging
from collections.abc import Iterable, Mapping

import numpy as np

from pdsim.parameters.joint_prior import JointPrior
from pdsim.parameters.labelings import named_alike
from pdsim.posterior import PosteriorFile
from pdsim.runtime.errors import PdsimError
from pdsim.systems.config import JointPriorConfig, ParameterConfig, SimulatorConfig
from pdsim.systems.simulator import build_simulator, evenly

log = logging.getLogger(__name__)

# Different draws for each number of a mean, and for each further one, at least.
_DRAWS = 3
# Least eigenvalue of a correlation that counts as one.
_DEPENDENT = 1e-10
# Share of a parameter's draws that may lie beyond its limits here; over their width, what counts
# as rounding of draws on them.
_BEYOND, _ROUNDING = 0.05, 1e-6


def finite_draws(posterior: PosteriorFile, names: Iterable[str]) -> tuple[np.ndarray, np.ndarray]:
    """Draws with a finite roll-out (draw, n), physical units, and their log densities (draw,).

    Raises:
        PdsimError: there is none.
    """
    kept = posterior.usable
    if not kept.any():
        raise PdsimError(
            f"{posterior.path}: no draw has a finite roll-out, so there is none to take"
        )
    return posterior.table(names)[kept], posterior.log_density[kept]


def chosen_draw(posterior: PosteriorFile, names: list[str], draw: str) -> dict[str, float]:
    """The mean of a posterior, or its draw of the highest density, by name.

    Where bodies are exchangeable the draws are first named alike: the mean over all ways to name
    them is a place between the bodies, where none is.

    Raises:
        PdsimError: no draw has a finite roll-out.
    """
    draws, density = finite_draws(posterior, names)
    if draw == "mean":
        pairs = posterior.settings.get("exchangeable", ())
        values = named_alike(draws, pairs, names).mean(axis=0)
    else:
        values = draws[np.argmax(density)]
    return dict(zip(names, values.tolist(), strict=True))


def held_values(
    posterior: PosteriorFile, targets: Mapping[str, tuple[str, ...]], draw: str
) -> dict[str, float]:
    """Values that an experiment holds: those of one draw, or of the mean, by system parameter.

    Args:
        targets: of each parameter of the posterior, the system parameters that it sets.
        draw: "best" or "mean".
    """
    values = chosen_draw(posterior, list(targets), draw)
    return {target: value for name, value in values.items() for target in targets[name]}


def fitted_prior(
    posterior: PosteriorFile, names: list[str], simulator: SimulatorConfig
) -> JointPriorConfig:
    """Fit the Gaussian behind the draws, of values or their logarithms as the scales here say.

    Args:
        names: of the parameters that it is a prior of.
        simulator: of the experiment that takes it.

    Raises:
        PdsimError: there are too few draws for a covariance, or many beyond the bounds here.
    """
    path = str(posterior.path)
    values, _ = finite_draws(posterior, names)
    _check_draws(posterior, names, values)
    entries = [simulator.parameters[name] for name in names]
    logarithmic = np.array([entry.scale == "log" for entry in entries])
    lower, width = evenly(build_simulator(simulator).space, names)

    def coordinates(physical: np.ndarray) -> np.ndarray:
        # A limit of 0 is far out on a log scale.
        logarithms = np.log(np.maximum(physical, np.finfo(float).tiny))
        return (np.where(logarithmic, logarithms, physical) - lower) / width

    for name, entry, column in zip(names, entries, values.T, strict=True):
        _check_limits(path, name, entry, column)
    before = posterior.parameters
    limits = [[getattr(before[name], end) for name in names] for end in ("lower", "upper")]
    prior = JointPrior.fitted(names, coordinates(values), *map(coordinates, np.array(limits)))
    log.info("prior of %s: %d draws of %s", ", ".join(names), len(values), path)
    covariance = np.outer(width, width) * np.array(prior.covariance)
    return JointPriorConfig(
        parameters=tuple(names),
        mean=tuple((lower + width * np.array(prior.mean)).tolist()),
        covariance=tuple(tuple(row) for row in covariance.tolist()),
    )


def _check_limits(path: str, name: str, entry: ParameterConfig, values: np.ndarray) -> None:
    """Refuse draws (draw,) that the limits of this experiment do not hold, and tell of a few."""
    if entry.scale == "log" and (values <= 0).any():
        raise PdsimError(
            f"{path}: {name} has draws that are not positive, and simulator.parameters.{name}."
            "scale is log; write scale: linear"
        )
    rounding = _ROUNDING * (entry.upper - entry.lower)
    outside = (values < entry.lower - rounding) | (values > entry.upper + rounding)
    beyond = outside.mean()
    told = (
        f"{beyond:.0%} of the draws of {name} are beyond its limits {entry.lower:g} … "
        f"{entry.upper:g} {entry.unit} (they reach from {values.min():g} to {values.max():g})"
    )
    if beyond > _BEYOND:
        raise PdsimError(
            f"{path}: {told}; widen simulator.parameters.{name}, or leave it out of one of the "
            "experiments"
        )
    if beyond > 0:
        log.warning("%s: %s; the prior is cut there", path, told)


def _check_draws(posterior: PosteriorFile, names: list[str], values: np.ndarray) -> None:
    """Refuse draws (draw, n) that no covariance can be told from."""
    path = posterior.path
    if posterior.attributes["sample_kind"] == "point":
        raise PdsimError(
            f"{path}: is a point, which has no width; name a run whose method has "
            "draws, as least_squares (simulator.prior_from)"
        )
    different, least = len(np.unique(values, axis=0)), _DRAWS * (len(names) + 1)
    if different < least:
        raise PdsimError(
            f"{path}: has {different} different draws, and a covariance of {len(names)} "
            f"parameters needs {least}; run it with more particles"
        )
    for name, column in zip(names, values.T, strict=True):
        if np.ptp(column) == 0:
            raise PdsimError(f"{path}: {name} is the same in all draws; hold it in simulator.fixed")
    correlation = np.corrcoef(values, rowvar=False).reshape(len(names), -1)
    weights, axes = np.linalg.eigh(correlation)
    if weights[0] < _DEPENDENT:
        pair = [names[i] for i in np.argsort(-np.abs(axes[:, 0]))[:2]]
        raise PdsimError(
            f"{path}: the draws of {' and '.join(pair)} determine each other; leave one of them "
            "out of one of the experiments"
        )
