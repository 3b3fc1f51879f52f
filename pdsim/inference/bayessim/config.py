"""Section ``bayessim`` of an experiment."""

from typing import Annotated, Literal, get_args

from pydantic import Field, model_validator

from pdsim.inference.runs import BudgetConfig
from pdsim.settings.section import Count, Positive, Section

Statistic = Literal["downsampled", "difference", "summary", "signature"]
Density = Literal["mdn", "mdrff_rbf", "mdrff_matern52"]


class TrainingSetConfig(Section):
    """Simulated pairs of parameters and trajectories."""

    count: int = Field(10_000, ge=1, le=100_000_000, description="trajectories to learn from")
    held_out_count: int = Field(
        500,
        ge=2,
        le=100_000_000,
        description="more trajectories: one half for the held-out loss, one for the calibration",
    )
    noise: bool = Field(
        True, description="give each trajectory the sensor noise that the recordings have"
    )
    seed: int = Field(0, ge=0, lt=2**31, description="of parameters and noise")
    chunk_size: int = Field(1000, ge=1, le=1_000_000, description="trajectories simulated at once")


class StatisticsConfig(Section):
    """Sizes of the input statistics."""

    every: Count = Field(20, description="downsampled, difference: one frame of so many")
    lags: tuple[Count, ...] = Field(
        (5, 10, 20, 50, 100), description="summary: lags of the autocorrelations [frames]"
    )
    depth: int = Field(3, ge=1, le=5, description="signature: deepest level")


class DensityConfig(Section):
    """The densities, and how they are fitted."""

    component_count: Count = Field(5, description="Gaussians in the mixture")
    hidden: tuple[Annotated[int, Field(ge=1, le=100_000)], ...] = Field(
        (24, 24), description="mdn: units of the hidden layers"
    )
    feature_count: int = Field(200, ge=1, le=100_000, description="mdrff: random Fourier features")
    epochs: int = Field(3000, ge=1, le=10_000_000, description="passes over the training set")
    patience: Count | None = Field(
        None,
        description="epochs without a better held-out loss that end it early; left out: none do",
    )
    batch_size: Count = Field(500, description="pairs in a gradient")
    learning_rate: Positive = Field(1e-3, description="Adam's step")
    max_tries: int = Field(
        100,
        ge=1,
        le=100_000,
        description="times as many draws as asked for that may be made to stay in the limits",
    )


class BayesSimConfig(Section):
    """Which variants are trained, and how."""

    statistics: tuple[Statistic, ...] = Field(
        get_args(Statistic), min_length=1, description="input statistics"
    )
    densities: tuple[Density, ...] = Field(
        get_args(Density), min_length=1, description="density models"
    )
    training_set: TrainingSetConfig = TrainingSetConfig()
    statistic: StatisticsConfig = StatisticsConfig()
    density: DensityConfig = DensityConfig()

    @model_validator(mode="after")
    def _check(self) -> "BayesSimConfig":
        for key in ("statistics", "densities"):
            names = getattr(self, key)
            twice = [name for i, name in enumerate(names) if name in names[:i]]
            if twice:
                raise ValueError(f"{key}: {twice[0]!r} is there twice; remove one")
        if self.density.component_count > self.training_set.count:
            raise ValueError(
                f"density.component_count: {self.density.component_count} Gaussians cannot be "
                f"learned from {self.training_set.count} trajectories (training_set.count)"
            )
        return self

    def within(self, budget: BudgetConfig) -> "BayesSimConfig":
        """Shrink to a budget: at most its evaluations to learn from, and epochs in proportion.

        All epochs are done where the budget has 20 evaluations or more for each trajectory.
        """
        evaluations = budget.particle_count * budget.iteration_count
        count = min(self.training_set.count, evaluations)
        share = min(1.0, evaluations / (20 * self.training_set.count))
        return self.model_copy(
            update={
                "training_set": self.training_set.model_copy(update={"count": count}),
                "density": self.density.model_copy(
                    update={"epochs": max(round(self.density.epochs * share), 1)}
                ),
            }
        )

    def variants(self) -> list[str]:
        """Names of all pairs of statistic and density, ``<statistic>_<density>``."""
        return [f"{s}_{d}" for d in self.densities for s in self.statistics]


def split_variant(variant: str) -> tuple[str, str]:
    """Return statistic and density of a variant's name."""
    statistic, _, density = variant.partition("_")
    return statistic, density
