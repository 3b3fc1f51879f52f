"""Whether steps are short enough for the forces of the constraints.

The integrator treats springs implicitly, but takes the direction of the constraints' forces from
the old configuration: their geometric stiffness acts explicitly. A mode of inertia M with a
spring k_s, geometric stiffness k_g and damping c follows

    (M/dt² + k_s/4)(z − 2 + 1/z) + (c/dt)(z − 1) + k_s + k_g = 0

and is stable if k_g < 4 M/dt² + 2 c/dt. Without damping, the stability number

    S = dt²/4 · largest eigenvalue of (Zᵀ Kg Z, Zᵀ M Z)        Kg = Σ λ_i/dt D²h_i

with Z a basis of the null space of Dh, is above 1 where steps are too long.
"""

import jax
import jax.numpy as jnp

from pdsim.variational.constraint import mass_matrix
from pdsim.variational.mechanics import Mechanics
from pdsim.variational.midpoint import constraint_slopes


def stability_number(mechanics: Mechanics, q, multiplier, rho, dt: float) -> jax.Array:
    """S at a configuration q (n,) with impulse λ (c,)."""
    geometric = jax.hessian(lambda q: mechanics.constraint(q, rho) @ multiplier)(q) / dt
    Dh = constraint_slopes(mechanics, q, rho)
    Z = jnp.linalg.svd(Dh, full_matrices=True)[2][len(Dh) :].T
    L = jnp.linalg.cholesky(Z.T @ mass_matrix(mechanics, q, rho) @ Z)
    inner = jax.scipy.linalg.solve_triangular(L, Z.T @ geometric @ Z, lower=True)
    scaled = jax.scipy.linalg.solve_triangular(L, inner.T, lower=True)
    return dt**2 / 4 * jnp.linalg.eigvalsh(0.5 * (scaled + scaled.T))[-1]
