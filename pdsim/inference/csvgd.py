"""Constrained SVGD: Stein variational gradient descent under equality constraints (Algorithm 1).

Each particle carries its shooting variables and Lagrange multipliers. Parameters follow the Stein
direction; shooting variables descend the Lagrangian (Eq. 8); multipliers ascend it, λ̇ = g. The
defects' scale σ_def tightens on the way, so that the last particles are continuous.

It is composed of a direction (``stein``), the handling of constraints (``mdmm``, ``profile``) and a
step (``particles.move``, ``gauss_newton``), in two ways, by the setting ``descent``:

- ``gradient`` is the paper's own: kernel of positions, multipliers for limits and defects, Adam.
- ``gauss_newton``, the default, takes steps on the linearised residuals and defects, in a kernel of
  what the particles predict. Motion that amplifies its start many-fold makes the Lagrangian
  ill-conditioned, so that a gradient step right for one direction is far too long for another;
  these steps see the curvature. They also let the windows weigh equally in the posterior, which
  gradients do not (``gradient_descent``).

Both are runs of the real experiments; what each predicts stands in their tables.
"""

from typing import Any, Literal

from pydantic import Field, model_validator

from pdsim.config.section import Positive, Section, with_defaults
from pdsim.inference.gradient_descent import GradientDescent
from pdsim.inference.particle_newton import GaussNewton
from pdsim.inference.reweighted import Reweighted

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


def constrained_svgd(
    *, settings: Settings, particle_count: int, iteration_count: int
) -> GaussNewton | GradientDescent | Reweighted:
    """Return the estimator with the descent that is set."""
    if settings.descent == "gradient":
        chosen: Any = GradientDescent
    else:
        chosen = Reweighted if settings.reweighting else GaussNewton
    return chosen(settings=settings, particle_count=particle_count, iteration_count=iteration_count)


ESTIMATOR = constrained_svgd
