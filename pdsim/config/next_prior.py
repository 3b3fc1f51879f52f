"""A posterior as the prior of the next experiment: ``simulator.prior_from``.

What is sought in both experiments has a joint Gaussian prior here, fitted to the draws of the first
posterior (``pdsim.joint_prior``); it takes the place of the parameters' own priors, which the first
experiment had already. Draws count alike, for those of every estimator are equally likely. What is
sought in one of the two alone keeps its own prior, or is left out; noise is not carried over, for
it belongs to recordings.
"""

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from pdsim.config.earlier import (
    check_given,
    finite_draws,
    named_experiment,
    read_run,
    with_simulator,
)
from pdsim.posterior import PosteriorFile
from pdsim.runtime.errors import PdsimError
from pdsim.systems.config import JointPriorConfig, ParameterConfig

if TYPE_CHECKING:
    from pdsim.config.experiment import ExperimentConfig
    from pdsim.systems.system import System

log = logging.getLogger(__name__)

_WHERE = "simulator.prior_from"
# Different draws for each number of a mean, and for each further one, at least.
_DRAWS = 3
# Least eigenvalue of a correlation that counts as one.
_DEPENDENT = 1e-10
# Share of a parameter's draws that may lie beyond its limits here; over their width, what counts
# as rounding of draws on them.
_BEYOND, _ROUNDING = 0.05, 1e-6


def check_next_prior(experiment: "ExperimentConfig", system: "System") -> None:
    """Refuse an earlier experiment that is not there, or whose parameters do not go with this one.

    Raises:
        PdsimError: names the key.
    """
    earlier = experiment.simulator.prior_from
    if earlier is not None:
        other = named_experiment(earlier, experiment.folder, type(experiment), _WHERE)
        names = _shared(experiment, other.simulator.parameters, system)
        alike = [name for pair in other.exchangeable for name in pair if name in names]
        if alike:
            raise PdsimError(
                f"{_WHERE}: {alike[0]} is exchangeable in {earlier.experiment}, so its posterior "
                "has a mode for each way to name the bodies, and one Gaussian is none of them; "
                "give it another name here"
            )


def _shared(
    experiment: "ExperimentConfig", others: Mapping[str, ParameterConfig], system: "System"
) -> list[str]:
    """Names of the parameters that are sought in both experiments.

    Raises:
        PdsimError: there is none, or one is not the same there, or has a prior of its own here.
    """
    from pdsim.systems.simulator import targets

    here = experiment.simulator.parameters
    names = [name for name in here if name in others]
    if not names:
        raise PdsimError(
            f"{_WHERE}: no parameter is sought in both experiments: there {', '.join(others)}, "
            f"here {', '.join(here)}; call the same numbers by the same names"
        )
    for name in names:
        ours, theirs = here[name], others[name]
        if ours.unit != theirs.unit:
            raise PdsimError(
                f"{_WHERE}: {name} is in {theirs.unit} there, and in {ours.unit} here; both "
                "experiments need one unit"
            )
        sets = [", ".join(targets(name, entry, system)) for entry in (ours, theirs)]
        if sets[0] != sets[1]:
            raise PdsimError(
                f"{_WHERE}: {name} sets {sets[1]} there, and {sets[0]} here; call different "
                "numbers by different names"
            )
        if ours.prior is not None:
            raise PdsimError(
                f"simulator.parameters.{name}.prior: {_WHERE} takes its place (got "
                f"{ours.prior!r}); remove it, or give {name} another name"
            )
    return names


def with_next_prior(experiment: "ExperimentConfig", path: str | None) -> "ExperimentConfig":
    """The experiment with an earlier one's posterior as its joint prior.

    Args:
        path: posterior file; None where the experiment asks for none.

    Raises:
        PdsimError: a file is missing or of another run, its parameters do not match, it has too few
            draws for their covariance, or many beyond the limits here.
    """
    earlier = experiment.simulator.prior_from
    check_given(path, earlier, _WHERE)
    if earlier is None or path is None:
        return experiment
    posterior = read_run(path, earlier, _WHERE)
    names = _shared(experiment, posterior.parameters, experiment.system())
    joint = _fitted(posterior, names, experiment)
    return with_simulator(experiment, joint_prior=joint, prior_from=None)


def _fitted(
    posterior: PosteriorFile, names: list[str], experiment: "ExperimentConfig"
) -> JointPriorConfig:
    """The Gaussian behind the draws, of values or their logarithms as the scales here say."""
    from pdsim.joint_prior import JointPrior
    from pdsim.systems.simulator import build_simulator, evenly

    path = str(posterior.path)
    values, _ = finite_draws(posterior, names)
    _check_draws(posterior, names, values)
    entries = [experiment.simulator.parameters[name] for name in names]
    logarithmic = np.array([entry.scale == "log" for entry in entries])
    lower, width = evenly(build_simulator(experiment.simulator).space, names)

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
            f"{path}: is a point, which has no width; name a run in {_WHERE} whose method has "
            "draws, as least_squares"
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
