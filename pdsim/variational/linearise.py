"""A step to first order, as the solution of a saddle-point (KKT) system.

With r and K of ``midpoint``, x = (q, p) and ρ flattened to a vector,

    d(q1, λ) = −K⁻¹ (R_q0 dq0 + R_p0 dp0 + R_ρ dρ)
    R_q0 = D1 D1 Ld + D1 Fd⁻ − D(Dhᵀ λ)(q0)      R_p0 = (I, 0)      R_ρ = D3 D1 Ld + D3 Fd⁻ − …
    dp1 = D2 D2 Ld dq1 + D1 D2 Ld dq0 + D3 D2 Ld dρ

    A = ∂x1/∂x0 (Eq. 7)        B = ∂x1/∂ρ at fixed x0 (Eq. 8)

Two of the paper's formulas differ from this. Eq. 7b lacks the term D(Dhᵀ λ) of the multiplier, and
is right without constraints only. Eq. 8a and 8b hold the derivatives of q_k and p_k in ρ, so they
are the total sensitivity z' = A z + B; put into the gradient of Eq. 9 in place of B, those
derivatives are counted twice. ``tests/variational/test_gradients.py`` shows both against finite
differences.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree

from pdsim.variational.implicit import Given
from pdsim.variational.mechanics import Mechanics
from pdsim.variational.midpoint import newton_matrix, residual, slopes


class Linear(NamedTuple):
    """A step to first order.

    Attributes:
        A: (2n, 2n).
        B: (2n, m), m numbers in ρ.
        K: Newton's matrix at the solution, (n + c, n + c).
    """

    A: jax.Array
    B: jax.Array
    K: jax.Array


def linearise(mechanics: Mechanics, given: Given, q1, multiplier, dt: float) -> Linear:
    """Linearise a step about its solution (q1, λ)."""
    size = len(q1)
    flat, restore = ravel_pytree(given.rho)

    def misfit(q0, flat):
        return residual(mechanics, q0, given.p, given.u, restore(flat), q1, multiplier, dt)

    def end_momentum(q0, q1, flat):
        return slopes(mechanics, q0, q1, restore(flat), dt)[1]

    K = newton_matrix(mechanics, given.q, given.u, given.rho, q1, dt)
    by_q, by_rho = jax.jacfwd(misfit, (0, 1))(given.q, flat)
    by_p = jnp.eye(len(K), size, dtype=q1.dtype)
    # Every column at once: those of q0, p0 and ρ.
    dq = -jnp.linalg.solve(K, jnp.concatenate([by_q, by_p, by_rho], axis=1))[:size]
    before, after, own = jax.jacfwd(end_momentum, (0, 1, 2))(given.q, q1, flat)
    dp = after @ dq + jnp.concatenate([before, jnp.zeros_like(before), own], axis=1)
    both = jnp.concatenate([dq, dp])
    return Linear(both[:, : 2 * size], both[:, 2 * size :], K)
