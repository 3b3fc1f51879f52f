"""A posterior as the prior of the next experiment: ``simulator.prior_from``.

A parameter that both experiments estimate has a joint Gaussian prior here, fitted to the draws of
the first posterior (``pdsim.earlier``). The prior takes the place of the parameter's own, which the
first experiment used already. A parameter of one experiment alone keeps its own prior, or is left
out. Noise is not carried over, because it belongs to recordings.
"""

from collections.abc import Mapping

from pdsim.earlier import fitted_prior
from pdsim.experiment.earlier import (
    check_given,
    named_experiment,
    with_simulator,
)
from pdsim.experiment.model import ExperimentConfig
from pdsim.posterior import read_run
from pdsim.runtime.errors import PdsimError
from pdsim.systems.config import ParameterConfig
from pdsim.systems.system import System

_WHERE = "simulator.prior_from"


def check_next_prior(experiment: ExperimentConfig, system: System) -> None:
    """Refuse an earlier experiment that is not there, or whose parameters do not go with this one.

    Raises:
        PdsimError: names the key.
    """
    earlier = experiment.simulator.prior_from
    if earlier is not None:
        other = named_experiment(earlier, experiment.folder, _WHERE)
        names = _shared(experiment, other.simulator.parameters, system)
        alike = [name for pair in other.exchangeable for name in pair if name in names]
        if alike:
            raise PdsimError(
                f"{_WHERE}: {alike[0]} is exchangeable in {earlier.experiment}, so its posterior "
                "has a mode for each way to name the bodies, and one Gaussian is none of them; "
                "give it another name here"
            )


def _shared(
    experiment: ExperimentConfig, others: Mapping[str, ParameterConfig], system: System
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


def with_next_prior(experiment: ExperimentConfig, path: str | None) -> ExperimentConfig:
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
    joint = fitted_prior(posterior, names, experiment.simulator)
    return with_simulator(experiment, joint_prior=joint, prior_from=None)
