"""Settings of constrained SVGD, in both of its ways."""

from typing import Any, Literal

from pydantic import Field, model_validator

from pdsim.settings.section import Positive, Section, with_defaults

# What Algorithm 1 takes where nothing is said, and what means nothing to Gauss–Newton steps.
_GRADIENT_DEFAULTS = {
    "step_size": 0.01,
    "step_decay": 0.1,
    "defect_deviation": (1.0, 0.01),
    "tightening": 0.8,
    "multiplier_step": 1e-3,
    "damping": 1.0,
    "limit_scale": 0.003,
    "reweighting": 0.0,
}
_GRADIENT_ONLY = ("damping", "limit_scale", "gradient_limit")


class Settings(Section):
    """Constrained SVGD: SVGD's direction, shooting defects as constraints (Eq. 8, Algorithm 1)."""

    descent: Literal["gauss_newton", "gradient"] = Field(
        "gauss_newton",
        description="steps on the linearised windows, or Algorithm 1 with Adam; each has defaults "
        "of its own, in brackets those of gradient",
    )
    step_size: float = Field(
        0.5,
        gt=0,
        le=1,
        description="at the start: share of the Newton step; with gradient Adam's step, in "
        "unit-box units (0.01)",
    )
    step_decay: float = Field(
        0.2, gt=0, le=1, description="step size at the end over that at the start (geometric) (0.1)"
    )
    defect_deviation: tuple[Positive, Positive] = Field(
        (1.0, 1e-4),
        description="σ_def at the start and at the end, in scaled state units (1.0, 0.01)",
    )
    tightening: float = Field(
        0.7,
        gt=0,
        le=1,
        description="share of the iterations over which σ_def goes to its end (0.8)",
    )
    multiplier_step: float = Field(
        0.3,
        ge=0,
        le=1,
        description="share of the defect the multipliers ascend in an iteration (0.001)",
    )
    damping: Positive | None = Field(None, description="c of Eq. 8, gradient only (1.0)")
    reweighting: float = Field(
        0.5,
        ge=0,
        lt=1,
        description="share of the evaluations that draws from the particles' own Gaussians and "
        "weighs; 0: the particles are the draws, as where there are shooting variables (0)",
    )
    limit_scale: Positive | None = Field(
        None, description="σ of the limit constraints, unit-box units, gradient only (0.003)"
    )
    gradient_limit: Positive | None = Field(
        None,
        description="longest score of one particle, in unit-box units, gradient only; none: no "
        "limit",
    )

    @model_validator(mode="before")
    @classmethod
    def _choose_defaults(cls, values: Any) -> Any:
        return with_defaults(values, "descent", "gradient", _GRADIENT_DEFAULTS)

    @model_validator(mode="after")
    def _check(self) -> "Settings":
        if self.descent == "gauss_newton":
            for name in _GRADIENT_ONLY:
                if getattr(self, name) is not None:
                    raise ValueError(
                        f"{name} belongs to descent: gradient; leave it out with descent: "
                        "gauss_newton"
                    )
        elif self.reweighting:
            raise ValueError(
                "reweighting belongs to descent: gauss_newton, whose information it needs; leave "
                "it out with descent: gradient"
            )
        return self
