"""Section ``likelihood`` of an experiment."""

from typing import Literal

from pydantic import Field, model_validator

from pdsim.config.section import Positive, Section


class LikelihoodConfig(Section):
    """How simulated and recorded trajectories are compared."""

    combination: Literal["sum", "product"] = Field(
        "sum", description="of several training trajectories: mixture (Eq. 9) or product (Eq. 10)"
    )
    window_count: int = Field(10, ge=2, description="shooting windows in multiple shooting")
    noise_relative: Positive | None = Field(
        None, description="standard deviation over the spread of each channel in the training set"
    )
    noise: dict[str, Positive] | None = Field(
        None, description="standard deviation by channel, in the channel's unit"
    )

    @model_validator(mode="after")
    def _check(self) -> "LikelihoodConfig":
        if (self.noise is None) == (self.noise_relative is None):
            raise ValueError("give either noise or noise_relative")
        return self
