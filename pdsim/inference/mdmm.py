"""Equality constraints by the modified differential method of multipliers (Platt and Barr, 1987).

What should vanish, v(θ̄), is counted in units of a scale σ: the constraint is g = v/σ = 0. With a
multiplier λ for each component and damping c > 0, the Lagrangian of one particle is (Eq. 8)

    L(θ̄, λ) = −log p(recordings | θ̄) + λ·g(θ̄) + c/2 ‖g(θ̄)‖²

which parameters and shooting variables descend and the multipliers ascend, λ̇ = g. Where it settles
g = 0, and λ is the force that keeps it so.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from pdsim.inference.divergence import keep_rows
from pdsim.inference.particles import decayed


class Constraint(NamedTuple):
    """Constraints of one kind, those of each particle with multipliers of its own.

    Attributes:
        violation: v, (particle, …).
        scale: σ, in units of v.
        multiplier: λ, shaped as v.
    """

    violation: jax.Array
    scale: jax.Array | float
    multiplier: jax.Array

    @property
    def value(self) -> jax.Array:
        """g, shaped as v."""
        return self.violation / self.scale

    def force(self, damping: float) -> jax.Array:
        """Slope of λ·g + c/2 ‖g‖² in v, which is (λ + c g)/σ; shaped as v."""
        return (self.multiplier + damping * self.value) / self.scale

    def ascended(self, step: float, finite: jax.Array) -> jax.Array:
        """λ after a step of λ̇ = g, (particle, …); unchanged where not ``finite`` (particle,)."""
        return keep_rows(finite, self.multiplier + step * self.value, self.multiplier)


def limit_violation(x: jax.Array) -> jax.Array:
    """clamp(θ, 0, 1) − θ of unit coordinates, g_lim of Sec. IV-D before scaling."""
    return jnp.clip(x, 0.0, 1.0) - x


def tightened(scale: tuple[float, float], tightening: float, progress: jax.Array) -> jax.Array:
    """σ on the way: from loose to tight, geometrically, then constant.

    Args:
        scale: σ at the start and at the end.
        tightening: share of the run over which it goes to its end.
        progress: share of the run that is done.
    """
    loose, tight = scale
    return decayed(loose, tight / loose, jnp.minimum(progress / tightening, 1.0))
