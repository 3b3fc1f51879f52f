"""Section ``simulator`` of an experiment: the model, and which of its parameters are sought."""

from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from pdsim import registry
from pdsim.settings.messages import close_name
from pdsim.settings.section import Name, Positive, Section
from pdsim.systems.integrators import INTEGRATORS


class ParameterConfig(Section):
    """One estimated parameter."""

    lower: float = Field(description="lower limit, in `unit`")
    upper: float = Field(description="upper limit, in `unit`")
    unit: str = Field(description="must be the unit the system declares")
    scale: Literal["linear", "log"] = Field(
        "linear", description="how the unit box is laid over the limits"
    )
    prior: Literal["uniform", "log_uniform", "normal", "truncated_normal", "half_cauchy"] | None = (
        Field(None, description="density within the limits; default: flat on the scale")
    )
    mean: float | None = Field(None, description="of a (truncated) normal prior, in `unit`")
    standard_deviation: Positive | None = Field(
        None, description="of a (truncated) normal prior, in `unit`"
    )
    median: Positive | None = Field(
        None,
        description="of a half_cauchy prior, in `unit`: for what may be nothing or, seldom, much, "
        "as friction",
    )
    sets: tuple[str, ...] = Field(
        (),
        description="system parameters that take this value, `*` for any piece of a name; default: "
        "the one of this name",
    )

    @model_validator(mode="after")
    def _check(self) -> "ParameterConfig":
        if self.lower >= self.upper:
            raise ValueError(f"lower ({self.lower}) must be below upper ({self.upper})")
        if self.scale == "log" and self.lower <= 0:
            raise ValueError(f"a log scale needs lower > 0, not {self.lower}")
        if self.prior == "log_uniform" and self.lower <= 0:
            raise ValueError(f"a log_uniform prior needs lower > 0, not {self.lower}")
        normal = self.prior in ("normal", "truncated_normal")
        if normal and (self.mean is None or self.standard_deviation is None):
            raise ValueError(f"a {self.prior} prior needs mean and standard_deviation")
        if not normal and (self.mean is not None or self.standard_deviation is not None):
            raise ValueError(
                "mean and standard_deviation belong to a normal or truncated_normal prior"
            )
        if self.mean is not None and not self.lower <= self.mean <= self.upper:
            raise ValueError(
                f"mean: {self.mean:g} is outside the limits {self.lower:g} to {self.upper:g}; "
                "what a prior holds for likely must be possible, so widen them"
            )
        if self.prior == "half_cauchy":
            if self.median is None:
                raise ValueError("a half_cauchy prior needs median")
            if self.lower < 0:
                raise ValueError(f"a half_cauchy prior needs lower >= 0, not {self.lower}")
        elif self.median is not None:
            raise ValueError("median belongs to a half_cauchy prior")
        return self


# These name dimensions and columns of the files beside the parameters.
_RESERVED = ("chain", "draw", "snapshot", "rollouts", "seconds")


class SystemChoice(Section):
    """A system, with its options."""

    system: str = Field(
        description="a name from pdsim/systems",
        json_schema_extra={"enum": list(registry.NAMES["systems"])},
    )
    options: dict[str, Any] = Field({}, description="keys of the system's own table below")


class PosteriorOf(Section):
    """A posterior of another experiment."""

    experiment: Name = Field(description="its file's name, beside this one, without .yaml")
    run: Name = Field(description="name of its run")
    seed: int = Field(0, ge=0, description="of that run")


class FixedFrom(PosteriorOf):
    """A posterior of another experiment, whose parameters are held here at what was found."""

    draw: Literal["best", "mean"] = Field(
        "best",
        description="the draw of the highest density, or the mean of all (of exchangeable bodies, "
        "named alike)",
    )


class JointPriorConfig(Section):
    """A Gaussian over several parameters at once, in place of priors of their own; limits cut it.

    Of each value, or of its natural logarithm where the parameter's scale is log: so it means the
    same whatever the limits are.
    """

    # Two parameters may have next to nothing in common.
    smallest: ClassVar[float] = 0.0
    parameters: tuple[Name, ...] = Field(min_length=1, description="the parameters, in its order")
    mean: tuple[float, ...] = Field(
        description="of each value in its unit, or of the natural logarithm on a log scale"
    )
    covariance: tuple[tuple[float, ...], ...] = Field(
        description="of the same: a row for each parameter, in its order"
    )

    @model_validator(mode="after")
    def _check(self) -> "JointPriorConfig":
        count = len(self.parameters)
        if len(set(self.parameters)) < count:
            raise ValueError("parameters: one is there twice; name each once")
        if len(self.mean) != count or {len(row) for row in (self.covariance, *self.covariance)} != {
            count
        }:
            raise ValueError(
                f"mean needs {count} values and covariance {count} rows of {count}, one for each "
                "of parameters"
            )
        matrix = np.array(self.covariance)
        scale = np.sqrt(np.maximum(np.diag(matrix), np.finfo(float).tiny))
        correlation = matrix / np.outer(scale, scale)
        if not np.allclose(correlation, correlation.T, rtol=0, atol=1e-9):
            raise ValueError("covariance: is not symmetric; entry i, j must be entry j, i")
        if not np.linalg.eigvalsh(correlation)[0] > np.finfo(float).eps * count:
            raise ValueError(
                "covariance: is not positive definite; leave out a parameter that others determine"
            )
        return self


class SingleConfig(Section):
    """A model's own parameters, where combinations of them are estimated.

    Each draw's combinations leave a ridge of single parameters; one point of it is drawn by this
    prior (``pdsim.systems.ridge``).
    """

    parameters: dict[Name, ParameterConfig] = Field(
        min_length=1, description="limits and prior of each, one parameter of the model's own"
    )
    fixed: dict[str, float] = Field({}, description="values of others that are known")


class SimulatorConfig(SystemChoice):
    """The model whose parameters are sought."""

    integrator: str | None = Field(
        None,
        description=f"of systems in continuous time: {', '.join(INTEGRATORS)}; default: rk4",
        json_schema_extra={"enum": [*INTEGRATORS, None]},
    )
    substeps: int = Field(1, ge=1, le=100_000, description="integrator steps per recorded frame")
    parameters: dict[Name, ParameterConfig] = Field(
        min_length=1, description="what is estimated, by name, in the order of files and figures"
    )
    fixed: dict[str, float] = Field(
        {}, description="values of other system parameters, in the system's units"
    )
    fixed_from: FixedFrom | None = Field(
        None, description="more of them, from a posterior of an earlier experiment"
    )
    prior_from: PosteriorOf | None = Field(
        None,
        description="the posterior of an earlier experiment is the prior of the parameters that "
        "are sought in both, together: a Gaussian fitted to its draws",
    )
    joint_prior: JointPriorConfig | None = Field(
        None, description="a correlated Gaussian prior that is known; prior_from puts its own here"
    )
    single: SingleConfig | None = Field(
        None,
        description="masses and other single parameters that are drawn afterwards, where the "
        "system's options seek combinations of them (`parameters: base`)",
    )

    @model_validator(mode="after")
    def _check(self) -> "SimulatorConfig":
        taken = [name for name in self.parameters if name in _RESERVED]
        if taken:
            raise ValueError(f"a parameter cannot be called {taken[0]!r}; choose another name")
        if self.joint_prior is None:
            return self
        if self.prior_from is not None:
            raise ValueError("joint_prior and prior_from are both given; leave one of them out")
        for name in self.joint_prior.parameters:
            if name not in self.parameters:
                raise ValueError(
                    f"joint_prior.parameters: {name!r} is not estimated"
                    f"{close_name(name, self.parameters)}"
                )
            if self.parameters[name].prior is not None:
                raise ValueError(
                    f"parameters.{name}.prior: joint_prior takes its place; leave one of them out"
                )
        return self

    @property
    def choice(self) -> SystemChoice:
        """The system alone."""
        return SystemChoice(system=self.system, options=self.options)
