"""Levenberg and Marquardt's damped steps inside the unit box, those of all particles side by side.

The damping grows where a step was refused, until the step is short enough for its linear model, and
shrinks where one was taken. It multiplies the diagonal of the information, so that a parameter that
the recordings determine well is held back as much as one that they do not.
"""

import jax
import jax.numpy as jnp

from pdsim.xla.cores import one_by_one, over_cores

# Damping at the start, its factors after a step that was taken and one that was not, its range.
_DAMPING = 0.1
_TAKEN, _REFUSED = 0.2, 4.0
_RANGE = (1e-9, 1e7)
# How often a step is solved for with more parameters held at their bounds.
_PASSES = 4


def start_damping(count: int, dtype) -> jax.Array:
    """Damping of the first step, (particle,)."""
    return jnp.full(count, _DAMPING, dtype)


def next_damping(damping: jax.Array, taken: jax.Array) -> jax.Array:
    """Damping after a step that was taken or refused, (particle,)."""
    return jnp.clip(jnp.where(taken, _TAKEN, _REFUSED) * damping, *_RANGE)


def is_stuck(damping: jax.Array) -> jax.Array:
    """Whether steps have become as short as they may, (particle,)."""
    return damping >= _RANGE[1]


def prior_slope(space, x: jax.Array) -> jax.Array:
    """Slope of the log prior at unit coordinates, (particle, M)."""
    return jax.grad(lambda x: space.log_prior(x).sum())(x)


def prior_precision(space, x: jax.Array, least: float = 0.0) -> jax.Array:
    """Curvature of the log prior at unit coordinates, sign changed, (particle, M, M).

    Args:
        least: along every direction; a density that is no Gaussian may have less.
    """
    curvature = jax.vmap(jax.hessian(space.log_prior))(x)
    values, axes = one_by_one(jnp.linalg.eigh)(-curvature)
    return (axes * jnp.maximum(values, least)[..., None, :]) @ jnp.swapaxes(axes, -1, -2)


def room_ahead(x: jax.Array, phi: jax.Array) -> jax.Array:
    """Distance to the limit that the slope φ points to, (particle, M)."""
    return jnp.where(phi < 0, x, 1 - x)


@over_cores
def _solved(rows: tuple[jax.Array, jax.Array]) -> jax.Array:
    """A⁻¹ b of each particle, of A (particle, M, M) and b (particle, M)."""
    matrices, right = rows
    return one_by_one(jnp.linalg.solve)(matrices, right[..., None])[..., 0]


def damped_step(phi, information, damping, *, held, lowest, highest) -> jax.Array:
    """Newton's step up φ within bounds, (particle, M).

    Those parameters whose step would end beyond a bound go to it, and the others take the step that
    is best with them there (an active set).

    Args:
        phi: slope, (particle, M).
        information: second derivative, sign changed, (particle, M, M).
        damping: relative to the diagonal of the information, (particle,).
        held: parameters that stay, (particle, M).
        lowest, highest: bounds of the step, (particle, M).
    """
    identity = jnp.eye(phi.shape[1], dtype=phi.dtype)
    diagonal = jnp.diagonal(information, axis1=1, axis2=2)
    damped = information + (damping[:, None] * diagonal)[..., None] * identity
    step = jnp.zeros_like(phi)
    for _ in range(_PASSES):
        free = jnp.where(held[:, :, None] | held[:, None, :], 0.0, damped)
        free = free + held[..., None] * identity
        target = phi - jnp.einsum("pij,pj->pi", damped, jnp.where(held, step, 0.0))
        solved = _solved((free, jnp.where(held, 0.0, target)))
        step = jnp.where(held, step, solved)
        held |= (step < lowest) | (step > highest)
        step = jnp.clip(step, lowest, highest)
    return step
