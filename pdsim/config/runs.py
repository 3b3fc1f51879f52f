"""Settings of each estimator, the budget of a job, and the runs of an experiment."""

import itertools
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from pdsim.config.messages import close_name

Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]


class Section(BaseModel):
    """A part of a config file: immutable, and closed to misspelt keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class SvgdConfig(Section):
    """Stein variational gradient descent with Adam (Eq. 1)."""

    step_size: Positive = Field(0.03, description="Adam's step at the start, in unit-box units")
    step_decay: float = Field(
        0.1, gt=0, le=1, description="step size at the end over that at the start (geometric)"
    )
    gradient_limit: Positive | None = Field(
        None, description="longest score of one particle, in unit-box units; none: no limit"
    )


class CsvgdConfig(Section):
    """Constrained SVGD: SVGD's direction, shooting defects as constraints (Eq. 8, Algorithm 1)."""

    step_size: float = Field(0.5, gt=0, le=1, description="share of the Newton step at the start")
    step_decay: float = Field(
        0.2, gt=0, le=1, description="step size at the end over that at the start (geometric)"
    )
    defect_scale: tuple[Positive, Positive] = Field(
        (1.0, 1e-4), description="σ_def at the start and at the end, in scaled state units"
    )
    tightening: float = Field(
        0.7, gt=0, le=1, description="share of the iterations over which σ_def goes to its end"
    )
    multiplier_step: float = Field(
        0.3, ge=0, le=1, description="share of the defect the multipliers ascend in an iteration"
    )


class SamplerConfig(Section):
    """What the samplers of the augmented posterior density share."""

    defect_deviation: Positive = Field(
        0.01, description="σ_def of Eq. 5 in multiple shooting, in scaled state units"
    )


class CemConfig(SamplerConfig):
    """Cross-entropy method with a Gaussian mixture."""

    component_count: Count = Field(3, description="Gaussians in the mixture")
    elite_share: float = Field(
        0.1, gt=0, lt=1, description="smallest effective share of the samples that may be fitted"
    )
    memory: Count = Field(5, description="iterations whose samples are fitted together")


class ChainConfig(SamplerConfig):
    """What Markov chains share."""

    burn_in: float = Field(0.5, ge=0, lt=1, description="share of each chain that is left out")
    keep: Literal["spread", "last"] = Field(
        "spread",
        description="draws spread over the rest of the chain, or its last ones (as in the paper)",
    )


class EmceeConfig(ChainConfig):
    """Affine-invariant ensemble: one walker for each particle, or two for each dimension."""

    stretch: float = Field(2.0, gt=1, description="a of the stretch move")


class SgldConfig(ChainConfig):
    """Langevin dynamics with decreasing step and preconditioning."""

    chain_count: Count = Field(20, description="chains side by side; 1 starts at the centre")
    step_size: Positive = Field(0.03, description="step at the start, in preconditioned logits")
    step_decay: float = Field(
        0.1, gt=0, le=1, description="step size at the end over that at the start (geometric)"
    )
    averaging: float = Field(
        0.1,
        gt=0,
        le=1,
        description="share of the chain over which the preconditioner's mean square gradient goes",
    )


class NutsConfig(ChainConfig):
    """No-U-Turn sampler with window adaptation."""

    burn_in: float = Field(0.0, ge=0, lt=1, description="share left out beyond the warm-up")
    chain_count: Count = Field(20, description="chains side by side; 1 starts at the centre")
    warmup: float = Field(
        0.5, gt=0, lt=1, description="share of the affordable iterations that adapts"
    )
    doublings: int = Field(6, ge=1, le=12, description="largest tree: 2^doublings − 1 steps")
    dense_mass: bool = Field(True, description="adapt a full mass matrix, not a diagonal one")
    target_acceptance: float = Field(0.8, gt=0, lt=1, description="of the step-size adaptation")


SETTINGS: dict[str, type[Section]] = {
    "emcee": EmceeConfig,
    "cem": CemConfig,
    "sgld": SgldConfig,
    "nuts": NutsConfig,
    "svgd": SvgdConfig,
    "csvgd": CsvgdConfig,
}


class WorkConfig(Section):
    """How much work an inference job may do: at most particle_count · iteration_count evaluations
    of the likelihood, whatever the estimator."""

    particle_count: int = Field(ge=4, description="particles, or draws of Markov chains")
    iteration_count: Count = Field(description="iterations of all particles")
    chunk_size: Count = Field(100, description="iterations between progress and checkpoints")
    seconds: Positive | None = Field(
        None, description="time after which a job ends with what it has; none: no limit [s]"
    )


class BudgetConfig(WorkConfig):
    """A budget of an experiment: the work of each inference job, and what is done besides."""

    seed_count: Count | None = Field(None, description="how many of the seeds; none: all")
    course: bool = Field(
        True, description="score the estimation on its way too; takes as long as all other scores"
    )
    bayessim: bool = Field(True, description="train the variants of the section bayessim too")


class Run(Section):
    """One estimator with one likelihood, its settings, and where they come from."""

    method: Literal["emcee", "cem", "sgld", "nuts", "svgd", "csvgd"]
    shooting: Literal["single", "multiple"]
    settings: dict[str, Any] = Field({}, description="keys of the method's own table below")
    tune: dict[str, tuple[Any, ...]] = Field(
        {}, description="settings to search, each with the values to try"
    )
    tune_iterations: Count | None = Field(
        None, description="iterations of each trial; none: those of tuning.budget"
    )
    chosen: str = Field("", description="how the settings were chosen")

    @model_validator(mode="after")
    def _check(self) -> "Run":
        if self.method == "svgd" and self.shooting == "multiple":
            raise ValueError("svgd with multiple shooting is csvgd: write method: csvgd")
        model = SETTINGS[self.method]
        for where, names in (("settings", self.settings), ("tune", self.tune)):
            for name in names:
                if name not in model.model_fields:
                    raise ValueError(
                        f"{where}.{name}: {self.method} has no such setting"
                        f"{close_name(name, model.model_fields)}"
                    )
        for settings in (self.settings, *self.trials()):
            try:
                model.model_validate(settings)
            except ValidationError as error:
                raise ValueError(
                    "; ".join(
                        f"settings.{'.'.join(map(str, e['loc']))}: {e['msg']} (got {e['input']!r})"
                        for e in error.errors()
                    )
                ) from None
        return self

    def trials(self) -> list[dict[str, Any]]:
        """Settings of every trial of the search: all combinations of the values to try."""
        return [
            {**self.settings, **dict(zip(self.tune, values, strict=True))}
            for values in itertools.product(*self.tune.values())
        ]


class TuningConfig(Section):
    """How settings are searched: on the training recordings alone, which are cut in two."""

    share: float = Field(
        0.75, gt=0, lt=1, description="share of each training window that is fitted"
    )
    budget: WorkConfig = Field(
        WorkConfig(particle_count=100, iteration_count=500), description="of each trial"
    )
