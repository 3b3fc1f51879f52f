"""Section ``likelihood`` of an experiment."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from pdsim.settings.section import Name, Positive, Section


class MarginalConfig(Section):
    """What is unknown beside the parameters where the window states are integrated out."""

    sensor: tuple[Positive, Positive] | None = Field(
        (0.3, 10.0),
        description="limits of each measured channel's σ, over the white noise found in it; null: "
        "that noise itself",
    )
    process: tuple[Positive, Positive] | None = Field(
        (0.01, 100.0),
        description="limits of each state variable's process noise in a window, over the error of "
        "its estimate at the start; null: none",
    )
    process_prior: Literal["half_cauchy", "log_uniform"] = Field(
        "half_cauchy",
        description="of the process noise between its limits. half_cauchy: with the error of the "
        "start's estimate as its median. log_uniform: every decade alike, which holds it for the "
        "likelier the smaller it is, down to the lower limit",
    )
    process_of: Literal["states", "momenta"] = Field(
        "states",
        description="what process noise is independent in: state variables; or positions and "
        "momenta, as wrong forces push a mechanism through its mass matrix, if it has one",
    )
    correlation: tuple[float, float] | None = Field(
        (0.0, 0.95),
        description="limits of the correlation of process noise from window to window: what a "
        "model gets wrong it gets wrong again, which one short recording does not show; null: none",
    )
    varying: dict[Name, Positive] = Field(
        {},
        description="parameters whose value is another one in each recording, as a camera is put "
        "up anew or friction runs warm, and the median of their deviation between recordings: in "
        "the parameter's unit, of its logarithm where its scale is log",
    )
    start: float = Field(
        3.0,
        ge=0,
        description="deviation of the first state's prior over the error of its estimate, which "
        "saw the first frames already; 0: the start is known",
    )
    iterations: int = Field(
        1, ge=1, le=1000, description="Gauss–Newton steps over the window states"
    )

    @model_validator(mode="after")
    def _check(self) -> "MarginalConfig":
        for name in ("sensor", "process"):
            limits = getattr(self, name)
            if limits is not None and limits[0] >= limits[1]:
                raise ValueError(f"{name}: the first limit must be below the second (got {limits})")
        limits = self.correlation
        if limits is not None and not -1 < limits[0] < limits[1] < 1:
            raise ValueError(
                f"correlation: two growing numbers between -1 and 1 are needed (got {limits})"
            )
        return self


class PredictionConfig(Section):
    """How held-out recordings are predicted after their first frames were seen."""

    prefix: int = Field(
        40,
        ge=2,
        description="frames of each held-out recording that are seen; scores count from the next "
        "on. Estimates of start states see half of smoothing.frames around the first",
    )
    noise_spread: float = Field(
        0.5,
        ge=0,
        description="standard deviation of the logarithm by which the process noise of a held-out "
        "recording may differ from what the draws say, of each state variable: what a model misses "
        "is not the same in another motion",
    )
    samples: int = Field(
        400,
        ge=1,
        le=1_000_000,
        description="predictions of each recording, at least: draws are taken as often as that "
        "needs, each time with other noise",
    )


class LikelihoodConfig(Section):
    """How simulated and recorded trajectories are compared."""

    combination: Literal["sum", "product"] = Field(
        "sum", description="of several training trajectories: mixture (Eq. 9) or product (Eq. 10)"
    )
    window_count: int = Field(10, ge=2, description="shooting windows in multiple shooting")
    noise_relative: float | None = Field(
        None,
        ge=1e-9,
        description="standard deviation over the spread of each channel in the training set; "
        "default, where noise is not given either: 0.1, as in the paper",
    )
    noise: dict[str, Annotated[float, Field(ge=1e-12)]] | None = Field(
        None, description="standard deviation by channel, in the channel's unit"
    )

    marginal: MarginalConfig = Field(
        MarginalConfig(), description="of runs with marginal shooting, which infer the noise"
    )

    @model_validator(mode="after")
    def _check(self) -> "LikelihoodConfig":
        if self.noise is not None and self.noise_relative is not None:
            raise ValueError("give either noise or noise_relative, not both")
        return self

    @property
    def share(self) -> float:
        """Standard deviation over the spread of each channel, where it is not stated."""
        return 0.1 if self.noise_relative is None else self.noise_relative
