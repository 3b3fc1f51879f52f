"""An experiment file, read and checked against its system, its source and what else it names."""

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pdsim import registry
from pdsim.control.config import ControlConfig
from pdsim.control.tasks.task import WHERE, check_names
from pdsim.experiment.checks.consistency import check_consistency
from pdsim.experiment.earlier import check_circle, named_experiment
from pdsim.experiment.model import AnyExperiment, ExperimentConfig, kind_of
from pdsim.runtime.errors import PdsimError
from pdsim.settings.messages import explain, read_yaml


def load_any(path: str | Path) -> AnyExperiment:
    """Read and check an experiment file of any kind."""
    values = read_yaml(path)
    kind = kind_of(values)
    return _control(path, values) if kind == "control" else _identification(path, values)


def load_control(path: str | Path) -> ControlConfig:
    """Read and check an experiment file of kind ``control``.

    Raises:
        PdsimError: it is of another kind.
    """
    values = read_yaml(path)
    if kind_of(values) != "control":
        raise PdsimError(
            f"{path}: kind: this verb is for experiments of kind control (got {kind_of(values)!r})"
        )
    return _control(path, values)


def _control(path: str | Path, values: Any) -> ControlConfig:
    """Check a file's values, against the posteriors that its controllers start from included."""
    try:
        found = ControlConfig.model_validate(values)
    except ValidationError as error:
        raise explain(error, path, ControlConfig) from None
    try:
        task = found.task.build()
        for i, controller in enumerate(found.controllers):
            if controller.prior_from is not None:
                where = f"controllers.{i}.{WHERE}"
                other = named_experiment(controller.prior_from, Path(path).parent, where)
                check_names(list(other.simulator.parameters), task)
    except PdsimError as error:
        raise PdsimError(f"{path}: {error}") from None
    return found


def load_experiment(path: str | Path) -> ExperimentConfig:
    """Read and check an experiment file of kind ``identification``.

    Raises:
        PdsimError: it is of another kind.
    """
    values = read_yaml(path)
    if kind_of(values) == "control":
        raise PdsimError(
            f"{path}: kind: this verb is for experiments of kind identification (got 'control'); "
            "use pdsim control"
        )
    return _identification(path, values)


def _identification(path: str | Path, values: Any) -> ExperimentConfig:
    """Check a file's values, against its system and its source included."""
    try:
        experiment = ExperimentConfig.model_validate(values)
    except ValidationError as error:
        raise explain(error, path, ExperimentConfig) from None
    experiment._folder = Path(path).parent
    try:
        check_circle(Path(path), experiment.simulator)
        experiment = _located(experiment)
        check_consistency(experiment)
    except PdsimError as error:
        raise PdsimError(f"{path}: {error}") from None
    return experiment


def _located(experiment: ExperimentConfig) -> ExperimentConfig:
    """Find the files that the system's options and the recording name."""
    name, folder = experiment.simulator.system, experiment.folder
    changes: dict[str, Any] = {}
    if name in registry.NAMES["systems"]:
        module = registry.load("systems", name)
        if hasattr(module, "located"):
            options = module.located(experiment.simulator.options, folder)
            changes["simulator"] = experiment.simulator.model_copy(update={"options": options})
    if hasattr(experiment.source, "located"):
        changes["recording"] = experiment.source.located(experiment.recording, folder)
    found = experiment.model_copy(update=changes)
    found._folder = folder
    return found
