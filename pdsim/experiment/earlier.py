"""What one experiment takes from the posterior of another.

``simulator.fixed_from``: an experiment in two phases first estimates some numbers of a robot, then
others with the first held at what was found. The first posterior is a file; every stage that
simulates the second phase is given it (``--fixed-from``). With ``simulator.prior_from`` it is the
prior of the second phase instead (``pdsim.experiment.next_prior``), and with ``prior_from`` of a
controller the start of its belief (``pdsim.control.prior``).
"""

from pathlib import Path
from typing import Any

from pdsim.earlier import held_values
from pdsim.experiment.model import ExperimentConfig
from pdsim.posterior import read_run
from pdsim.runtime.errors import PdsimError
from pdsim.settings.messages import close_name, read_yaml
from pdsim.systems.config import FixedFrom, ParameterConfig, PosteriorOf, SimulatorConfig
from pdsim.systems.system import System

_WHERE = "simulator.fixed_from"


def named_experiment(earlier: PosteriorOf, folder: Path, where: str) -> ExperimentConfig:
    """The experiment whose posterior is asked for, of the folder of the one that asks.

    Args:
        where: key that asks.

    Raises:
        PdsimError: it is not there, or has no such run or seed.
    """
    path = folder / f"{earlier.experiment}.yaml"
    if not path.is_file():
        raise PdsimError(f"{where}.experiment: {path}: no such file")
    # Its own checks are made when it is loaded itself.
    other = ExperimentConfig.model_validate(read_yaml(path))
    runs = [identity.run for identity in other.identities()]
    if earlier.run not in runs:
        raise PdsimError(
            f"{where}.run: {path} has no run {earlier.run!r}{close_name(earlier.run, runs)}"
        )
    if earlier.seed not in other.seeds:
        raise PdsimError(f"{where}.seed: {path} has seeds {list(other.seeds)}")
    return other


def check_circle(path: Path, simulator: SimulatorConfig) -> None:
    """Refuse an experiment that takes from its own posterior, by way of others too.

    Args:
        path: of the experiment's file.

    Raises:
        PdsimError: names the key, and the experiments one after the other.
    """
    for key, first in (
        ("fixed_from", simulator.fixed_from),
        ("prior_from", simulator.prior_from),
    ):
        ways: list[tuple[str, ...]] = [(first.experiment,)] if first is not None else []
        while ways:
            way = ways.pop()
            if way[-1] == path.stem:
                circle = f"goes in a circle: {' → '.join((path.stem, *way))}"
                raise PdsimError(
                    f"simulator.{key}.experiment: {way[0]!r} "
                    f"{'is this experiment itself' if len(way) == 1 else circle}; a posterior must "
                    "be there before it is taken from: name an earlier experiment, or leave the "
                    "key out"
                )
            named = _named_by(path.with_name(f"{way[-1]}.yaml"))
            ways += [(*way, name) for name in named if name not in way]


def _named_by(path: Path) -> list[str]:
    """Experiments that a file takes from; none if it is no such file."""
    values = read_yaml(path) if path.is_file() else None
    simulator = values.get("simulator") if isinstance(values, dict) else None
    if not isinstance(simulator, dict):
        return []
    entries = [simulator.get(key) for key in ("fixed_from", "prior_from")]
    return [str(one.get("experiment", "")) for one in entries if isinstance(one, dict)]


def check_earlier(experiment: ExperimentConfig, system: System) -> None:
    """Refuse an earlier experiment that is not there, or whose parameters do not go with this one.

    Raises:
        PdsimError: names the key.
    """
    earlier = experiment.simulator.fixed_from
    if earlier is None:
        return
    other = named_experiment(earlier, experiment.folder, _WHERE)
    _targets(experiment.simulator, other.simulator.parameters, system)


def _targets(
    simulator: SimulatorConfig, parameters: dict[str, ParameterConfig], system: System
) -> dict[str, tuple[str, ...]]:
    """System parameters that each parameter of the earlier experiment sets, each here once.

    Raises:
        PdsimError: the system has none of this name, or it has a value here already.
    """
    from pdsim.systems.simulator import targets

    found = {name: targets(name, entry, system) for name, entry in parameters.items()}
    here = {
        **dict.fromkeys(simulator.fixed, "simulator.fixed"),
        **{
            target: f"simulator.parameters.{name}"
            for name, entry in simulator.parameters.items()
            for target in targets(name, entry, system)
        },
    }
    for name, names in found.items():
        for target in names:
            if target not in system.parameters:
                raise PdsimError(
                    f"{_WHERE}: {name} sets {target}, and {system.name} has no such parameter"
                    f"{close_name(target, system.parameters)}; both experiments need one robot"
                )
            if target in here:
                raise PdsimError(
                    f"{_WHERE}: {target} was found there, but {here[target]} gives it too; remove "
                    "it there"
                )
    return found


def with_earlier(experiment: ExperimentConfig, path: str | None) -> ExperimentConfig:
    """The experiment with the numbers of an earlier one's posterior among its fixed ones.

    Args:
        path: posterior file; None where the experiment asks for none.

    Raises:
        PdsimError: a file is missing, or of another run, or its names do not match.
    """
    earlier = experiment.simulator.fixed_from
    check_given(path, earlier, _WHERE)
    if earlier is None or path is None:
        return experiment
    fixed = experiment.simulator.fixed | _found(earlier, path, experiment)
    return with_simulator(experiment, fixed=fixed, fixed_from=None)


def check_given(path: str | None, earlier: PosteriorOf | None, where: str) -> None:
    """Refuse a posterior file that is not asked for, and the want of one that is.

    Args:
        where: key that asks; the option of the command line is called as its last part.
    """
    option = f"--{where.rpartition('.')[2].replace('_', '-')}"
    if earlier is None and path is not None:
        raise PdsimError(f"{option} is given, but the experiment has no {where}")
    if earlier is not None and path is None:
        raise PdsimError(
            f"{option} is missing: {where} asks for the posterior.nc of run {earlier.run}, "
            f"seed {earlier.seed}, of experiment {earlier.experiment}"
        )


def with_simulator(experiment: ExperimentConfig, **changes: Any) -> ExperimentConfig:
    """The experiment with other values in its section ``simulator``."""
    simulator = experiment.simulator.model_copy(update=changes)
    resolved = experiment.model_copy(update={"simulator": simulator})
    resolved._folder = experiment.folder
    return resolved


def _found(earlier: FixedFrom, path: str, experiment: ExperimentConfig) -> dict[str, float]:
    posterior = read_run(path, earlier, _WHERE)
    targets = _targets(experiment.simulator, posterior.parameters, experiment.system())
    return held_values(posterior, targets, earlier.draw)
