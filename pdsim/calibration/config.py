"""Section ``calibration`` of an experiment."""

from pydantic import Field, model_validator

from pdsim.inference.runs import WorkConfig
from pdsim.settings.section import Section


class CalibrationConfig(Section):
    """Simulation-based calibration of every run with single or marginal shooting."""

    data_sets: int = Field(
        200, ge=8, le=1_000_000, description="simulated data sets, the same for every run"
    )
    draws: int = Field(
        99, ge=9, description="draws of each posterior that the true parameter is ranked among"
    )
    budget: WorkConfig = Field(
        WorkConfig(particle_count=120, iteration_count=200),
        description="of each data set; particle_count is the number of draws to choose from",
    )
    seed: int = Field(0, ge=0, lt=2**31, description="of parameters, motions and noise")

    @model_validator(mode="after")
    def _check(self) -> "CalibrationConfig":
        if self.budget.particle_count < self.draws:
            raise ValueError(
                f"budget.particle_count: {self.budget.particle_count} must not be below draws "
                f"({self.draws}), which are chosen among the particles"
            )
        return self
