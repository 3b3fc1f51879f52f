"""States that satisfy the constraints: the nearest one to a state that does not."""

import jax
import jax.numpy as jnp

from pdsim.variational.mechanics import Mechanics
from pdsim.variational.midpoint import constraint_slopes

_STEPS = 20


def mass_matrix(mechanics: Mechanics, q, rho) -> jax.Array:
    """∂²L/∂v² at rest, (n, n)."""
    return jax.hessian(mechanics.lagrangian, 1)(q, jnp.zeros_like(q), rho)


def project(mechanics: Mechanics, q, p, rho) -> tuple[jax.Array, jax.Array]:
    """Bring a state to h(q) = 0 and Dh M⁻¹ p = 0.

    The configuration takes Gauss–Newton steps of least length, q ← q − Dh⁺ h; the momentum loses
    the part that the constraints take up in an impact, p ← p − Dhᵀ (Dh M⁻¹ Dhᵀ)⁻¹ Dh M⁻¹ p.
    A configuration from which this does not arrive is NaN.
    """

    def once(_, q):
        Dh, h = constraint_slopes(mechanics, q, rho), mechanics.constraint(q, rho)
        return q - Dh.T @ jnp.linalg.solve(Dh @ Dh.T, h)

    q = jax.lax.fori_loop(0, _STEPS, once, q)
    left = jnp.max(jnp.abs(mechanics.constraint(q, rho)), initial=0.0)
    arrived = (left < 1e3 * jnp.finfo(q.dtype).eps) & mechanics.admissible(q, rho)
    q = jnp.where(arrived, q, jnp.nan)
    Dh, M = constraint_slopes(mechanics, q, rho), mass_matrix(mechanics, q, rho)
    lifted = jnp.linalg.solve(M, jnp.concatenate([Dh.T, p[:, None]], axis=1))
    share = jnp.linalg.solve(Dh @ lifted[:, :-1], Dh @ lifted[:, -1])
    return q, p - Dh.T @ share
