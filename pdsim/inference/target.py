"""The density that samplers see: parameters and shooting variables as one unbounded vector.

Parameters are logits of their unit coordinates, u = 1/(1 + exp(−z)), so that no sampler can leave
the limits, and the density carries |du/dz| = u (1 − u). Shooting variables are counted from the
smoothed recording in units of σ_def. The defects enter as the Gaussian term of Eq. 5, those of all
trajectories: with a sum over trajectories (Eq. 9) a term inside each summand would leave the
shooting variables of the others without any density.
"""

import dataclasses
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from pydantic import Field

from pdsim.inference.estimator import largest_defect
from pdsim.likelihood.problem import Position, Problem
from pdsim.settings.section import Positive, Section

# How far from a face of the unit box a start may be: logits of 0 and 1 are infinite.
_MARGIN = 1e-3
# Least precision of a Gaussian in logits; a uniform coordinate's own is 0.3.
_LEAST_PRECISION = 0.1


class SamplerSettings(Section):
    """What the samplers of the augmented posterior density share."""

    defect_deviation: Positive = Field(
        0.01, description="σ_def of Eq. 5 in multiple shooting, in scaled state units"
    )


class Evaluation(NamedTuple):
    """What one evaluation tells of each position, (position,).

    Attributes:
        log_likelihood: of the observations alone.
        largest_defect: scaled state units.
    """

    log_likelihood: jax.Array
    largest_defect: jax.Array


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Target:
    """Unnormalised posterior density over vectors z of length ``dimension``."""

    problem: Problem
    defect_deviation: float = dataclasses.field(metadata={"static": True})

    @property
    def dimension(self) -> int:
        return self.problem.space.dimension + self.problem.start_shooting().size

    @property
    def gradient_block(self) -> int | None:
        """Vectors whose slopes are taken at a time, the problem's particles."""
        return self.problem.gradient_block

    def position(self, z: jax.Array) -> Position:
        """Map vectors (n, dimension) to parameters and shooting variables."""
        guess = self.problem.start_shooting()
        count = self.problem.space.dimension
        offset = z[:, count:].reshape(len(z), *guess.shape)
        return Position(jax.nn.sigmoid(z[:, :count]), guess + self.defect_deviation * offset)

    def log_density(self, z: jax.Array) -> tuple[jax.Array, Evaluation]:
        """Log density at vectors (n, dimension) up to a constant; −∞ where it is not finite."""
        return _log_density(self, z)

    def starts(self, count: int, seed: int) -> np.ndarray:
        """Vectors to start from (count, dimension): the middle for one, else Sobol points.

        Shooting variables of several starts are scattered by σ_def about the smoothed recording.
        """
        space = self.problem.space
        gaps = self.dimension - space.dimension
        points = space.middle[None] if count == 1 else space.sobol(count, seed)
        coordinates = np.clip(points, _MARGIN, 1 - _MARGIN)
        offsets = np.random.default_rng(seed).normal(size=(count, gaps)) * (count > 1)
        return np.concatenate([np.log(coordinates / (1 - coordinates)), offsets], axis=1)


@partial(jax.jit, inline=True)
def _log_density(target: Target, z: jax.Array) -> tuple[jax.Array, Evaluation]:
    """As ``Target.log_density``; a program that calls it several times traces it once."""
    problem = target.problem
    position = target.position(z)
    log_likelihood, defects = problem.evaluate(position)
    logits = z[:, : problem.space.dimension]
    log_slope = jax.nn.log_sigmoid(logits) + jax.nn.log_sigmoid(-logits)
    misfit = (defects / target.defect_deviation).reshape(len(z), -1)
    value = (
        log_likelihood
        + problem.space.log_prior(position.parameters)
        + log_slope.sum(axis=1)
        - 0.5 * (misfit**2).sum(axis=1)
    )
    value = jnp.where(jnp.isfinite(value), value, -jnp.inf)
    return value, Evaluation(log_likelihood, largest_defect(defects))


def covariance_in_logits(z: jax.Array, information: jax.Array) -> jax.Array:
    """Inverse of an information in the target's coordinates, shooting variables at unit size.

    Logits have the slope u (1 − u), and bring a curvature of twice that.

    Args:
        z: (dimension,).
        information: of the unit coordinates, (M, M).
    """
    m = len(information)
    u = jax.nn.sigmoid(z[:m])
    slope = u * (1 - u)
    own = information * jnp.outer(slope, slope) + jnp.diag(2 * slope + _LEAST_PRECISION)
    whole = jnp.eye(len(z), dtype=z.dtype).at[:m, :m].set(own)
    return jnp.linalg.inv(whole)
