"""Parameters and the box they live in.

Estimators see only unit coordinates u ∈ [0, 1]^M, one per estimated parameter, so that no
parameter dominates for its unit (appendix I-C). A ``ParameterSpace`` maps them to physical values,
linearly or logarithmically, and knows the prior density: that of each parameter, or of several at
once (``pdsim.parameters.joint_prior``).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.stats import norm

from pdsim.parameters.joint_prior import JointPrior


@dataclass(frozen=True)
class Parameter:
    """One estimated number.

    Attributes:
        name: as it appears in files and figures.
        lower, upper: limits, physical units.
        unit: of lower, upper and every value reported.
        scale: "linear" or "log"; how the unit coordinate runs from lower to upper.
        prior: "uniform", "log_uniform", "normal", "truncated_normal" or "half_cauchy" over the
            physical value. "normal" and "half_cauchy" know no limits of their own: the box still
            bounds where estimators look.
        mean, standard_deviation: of the (truncated) normal, physical units.
        median: of the half-Cauchy, physical units.
        sets: the system's parameters that take this value.
        label: for figures.
    """

    name: str
    lower: float
    upper: float
    unit: str
    scale: str = "linear"
    prior: str = "uniform"
    mean: float = 0.0
    standard_deviation: float = 1.0
    median: float = 1.0
    sets: tuple[str, ...] = ()
    label: str = ""

    def to_physical(self, coordinate):
        """Map [0, 1] to [lower, upper]; values outside extrapolate."""
        if self.scale == "log":
            return self.lower * jnp.exp(coordinate * np.log(self.upper / self.lower))
        return self.lower + coordinate * (self.upper - self.lower)

    def to_coordinates(self, value):
        """Inverse of ``to_physical``."""
        if self.scale == "log":
            return jnp.log(value / self.lower) / np.log(self.upper / self.lower)
        return (value - self.lower) / (self.upper - self.lower)

    @property
    def span(self) -> float:
        """From limit to limit: in its unit, or of its logarithm where its scale is."""
        return float(
            np.log(self.upper / self.lower) if self.scale == "log" else self.upper - self.lower
        )

    def log_prior(self, coordinate):
        """Log density of the prior over the unit coordinate, limits not applied.

        The Jacobian dx/du of ``to_physical`` is included, so a uniform prior under a
        logarithmic scale favours the upper end, and a log-uniform one is flat.
        """
        x = self.to_physical(coordinate)
        if self.scale == "log":
            log_slope = jnp.log(x) + np.log(np.log(self.upper / self.lower))
        else:
            log_slope = jnp.full_like(x, np.log(self.upper - self.lower))
        if self.prior == "uniform":
            return log_slope - np.log(self.upper - self.lower)
        if self.prior == "log_uniform":
            if self.scale == "log":
                return jnp.zeros_like(x)
            # Held at the limits outside the box, where log may have no value.
            inside = jnp.clip(x, self.lower, self.upper)
            return log_slope - jnp.log(inside) - np.log(np.log(self.upper / self.lower))
        if self.prior == "half_cauchy":
            ratio = x / self.median
            return log_slope + np.log(2 / (np.pi * self.median)) - jnp.log1p(ratio * ratio)
        density = norm.logpdf(x, self.mean, self.standard_deviation)
        if self.prior == "truncated_normal":
            bounds = (np.array([self.lower, self.upper]) - self.mean) / self.standard_deviation
            density = density - jnp.log(jnp.diff(norm.cdf(bounds))[0])
        return density + log_slope


@dataclass(frozen=True)
class ParameterSpace:
    """The estimated parameters, in order, and the values of all the others.

    Attributes:
        fixed: names and values of the others.
        joint: prior of some parameters at once, which takes the place of their own.
    """

    parameters: tuple[Parameter, ...]
    fixed: tuple[tuple[str, float], ...] = ()
    joint: JointPrior | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(parameter.name for parameter in self.parameters)

    @property
    def dimension(self) -> int:
        return len(self.parameters)

    @property
    def middle(self) -> np.ndarray:
        """Where one start alone begins, unit coordinates (M,): the middle of box or joint prior."""
        middle = np.full(self.dimension, 0.5)
        if self.joint is not None:
            middle[self._joined] = self.joint.middle
        return middle

    @property
    def centre(self) -> np.ndarray:
        """Physical values (M,) in the middle of each parameter's scale, computed without JAX."""
        return np.array(
            [
                np.sqrt(p.lower * p.upper) if p.scale == "log" else (p.lower + p.upper) / 2
                for p in self.parameters
            ]
        )

    @property
    def _joined(self) -> np.ndarray:
        """Columns of the joint prior's parameters, in its order."""
        names = () if self.joint is None else self.joint.names
        return np.array([self.names.index(name) for name in names], int)

    def to_physical(self, coordinates: jax.Array) -> jax.Array:
        """Map unit coordinates ``(..., M)`` to physical values of the same shape."""
        columns = [p.to_physical(coordinates[..., i]) for i, p in enumerate(self.parameters)]
        return jnp.stack(columns, axis=-1)

    def to_coordinates(self, physical) -> jax.Array:
        """Inverse of ``to_physical``."""
        physical = jnp.asarray(physical)
        columns = [p.to_coordinates(physical[..., i]) for i, p in enumerate(self.parameters)]
        return jnp.stack(columns, axis=-1)

    def system_parameters(self, coordinates: jax.Array) -> Mapping[str, jax.Array]:
        """Return the values of all the system's parameters by name, each of shape ``(...)``."""
        values = {name: jnp.asarray(value, coordinates.dtype) for name, value in self.fixed}
        for i, parameter in enumerate(self.parameters):
            physical = parameter.to_physical(coordinates[..., i])
            for target in parameter.sets:
                values[target] = physical
        return values

    def log_prior(self, coordinates: jax.Array) -> jax.Array:
        """Log prior density over unit coordinates, shape ``(...)``; limits are not applied here.

        Limits are constraints (Sec. IV-D, IV-E): each estimator keeps them in its own way.
        """
        joined = self._joined
        terms = [
            parameter.log_prior(coordinates[..., i])
            for i, parameter in enumerate(self.parameters)
            if i not in joined
        ]
        if self.joint is not None:
            terms.append(self.joint.log_density(coordinates[..., joined]))
        return sum(terms, jnp.zeros(coordinates.shape[:-1], coordinates.dtype))

    def sobol(self, count: int, seed: int = 0) -> np.ndarray:
        """First ``count`` points of a Sobol sequence, shape ``(count, M)``.

        Every estimator starts from these (appendix I-A). Seed 0 is the plain sequence, as in the
        paper; any other scrambles it, so that the spread over seeds shows what the start matters.
        A joint prior, which may fill but a sliver of the box, has them where it is.
        """
        # Imported here: scipy.stats takes as long to load as JAX, and most stages need no start.
        from scipy.stats import qmc

        exponent = int(np.ceil(np.log2(max(count, 2))))
        sequence = qmc.Sobol(self.dimension, scramble=seed != 0, rng=seed)
        points = sequence.random_base2(exponent)[:count]
        if self.joint is not None:
            points[:, self._joined] = self.joint.spread(points[:, self._joined])
        return points

    def sample_prior(self, count: int, seed: int) -> np.ndarray:
        """Draw from the prior within the limits, unit coordinates, shape ``(count, M)``.

        The inverse of each parameter's cumulative distribution, tabulated on 4097 points; those of
        a joint prior are drawn together.
        """
        grid, random = np.linspace(0.0, 1.0, 4097), np.random.default_rng(seed)
        uniform = random.uniform(size=(count, self.dimension))
        columns = []
        for i, parameter in enumerate(self.parameters):
            log_density = np.asarray(parameter.log_prior(jnp.asarray(grid)))
            density = np.exp(log_density - log_density.max())
            cumulative = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2)])
            columns.append(np.interp(uniform[:, i], cumulative / cumulative[-1], grid))
        draws = np.stack(columns, axis=1)
        if self.joint is not None:
            draws[:, self._joined] = self.joint.sample(count, random)
        return draws
