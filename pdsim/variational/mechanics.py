"""What a mechanical system is to the variational integrator: a Lagrangian, constraints, forces."""

from typing import Any

import jax
import jax.numpy as jnp


class Mechanics:
    """A system with configuration q (n,), velocity v (n,), parameters ρ and inputs u.

    Subclasses are hashable, by content: they are part of compiled programs. ρ and u are pytrees of
    arrays. Everything is written for one sample.
    """

    def lagrangian(self, q: jax.Array, v: jax.Array, rho: Any) -> jax.Array:
        """L(q, v, ρ) [J]."""
        raise NotImplementedError

    def constraint(self, q: jax.Array, rho: Any) -> jax.Array:
        """h(q, ρ) (c,), which is 0 where q is possible; default: every q is."""
        del rho
        return jnp.zeros((0,), q.dtype)

    def force(self, q: jax.Array, v: jax.Array, u: Any, rho: Any) -> jax.Array:
        """f(q, v, u, ρ) (n,), the generalised forces that no potential holds; default: none."""
        del v, u, rho
        return jnp.zeros_like(q)

    def admissible(self, q: jax.Array, rho: Any) -> jax.Array:
        """Whether q may be a solution of h(q) = 0; refuses roots that mean nothing."""
        del q, rho
        return jnp.array(True)
