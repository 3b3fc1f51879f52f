"""The runs of an experiment: which estimator, with which likelihood, settings and budget."""

import itertools
from typing import Any, Literal

from pydantic import Field, ValidationError, model_validator

from pdsim import registry
from pdsim.inference.identity import Identity, default_name
from pdsim.settings.messages import close_name
from pdsim.settings.section import Count, Name, Positive, Section

Shooting = Literal["single", "multiple", "marginal"]


class WorkConfig(Section):
    """How much work an inference job may do: at most particle_count · iteration_count evaluations
    of the likelihood, whatever the estimator."""

    particle_count: int = Field(
        ge=4, le=1_000_000, description="particles, or draws of Markov chains"
    )
    iteration_count: int = Field(ge=1, le=1_000_000_000, description="iterations of all particles")
    chunk_size: int = Field(
        100, ge=1, le=1_000_000, description="iterations between progress and checkpoints"
    )
    seconds: Positive | None = Field(
        None, description="time after which a job ends with what it has; null: no limit [s]"
    )


class BudgetConfig(WorkConfig):
    """A budget of an experiment: the work of each inference job, and what is done besides."""

    runs: tuple[Name, ...] | None = Field(
        None, min_length=1, description="which of the runs; null: all"
    )
    seed_count: Count | None = Field(None, description="how many of the seeds; null: all")
    learning_curve: bool = Field(
        True, description="score the estimation on its way too; takes as long as all other scores"
    )
    bayessim: bool = Field(True, description="train the variants of the section bayessim too")


class RunChoice(Section):
    """What an estimation depends on of its run."""

    method: str = Field(
        description="an estimator of pdsim/inference",
        json_schema_extra={"enum": list(registry.NAMES["inference"])},
    )
    shooting: Shooting = Field(description="one window for each recording, or several")
    settings: dict[str, Any] = Field({}, description="keys of the method's own table below")


class Run(RunChoice):
    """One estimator with one likelihood, its settings, and where they come from."""

    name: Name | None = Field(None, description="its folder; default: method and shooting")
    tune: dict[str, tuple[Any, ...]] = Field(
        {}, description="settings to search, each with the values to try"
    )
    tune_iterations: Count | None = Field(
        None, description="iterations of each trial; null: those of tuning.budget"
    )
    chosen: str = Field("", description="how the settings were chosen")
    effort: int = Field(
        1,
        ge=1,
        le=1_000_000,
        description="times as many iterations as the budget says; for a reference, not a rival",
    )

    @model_validator(mode="after")
    def _check(self) -> "Run":
        known = registry.NAMES["inference"]
        if self.name and (
            self.name.lower() in _FOLDERS or self.name.endswith((".nc", ".csv", ".md", ".html"))
        ):
            raise ValueError(
                f"name: {self.name!r} has a meaning of its own in results; choose another"
            )
        if self.method not in known:
            raise ValueError(
                f"method: no such estimator (got {self.method!r}){close_name(self.method, known)}"
            )
        module = registry.load("inference", self.method)
        if self.shooting not in getattr(module, "SHOOTINGS", (self.shooting,)):
            raise ValueError(f"{self.method} with {self.shooting} shooting {module.INSTEAD}")
        for where, names in (("settings", self.settings), ("tune", self.tune)):
            for name in names:
                if name not in module.Settings.model_fields:
                    raise ValueError(
                        f"{where}.{name}: {self.method} has no such setting"
                        f"{close_name(name, module.Settings.model_fields)}"
                    )
        empty = [name for name, values in self.tune.items() if not values]
        if empty:
            raise ValueError(f"tune.{empty[0]}: no value to try; give some, or leave the key out")
        if len(list(itertools.islice(self._values(), _TRIALS + 1))) > _TRIALS:
            raise ValueError(f"tune: more than {_TRIALS} combinations; leave some values out")
        for settings in (self.settings, *self.trials()):
            try:
                module.Settings.model_validate(settings)
            except ValidationError as error:
                raise ValueError("; ".join(_setting_message(e) for e in error.errors())) from None
        return self

    @property
    def identity(self) -> Identity:
        """Its name, method and shooting."""
        name = self.name or default_name(self.method, self.shooting)
        return Identity(name, self.method, self.shooting)

    @property
    def choice(self) -> RunChoice:
        """What its estimation depends on, every setting spelt out."""
        model = registry.load("inference", self.method).Settings
        settings = model.model_validate(self.settings).model_dump(mode="json")
        return RunChoice(method=self.method, shooting=self.shooting, settings=settings)

    def _values(self):
        return itertools.product(*self.tune.values())

    def trials(self) -> list[dict[str, Any]]:
        """Settings of every trial of the search: all combinations of the values to try."""
        return [
            {**self.settings, **dict(zip(self.tune, values, strict=True))}
            for values in self._values()
        ]


# What stands beside the runs' folders in the results of an experiment.
_FOLDERS = ("recording", "bayessim", "figures", "tables", "logs", "benchmarks")
# Trials of one search, at most.
_TRIALS = 1000


def _setting_message(error) -> str:
    key = ".".join(map(str, error["loc"]))
    where = f"settings.{key}: " if key else "settings: "
    return f"{where}{error['msg'].removeprefix('Value error, ')} (got {error['input']!r})"


class TuningConfig(Section):
    """How settings are searched: on the training recordings alone, which are cut in two."""

    share: float = Field(
        0.75, gt=0, lt=1, description="share of each training window that is fitted"
    )
    budget: WorkConfig = Field(
        WorkConfig(particle_count=100, iteration_count=500), description="of each trial"
    )
