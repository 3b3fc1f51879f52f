"""A Gaussian over several parameters at once, in place of priors of their own.

Over the unit coordinates u of the parameters that it names, n of them,

    log p(u) = −½ |W (u − mean)|² + log det W − n/2 log 2π        Wᵀ W = covariance⁻¹

In these coordinates the limits are the unit box, a parameter on a log scale is positive, and
information of a recording that is linear in the parameters adds up exactly; logits would keep the
limits by themselves, but have no density on them, where posteriors often lie. As with a ``normal``
prior of one parameter, the box bounds where estimators look, and the share of the Gaussian inside,
a constant, is left out of the density.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import jax
import jax.numpy as jnp
import numpy as np

from pdsim.numerics.truncated_fit import truncated_fit
from pdsim.numerics.truncated_gaussian import spread_gaussian, truncated_gaussian

# Starts are between these quantiles; those of 0 and 1 are limits, however far out.
_QUANTILES = 1e-3, 1 - 1e-3
# How far inside the box the middle is, at least.
_MARGIN = 0.01


@dataclass(frozen=True)
class JointPrior:
    """The Gaussian at the head of this file; hashed by content, for compiled programs hold it.

    Attributes:
        names: of the parameters, in its own order.
        mean: unit coordinates; may lie outside the box.
        covariance: positive definite.
    """

    names: tuple[str, ...]
    mean: tuple[float, ...]
    covariance: tuple[tuple[float, ...], ...]

    @classmethod
    def of(cls, names: Sequence[str], mean: np.ndarray, covariance: np.ndarray) -> "JointPrior":
        """From arrays (n,) and (n, n)."""
        rows = tuple(tuple(row) for row in np.asarray(covariance, float).tolist())
        return cls(tuple(names), tuple(np.asarray(mean, float).tolist()), rows)

    @classmethod
    def fitted(
        cls, names: Sequence[str], draws: np.ndarray, lower: np.ndarray, upper: np.ndarray
    ) -> "JointPrior":
        """The Gaussian behind draws that limits have cut (``pdsim.numerics.truncated_fit``).

        The inverse of the covariance of few draws is too large; the factor (d − 1)/(d − n − 2)
        makes it right on average, for d independent ones.

        Args:
            draws: unit coordinates (d, n), d > n + 2.
            lower, upper: limits within which they were drawn, (n,).
        """
        count, n = draws.shape
        covariance = np.cov(draws, rowvar=False).reshape(n, n) * (count - 1) / (count - n - 2)
        return cls.of(names, *truncated_fit(draws.mean(axis=0), covariance, lower, upper))

    @cached_property
    def _whitening(self) -> np.ndarray:
        return np.linalg.inv(np.linalg.cholesky(np.array(self.covariance)))

    @property
    def middle(self) -> np.ndarray:
        """The mean, or the point inside the box that is next to it, (n,)."""
        return np.clip(self.mean, _MARGIN, 1 - _MARGIN)

    def log_density(self, u: jax.Array) -> jax.Array:
        """Log density at unit coordinates (..., n), shape (...)."""
        whitening, constant = self._whitening, len(self.names) * np.log(2 * np.pi) / 2
        centred = u - jnp.asarray(self.mean, u.dtype)
        z = jnp.matmul(centred, jnp.asarray(whitening.T, u.dtype), precision="highest")
        return -0.5 * (z * z).sum(axis=-1) + (np.log(np.diag(whitening)).sum() - constant)

    def sample(self, count: int, random: np.random.Generator) -> np.ndarray:
        """Draw (count, n) inside the box."""
        return truncated_gaussian(*self._arrays(), count, random)

    def spread(self, points: np.ndarray) -> np.ndarray:
        """Carry points of the unit box (count, n) evenly to where the prior is, inside the box."""
        return spread_gaussian(*self._arrays(), np.clip(points, *_QUANTILES))

    def _arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        n = len(self.names)
        return np.array(self.mean), np.array(self.covariance), np.zeros(n), np.ones(n)
