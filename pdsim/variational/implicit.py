"""A step and its derivatives, by the implicit function theorem, in reverse and in forward mode.

At a solution (q0, p0, u, ρ) → (q1, λ) of r = 0, with K = ∂r/∂(q1, λ),

    d(q1, λ) = −K⁻¹ ∂r/∂(q0, p0, u, ρ) d(q0, p0, u, ρ)
    dp1 = d(D2 Ld(q0, q1, ρ))

and, for the cotangent (q̄, p̄, λ̄) of a step's end,

    Kᵀ w = (q̄ + (D2 D2 Ld)ᵀ p̄, λ̄)
    cotangent of (q0, p0, u, ρ) = (∂ D2 Ld/∂(q0, ρ))ᵀ p̄ − (∂r/∂(q0, p0, u, ρ))ᵀ w

Newton's iterations are not differentiated.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from pdsim.variational.mechanics import Mechanics
from pdsim.variational.midpoint import Guess, newton_matrix, residual, slopes, solve


class Given(NamedTuple):
    """What a step starts from: configuration, momentum, inputs, parameters."""

    q: jax.Array
    p: jax.Array
    u: Any
    rho: Any


class End(NamedTuple):
    """Where a step ends: configuration (n,), momentum (n,), impulse of the constraints (c,)."""

    q: jax.Array
    p: jax.Array
    multiplier: jax.Array


class Report(NamedTuple):
    """How a step was solved, see ``pdsim.variational.midpoint.Solution``."""

    iterations: jax.Array
    residual: jax.Array
    converged: jax.Array


def step(
    mechanics: Mechanics, given: Given, guess: Guess, dt: float, *, forward: bool = False
) -> tuple[End, Guess, Report]:
    """Take a step of ``dt`` seconds; the second of what it returns is the next step's guess.

    Args:
        guess: has no derivative.
        forward: whether to be differentiable in forward mode, instead of reverse mode.
    """
    still, start = jax.lax.stop_gradient((given, guess))
    found = solve(mechanics, still.q, still.p, still.u, still.rho, start, dt)
    attached = attached_forward if forward else attached_reverse
    end = attached(mechanics, dt, given, found.q, found.multiplier)
    following = Guess((end.q - given.q) / dt, end.multiplier, found.inverse)
    following = jax.lax.stop_gradient(following)
    return end, following, Report(found.iterations, found.residual, found.converged)


def end_of(mechanics: Mechanics, dt: float, given: Given, q1, multiplier) -> End:
    """The end of a step whose solution is known."""
    return End(q1, slopes(mechanics, given.q, q1, given.rho, dt)[1], multiplier)


def _residual(mechanics, dt, given: Given, q1, multiplier):
    return residual(mechanics, *given, q1, multiplier, dt)


@partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def attached_reverse(mechanics: Mechanics, dt: float, given: Given, q1, multiplier) -> End:
    """``end_of``, depending on what is given as the step does."""
    return end_of(mechanics, dt, given, q1, multiplier)


def _attached(mechanics, dt, given, q1, multiplier):
    return end_of(mechanics, dt, given, q1, multiplier), (given, q1, multiplier)


def _detached(mechanics, dt, kept, cotangent: End):
    given, q1, multiplier = kept
    K = newton_matrix(mechanics, given.q, given.u, given.rho, q1, dt)
    bar = pulled_back(mechanics, dt, given, q1, multiplier, cotangent, partial(solved, K.T))
    return bar, jnp.zeros_like(q1), jnp.zeros_like(multiplier)


attached_reverse.defvjp(_attached, _detached)


def solved(matrix: jax.Array, right: jax.Array) -> jax.Array:
    """Solve one linear system."""
    return jnp.linalg.solve(matrix, right[:, None])[:, 0]


def pulled_back(mechanics, dt, given: Given, q1, multiplier, cotangent: End, solve_transposed):
    """Cotangent of what is given from that of a step's end; the formula at the head.

    Args:
        solve_transposed: right-hand side (n + c,) → w.
    """

    def end_momentum(q, rho, q1):
        return slopes(mechanics, q, q1, rho, dt)[1]

    _, back = jax.vjp(end_momentum, given.q, given.rho, q1)
    bar_q, bar_rho, more = back(cotangent.p)
    w = solve_transposed(jnp.concatenate([cotangent.q + more, cotangent.multiplier]))
    _, back = jax.vjp(lambda given: _residual(mechanics, dt, given, q1, multiplier), given)
    (bar,) = back(-w)
    return bar._replace(q=bar.q + bar_q, rho=jax.tree.map(jnp.add, bar.rho, bar_rho))


@partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def attached_forward(mechanics: Mechanics, dt: float, given: Given, q1, multiplier) -> End:
    """``attached_reverse`` for forward mode."""
    return end_of(mechanics, dt, given, q1, multiplier)


@attached_forward.defjvp
def _pushed_forward(mechanics, dt, primals, tangents):
    given, q1, multiplier = primals
    rates = tangents[0]
    K = newton_matrix(mechanics, given.q, given.u, given.rho, q1, dt)
    _, change = jax.jvp(
        lambda given: _residual(mechanics, dt, given, q1, multiplier), (given,), (rates,)
    )
    moved = -solved(K, change)
    rate_q, rate_multiplier = moved[: len(q1)], moved[len(q1) :]
    p1, rate_p = jax.jvp(
        lambda q, rho, q1: slopes(mechanics, q, q1, rho, dt)[1],
        (given.q, given.rho, q1),
        (rates.q, rates.rho, rate_q),
    )
    return End(q1, p1, multiplier), End(rate_q, rate_p, rate_multiplier)
