"""What an experiment is: a YAML file, as under config/experiments, as a typed model.

The JSON schema (config/schema), the table of keys (config/README.md) and the error messages all
come from the models here and in the rooms. A stage is given its slice and nothing else
(``pdsim.experiment.slices``).
"""

from pathlib import Path
from typing import Any, Literal

from pydantic import Field, PrivateAttr, model_validator

from pdsim import registry
from pdsim.calibration.config import CalibrationConfig
from pdsim.control.config import ControlConfig
from pdsim.inference.bayessim.config import BayesSimConfig
from pdsim.inference.identity import Identity
from pdsim.inference.runs import BudgetConfig, Run, TuningConfig
from pdsim.likelihood.config import LikelihoodConfig, PredictionConfig
from pdsim.recordings.config import RecordingConfig
from pdsim.runtime.errors import PdsimError
from pdsim.settings.messages import close_name
from pdsim.settings.section import Name, Section
from pdsim.systems.config import SimulatorConfig
from pdsim.units.expressions import parse


class ExperimentConfig(Section):
    """One experiment of kind ``identification``."""

    kind: Literal["identification"] = Field(
        "identification", description="what kind of experiment the file is"
    )
    title: str = Field(description="heading of the report")
    description: str = Field("", description="what the reader should know first")
    notes: tuple[str, ...] = Field((), description="paragraphs for the report's discussion")
    simulator: SimulatorConfig
    recording: RecordingConfig = Field(description="a data source, told apart by `source`")
    likelihood: LikelihoodConfig
    runs: tuple[Run, ...] = Field(min_length=1, description="what is estimated and compared")
    seeds: tuple[int, ...] = Field((0,), min_length=1, description="one job each")
    budgets: dict[Name, BudgetConfig] = Field(min_length=1, description="by name: quick, paper")
    tuning: TuningConfig = TuningConfig()
    precision: Literal["float64", "float32"] = Field("float64", description="of all arithmetic")
    paper_table: bool | Literal["panda"] = Field(
        False,
        description="print the published numbers beside ours: those of the double pendulum, or "
        "panda: of the arm with the box",
    )
    detailed: tuple[str, ...] = Field(
        ("svgd", "csvgd"),
        description="methods or runs whose pair plots and windows the report shows",
    )
    reference: Name | None = Field(
        None, description="run whose posterior, of its first seed, all others are measured against"
    )
    bayessim: BayesSimConfig | None = Field(
        None, description="likelihood-free variants to train, each one more run; left out: none"
    )
    prediction: PredictionConfig | None = Field(
        None,
        description="predict held-out recordings after their first frames; left out: from the "
        "start alone",
    )
    combinations: dict[Name, str] = Field(
        {},
        description="what the report tells first, by name: arithmetic of parameters, of estimated "
        "ones, fixed ones and combinations that the system knows, as `J2/J1` or, with a unit to "
        "tell it in, `mass_1*com_y_1 [g m]`",
    )
    exchangeable: tuple[tuple[str, str], ...] = Field(
        (),
        description="pairs of parameters, each the place of one of several alike bodies in a "
        "plane: to swap two of them changes nothing of the motion. Where their limits and "
        "priors are alike too, draws of `least_squares` have every labeling as often",
    )
    landscape: tuple[str, str] | None = Field(
        None, description="two parameters to draw the likelihood over; every truth must be known"
    )
    calibration: CalibrationConfig | None = Field(
        None, description="simulation-based calibration of the runs; left out: none"
    )
    _folder: Path = PrivateAttr(Path())

    @model_validator(mode="after")
    def _check(self) -> "ExperimentConfig":
        names = [identity.run for identity in self.identities()]
        for what, values in (("runs", names), ("seeds", list(self.seeds))):
            same = [str(value).lower() for value in values]
            twice = [value for i, value in enumerate(values) if same[i] in same[:i]]
            if twice:
                raise ValueError(
                    f"{what}: {twice[0]!r} is there twice; give each a name of its own"
                )
        if not all(0 <= seed < 2**32 for seed in self.seeds):
            raise ValueError(f"seeds: each must be from 0 to {2**32 - 1} (got {list(self.seeds)})")
        known = {*names, *registry.NAMES["inference"]}
        strange = sorted(set(self.detailed) - known)
        if strange:
            raise ValueError(f"detailed: no such method or run: {strange}")
        if self.reference is not None and self.reference not in names:
            raise ValueError(
                f"reference: no run is called {self.reference!r}{close_name(self.reference, names)}"
            )
        for budget, chosen in self.budgets.items():
            for one in chosen.runs or ():
                if one not in [run.identity.run for run in self.runs]:
                    raise ValueError(
                        f"budgets.{budget}.runs: no run is called {one!r}{close_name(one, names)}"
                    )
            if chosen.runs and self.reference and self.reference not in chosen.runs:
                raise ValueError(
                    f"budgets.{budget}.runs: {self.reference!r} is the reference, so it has to be "
                    "among them"
                )
        for name, text in self.combinations.items():
            try:
                parse(text)
            except ValueError as error:
                raise ValueError(f"combinations.{name}: {error}") from None
        named = [name for pair in self.exchangeable for name in pair]
        strange = [name for name in named if name not in self.simulator.parameters]
        if strange or len(set(named)) < len(named) or len(self.exchangeable) == 1:
            raise ValueError(
                "exchangeable: needs two or more pairs of different estimated parameters "
                f"(unknown: {strange})"
            )
        if self.landscape is not None:
            unknown = [name for name in self.landscape if name not in self.simulator.parameters]
            if unknown or self.landscape[0] == self.landscape[1]:
                raise ValueError(
                    f"landscape needs two different estimated parameters (unknown: {unknown})"
                )
        if self.landscape is not None and self.simulator.fixed_from is not None:
            raise ValueError(
                "landscape: is drawn at the true values of all parameters, but "
                "simulator.fixed_from puts found ones in their place; leave one of them out"
            )
        if self.calibration is not None and not self.calibrated():
            raise ValueError(
                "calibration: no run has marginal or single shooting; the gaps of multiple "
                "shooting are no model that data could be simulated from"
            )
        return self

    @property
    def folder(self) -> Path:
        """Where the file is that it was read from."""
        return self._folder

    def identities(self) -> list[Identity]:
        """Name, method and shooting of every run, BayesSim's variants at the end."""
        return [run.identity for run in self.runs] + self.variants()

    def variants(self) -> list[Identity]:
        """BayesSim's variants as runs."""
        names = self.bayessim.variants() if self.bayessim else []
        return [Identity(f"bayessim_{name}", "bayessim", "none") for name in names]

    def calibrated(self) -> list[Identity]:
        """Runs whose own model data can be simulated from, if calibration is asked for."""
        if self.calibration is None:
            return []
        return [run.identity for run in self.runs if run.shooting != "multiple"]

    def identity(self, name: str) -> Identity:
        """Return the run of that name, or say which there are."""
        known = {identity.run: identity for identity in self.identities()}
        if name not in known:
            raise PdsimError(
                f"no run is called {name!r} in experiment {self.title!r}{close_name(name, known)}"
            )
        return known[name]

    def run(self, name: str) -> Run:
        """Return the estimator's run of that name, or say which there are."""
        known = {run.identity.run: run for run in self.runs}
        if name not in known:
            raise PdsimError(
                f"no estimator's run is called {name!r} in experiment {self.title!r}"
                f"{close_name(name, known)}"
            )
        return known[name]

    def planned(self, budget: str) -> list[Run]:
        """The estimators' runs of a budget."""
        chosen = self.budget(budget).runs
        return [run for run in self.runs if chosen is None or run.identity.run in chosen]

    def shows(self, identity: Identity) -> bool:
        """Whether the report shows a run in detail."""
        return bool({identity.run, identity.method} & set(self.detailed))

    def budget(self, name: str) -> BudgetConfig:
        """Return the budget of that name, or say which there are."""
        if name not in self.budgets:
            raise PdsimError(
                f"no budget is called {name!r} in experiment {self.title!r}; "
                f"there are: {', '.join(self.budgets)}"
            )
        return self.budgets[name]

    def trained(self, budget: str) -> BayesSimConfig:
        """Return BayesSim's section within a budget."""
        if self.bayessim is None:
            raise PdsimError(f"{self.title}: bayessim: this section is missing")
        return self.bayessim.within(self.budget(budget))

    @property
    def source(self):
        """The module of the recording's source."""
        return registry.load("recordings", self.recording.source)

    @property
    def holds_out(self) -> bool:
        """Whether there is a test set."""
        return self.recording.holds_out

    def sections(self, *names: str) -> str:
        """Return some sections as JSON."""
        return self.model_dump_json(include=set(names))

    def system(self):
        """Build the system."""
        from pdsim.systems.simulator import build_system  # jax is imported only for real configs

        return build_system(self.simulator)

    def quantities(self) -> dict[str, list[tuple[str, str, str]]]:
        """Name, unit and kind of the system's state, channels and inputs."""
        system = self.system()
        groups = {"state": system.state, "channel": system.channels, "input": system.inputs}
        return {
            group: [(q.name, q.unit, q.kind) for q in quantities]
            for group, quantities in groups.items()
        }

    def unit(self) -> str:
        """Unit of errors in position channels: theirs, or - where they have several."""
        from pdsim.systems.system import POSITIONS

        units = {q.unit for q in self.system().channels if q.kind in POSITIONS}
        return units.pop() if len(units) == 1 else "-"


AnyExperiment = ExperimentConfig | ControlConfig


def kind_of(values: Any) -> str:
    """The kind that a file says its experiment is of."""
    return str(values.get("kind", "identification")) if isinstance(values, dict) else "-"
