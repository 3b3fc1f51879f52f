"""What an experiment is: the YAML files under config/experiments as typed models.

The JSON schema (config/schema), the table of keys (config/README.md) and the error messages all
come from the models here. A stage is given the sections it uses and nothing else, and the
workflow tracks exactly these.
"""

import json
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, model_validator

from pdsim.bayessim.config import BayesSimConfig
from pdsim.config.messages import close_name, explain, read_yaml
from pdsim.runtime.errors import PdsimError
from pdsim.likelihood.config import LikelihoodConfig
from pdsim.recordings.config import RecordingConfig
from pdsim.config.runs import (
    SETTINGS,
    BudgetConfig,
    Run,
    Section,
    TuningConfig,
    WorkConfig,
)
from pdsim.systems.config import SimulatorConfig


def check_method(method: str, shooting: str) -> None:
    """Refuse an estimator that does not exist, or not with this shooting."""
    try:
        Run.model_validate({"method": method, "shooting": shooting})
    except ValidationError as error:
        raise explain(error, "command line", Run) from None


class ExperimentConfig(Section):
    """One experiment."""

    title: str = Field(description="heading of the report")
    description: str = Field(description="what the reader should know first")
    notes: tuple[str, ...] = Field((), description="paragraphs for the report's discussion")
    simulator: SimulatorConfig
    recording: RecordingConfig
    likelihood: LikelihoodConfig
    runs: tuple[Run, ...] = Field(min_length=1, description="what is estimated and compared")
    seeds: tuple[int, ...] = Field((0,), min_length=1, description="one job each")
    budgets: dict[str, BudgetConfig] = Field(min_length=1, description="by name: quick, paper")
    tuning: TuningConfig = TuningConfig()
    precision: Literal["float64", "float32"] = Field("float64", description="of all arithmetic")
    paper_table: bool = Field(False, description="print the published numbers beside ours")
    detailed: tuple[str, ...] = Field(
        ("svgd", "csvgd"), description="methods whose pair plots and windows the report shows"
    )
    bayessim: BayesSimConfig | None = Field(
        None, description="likelihood-free variants to train beside the runs; none: no such"
    )
    landscape: tuple[str, str] | None = Field(
        None, description="two parameters to draw the likelihood over; every truth must be known"
    )

    @model_validator(mode="after")
    def _check(self) -> "ExperimentConfig":
        pairs = [(run.method, run.shooting) for run in self.runs]
        for name, values in (("runs", pairs), ("seeds", self.seeds)):
            if len(set(values)) != len(values):
                raise ValueError(f"{name} holds an entry twice")
        strange = set(self.detailed) - set(SETTINGS)
        if strange:
            raise ValueError(f"detailed: no such method: {sorted(strange)}")
        population = self.recording.camera and self.recording.camera.population
        if population and list(population.parameters) != list(self.simulator.parameters):
            raise ValueError(
                "recording.camera.population.parameters must be those of simulator.parameters, "
                "in their order"
            )
        if self.landscape is not None:
            unknown = [name for name in self.landscape if name not in self.simulator.parameters]
            untrue = [n for n, p in self.simulator.parameters.items() if p.truth is None]
            if unknown or untrue or self.landscape[0] == self.landscape[1]:
                raise ValueError(
                    "landscape needs two different estimated parameters, and the truth of all "
                    f"(unknown: {unknown}, without truth: {untrue})"
                )
        return self

    def budget(self, name: str) -> BudgetConfig:
        """Return the budget of that name, or say which there are."""
        if name not in self.budgets:
            raise PdsimError(
                f"no budget is called {name!r} in experiment {self.title!r}; "
                f"there are: {', '.join(self.budgets)}"
            )
        return self.budgets[name]

    def run(self, method: str, shooting: str) -> Run:
        """Return a run of the config, or one with default settings."""
        for run in self.runs:
            if (run.method, run.shooting) == (method, shooting):
                return run
        return Run.model_validate({"method": method, "shooting": shooting})

    def inference_options(
        self,
        method: str,
        shooting: str,
        budget: WorkConfig,
        settings: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Everything of the config that an inference job depends on, as JSON values.

        Args:
            settings: of the estimator; default: those of the config.
        """
        if settings is None:
            settings = self.run(method, shooting).settings
        return {
            "simulator": _without_truth(self.simulator),
            "likelihood": self.likelihood.model_dump(mode="json"),
            "estimator": SETTINGS[method].model_validate(settings).model_dump(mode="json"),
            "budget": budget.model_dump(mode="json", include=set(WorkConfig.model_fields)),
            "precision": self.precision,
        }

    def bayessim_options(self, budget: BudgetConfig) -> dict[str, Any]:
        """Everything of the config that BayesSim's jobs depend on, as JSON values."""
        if self.bayessim is None:
            raise PdsimError(f"{self.title}: bayessim: this section is missing")
        return {
            "simulator": _without_truth(self.simulator),
            "likelihood": self.likelihood.model_dump(mode="json"),
            "bayessim": self.bayessim.within(budget).model_dump(mode="json"),
            "budget": {"particle_count": budget.particle_count},
            "precision": self.precision,
        }

    def section(self, *names: str) -> dict[str, Any]:
        """Return sections of the config as JSON values."""
        return self.model_dump(mode="json", include=set(names))


def _without_truth(simulator: SimulatorConfig) -> dict[str, Any]:
    dump = simulator.model_dump(mode="json")
    for parameter in dump["parameters"].values():
        del parameter["truth"]
    return dump


def load_experiment(path: str | Path) -> ExperimentConfig:
    """Read and check one experiment file, its parameters against the system's included."""
    try:
        experiment = ExperimentConfig.model_validate(read_yaml(path))
    except ValidationError as error:
        raise explain(error, path, ExperimentConfig) from None
    _check_against_system(experiment, path)
    return experiment


def _check_against_system(experiment: ExperimentConfig, path: str | Path) -> None:
    from pdsim.systems import MODULES, load_system  # jax is imported only for real configs

    simulator = experiment.simulator
    where = f"{path}: simulator"
    if simulator.system not in MODULES:
        raise PdsimError(
            f"{where}.system: no such system (got {simulator.system!r})"
            f"{close_name(simulator.system, MODULES)}"
        )
    system = load_system(simulator.system)
    set_by: dict[str, str] = {}
    for name, parameter in simulator.parameters.items():
        for target in parameter.sets or (name,):
            if target not in system.parameters:
                raise PdsimError(
                    f"{where}.parameters.{name}: {system.name} has no parameter {target!r}"
                    f"{close_name(target, system.parameters)}"
                )
            declared = system.parameters[target].unit
            if parameter.unit != declared:
                raise PdsimError(
                    f"{where}.parameters.{name}.unit: {target} is in {declared!r} "
                    f"(got {parameter.unit!r}); convert the limits and write unit: {declared}"
                )
            if target in set_by:
                raise PdsimError(
                    f"{where}.parameters.{name}: {target} is set by {set_by[target]!r} already"
                )
            set_by[target] = name
    for name in simulator.fixed:
        if name not in system.parameters:
            raise PdsimError(
                f"{where}.fixed.{name}: {system.name} has no such parameter"
                f"{close_name(name, system.parameters)}"
            )
        if name in set_by:
            raise PdsimError(f"{where}.fixed.{name}: it is estimated too; remove it from one")
    camera = experiment.recording.camera
    if camera is not None:
        population = camera.population.parameters if camera.population else {}
        named = {"parameters": [*camera.parameters]}
        named |= {f"runs.{i}.parameters": [*run.parameters] for i, run in enumerate(camera.runs)}
        named["population.parameters"] = [n for names in population.values() for n in names]
        for key, names in named.items():
            for name in names:
                if name not in system.parameters:
                    raise PdsimError(
                        f"{path}: recording.camera.{key}.{name}: {system.name} has no such "
                        f"parameter{close_name(name, system.parameters)}"
                    )
    if experiment.likelihood.noise is not None:
        channels = {channel.name for channel in system.channels}
        if set(experiment.likelihood.noise) != channels:
            raise PdsimError(
                f"{path}: likelihood.noise: needs exactly the channels {sorted(channels)} "
                f"(got {sorted(experiment.likelihood.noise)})"
            )


class WorkflowConfig(Section):
    """config/config.yaml: what the workflow runs, and where."""

    groups: dict[str, tuple[str, ...]] = Field(
        description="named targets, each a list of experiments in config/experiments"
    )
    experiment_dir: str = Field("config/experiments", description="folder of experiment files")
    results: str = Field("results", description="folder of everything that is computed")
    budget: str = Field("paper", description="budget of every inference job; quick or paper")
    ibm_dir: str | None = Field(
        None, description="folder of the IBM recordings; else PDSIM_IBM_DIR, else a download"
    )


def workflow_config(values: dict[str, Any], source: str) -> WorkflowConfig:
    """Check the workflow's own config."""
    try:
        return WorkflowConfig.model_validate(values)
    except ValidationError as error:
        raise explain(error, source, WorkflowConfig) from None


def schemas() -> dict[str, str]:
    """Return the JSON schema of each kind of config file, by file name."""
    return {
        f"{name}.schema.json": json.dumps(model.model_json_schema(), indent=2, ensure_ascii=False)
        + "\n"
        for name, model in (("experiment", ExperimentConfig), ("config", WorkflowConfig))
    }
