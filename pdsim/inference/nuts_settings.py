"""Settings of the No-U-Turn sampler, in both of its ways."""

from typing import Any, Literal

from pydantic import Field, model_validator

from pdsim.inference.chains import ChainSettings
from pdsim.settings.section import Count, with_defaults

# What separate chains take where nothing is said.
_SEPARATE_DEFAULTS = {"chain_count": 20, "warmup": 0.5}


class Settings(ChainSettings):
    """No-U-Turn sampler; in brackets what separate chains take where nothing is said."""

    adaptation: Literal["pooled", "separate"] = Field(
        "pooled",
        description="chains that start from fits and adapt together, or each alone from its own "
        "Sobol point",
    )
    burn_in: float = Field(0.0, ge=0, lt=1, description="share left out beyond the warm-up")
    chain_count: Count = Field(
        12, description="chains side by side; a separate one alone starts at the centre (20)"
    )
    warmup: float = Field(
        0.3,
        gt=0,
        lt=1,
        description="share of the evaluations that adapts; where chains are separate, of the "
        "draws affordable with full trees (0.5)",
    )
    fit: float = Field(
        0.1, ge=0, lt=1, description="largest share of the evaluations that fits the starts; pooled"
    )
    doublings: int = Field(6, ge=1, le=12, description="largest tree: 2^doublings − 1 steps")
    dense_mass: bool = Field(True, description="adapt a full mass matrix, not a diagonal one")
    target_acceptance: float = Field(0.8, gt=0, lt=1, description="of the step-size adaptation")

    @model_validator(mode="before")
    @classmethod
    def _choose_defaults(cls, values: Any) -> Any:
        return with_defaults(values, "adaptation", "separate", _SEPARATE_DEFAULTS)
