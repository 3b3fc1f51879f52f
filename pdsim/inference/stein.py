"""The Stein direction φ (Liu and Wang, 2016; Eq. 1), for kernels of features of the particles."""

import jax
import jax.numpy as jnp

from pdsim.xla.blocks import in_blocks
from pdsim.xla.cores import over_cores

# Particles whose slopes are multiplied at a time: a product of all would first turn all slopes, in
# one loop with what made them, which takes longer than the product.
_TOGETHER = 20


def kernel(
    features: jax.Array, active: jax.Array, widest: float = jnp.inf
) -> tuple[jax.Array, jax.Array]:
    """The RBF kernel with the median heuristic.

        k(x, y) = exp(−‖f(x) − f(y)‖² / h),   h = median ‖f(x) − f(y)‖² / log(N + 1)

    Args:
        features: f, (particle, F).
        active: (particle,) whose distances count for h; the others have no weight, k(x_i, x_j) = 0
            for j not active.
        widest: largest median allowed in h.

    Returns:
        k(x_i, x_j) (particle, particle), and h.
    """
    count = jnp.maximum(active.sum(), 2)
    squares = (features * features).sum(axis=1)
    distance = squares[:, None] + squares[None, :] - 2 * features @ features.T
    distance = jnp.maximum(distance, 0.0)
    pairs = active[:, None] & active[None, :] & ~jnp.eye(len(features), dtype=bool)
    median = jnp.nanmedian(jnp.where(pairs, distance, jnp.nan))
    median = jnp.minimum(jnp.where(jnp.isfinite(median), median, 1.0), widest)
    h = jnp.maximum(median / jnp.log(count + 1.0), jnp.finfo(features.dtype).tiny)
    return jnp.exp(-distance / h) * active[None, :], h


def stein_direction(
    x: jax.Array, score: jax.Array, active: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """The direction φ of Eq. 1 with a kernel of the positions.

        φ(x_i) = 1/N Σ_j [ k(x_j, x_i) ∇ log p(x_j) + ∇_{x_j} k(x_j, x_i) ]

    Args:
        x: (particle, M) positions.
        score: (particle, M) gradients of the log posterior.
        active: (particle,) whose score counts; the others neither push, attract nor enter h.

    Returns:
        φ at every particle (particle, M), and the bandwidth h.
    """
    k, h = kernel(x, active)
    drive = k @ jnp.where(active[:, None], score, 0.0)
    repulsion = (2 / h) * (x * k.sum(axis=1, keepdims=True) - k @ x)
    return (drive + repulsion) / jnp.maximum(active.sum(), 2), h


def stein_direction_of_features(
    features: jax.Array,
    slopes: jax.Array,
    score: jax.Array,
    active: jax.Array,
    widest: float,
) -> tuple[jax.Array, jax.Array]:
    """φ with a kernel of features, over the kernel's mass instead of N.

        φ(x_i) = Σ_j [ k_ij ∇ log p(x_j) + 2/h k_ij J_jᵀ (f_i − f_j) ] / Σ_j k_ij

    The divisor is a positive number for each particle: φ vanishes where that of Eq. 1 does, and
    a particle far from all others follows its own score at full length.

    Args:
        features: f, (particle, F).
        slopes: J = ∂f/∂x, (particle, F, M).
        score: (particle, M) gradients of the log posterior.
        active: (particle,) whose score counts; features of the others must be finite.
        widest: largest median of the squared distances allowed in the bandwidth.

    Returns:
        φ at every particle (particle, M), and the bandwidth h.
    """
    k, h = kernel(features, active, widest)
    pulled = _pulled(features, slopes)
    own = jnp.einsum("jmj->jm", pulled)
    repulsion = (2 / h) * (jnp.einsum("ij,jmi->im", k, pulled) - k @ own)
    drive = k @ jnp.where(active[:, None], score, 0.0)
    mass = jnp.maximum(k.sum(axis=1, keepdims=True), jnp.finfo(k.dtype).tiny)
    return (drive + repulsion) / mass, h


@over_cores
@in_blocks(lambda features: _TOGETHER, vectors=False)
def _pulled(features: jax.Array, slopes: jax.Array) -> jax.Array:
    """J_jᵀ f_i, (j, M, i)."""
    return jnp.einsum("jfm,if->jmi", slopes, features)
