"""One step of the constrained midpoint variational integrator, by Newton's method.

With the discrete Lagrangian of the midpoint rule (Eq. 13) and a force that acts on the left end of
a step alone, Fd⁺ = 0,

    Ld(q0, q1, ρ) = dt L(½ (q0 + q1), (q1 − q0)/dt, ρ)
    Fd⁻(q0, q1, u, ρ) = dt f(½ (q0 + q1), (q1 − q0)/dt, u, ρ)

a step from (q0, p0) solves for (q1, λ) (Eq. 5)

    r1 = p0 + D1 Ld(q0, q1) + Fd⁻(q0, q1, u) − Dh(q0)ᵀ λ = 0
    r2 = h(q1) = 0

and ends with the momentum p1 = D2 Ld(q0, q1) (Eq. 4). Constraints push along Dh at the old
configuration and hold at the new one. λ is an impulse: the force of the constraints is λ/dt.

Newton's matrix is

    K = [ D2 D1 Ld + D2 Fd⁻   −Dh(q0)ᵀ ]
        [ Dh(q1)               0       ]

The chord method takes all steps with one inverse of it: that of the step in time before, since K
changes slowly. Where it does not converge fast, Newton's own steps follow, with a matrix each.

The equation numbers are those of "Identification of flexible objects" (docs/flexible_loop.md).
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from pdsim.variational.mechanics import Mechanics

# Steps of the chord method, and of both; what is left of a residual after a step of the chord's.
CHORD_STEPS, ALL_STEPS, CONTRACTION = 8, 20, 0.1
# A residual of this size counts as none; at least so many units of the last digit of one.
TOLERANCE, DIGITS = 1e-11, 100.0


class Guess(NamedTuple):
    """Where Newton's method starts.

    Attributes:
        velocity: (q1 − q0)/dt, (n,).
        multiplier: λ, (c,).
        inverse: of K, (n + c, n + c); NaN where none is at hand.
    """

    velocity: jax.Array
    multiplier: jax.Array
    inverse: jax.Array


class Solution(NamedTuple):
    """Of one step; everything is NaN where it did not converge.

    Attributes:
        q: q1, (n,).
        multiplier: λ, (c,).
        inverse: of K, the last that was used, (n + c, n + c).
        iterations: steps of Newton's method.
        residual: the largest before the last step, |r|.
        converged: whether a solution was found.
    """

    q: jax.Array
    multiplier: jax.Array
    inverse: jax.Array
    iterations: jax.Array
    residual: jax.Array
    converged: jax.Array


def slopes(mechanics: Mechanics, q0, q1, rho, dt: float) -> tuple[jax.Array, jax.Array]:
    """D1 Ld and D2 Ld, (n,) each [kg m²/s for an angle]."""
    middle, velocity = 0.5 * (q0 + q1), (q1 - q0) / dt
    by_q, by_v = jax.grad(mechanics.lagrangian, (0, 1))(middle, velocity, rho)
    half = 0.5 * dt * by_q
    return half - by_v, half + by_v


def left_force(mechanics: Mechanics, q0, q1, u, rho, dt: float) -> jax.Array:
    """Fd⁻, (n,)."""
    return dt * mechanics.force(0.5 * (q0 + q1), (q1 - q0) / dt, u, rho)


def constraint_slopes(mechanics: Mechanics, q, rho) -> jax.Array:
    """Dh, (c, n)."""
    return jax.jacfwd(mechanics.constraint)(q, rho)


def residual(mechanics: Mechanics, q0, p0, u, rho, q1, multiplier, dt: float) -> jax.Array:
    """r1 and r2 together, (n + c,)."""
    _, transposed = jax.vjp(lambda q: mechanics.constraint(q, rho), q0)
    balance = p0 + slopes(mechanics, q0, q1, rho, dt)[0]
    balance += left_force(mechanics, q0, q1, u, rho, dt) - transposed(multiplier)[0]
    return jnp.concatenate([balance, mechanics.constraint(q1, rho)])


def newton_matrix(mechanics: Mechanics, q0, u, rho, q1, dt: float) -> jax.Array:
    """K, (n + c, n + c)."""

    def balance(q1):
        left = slopes(mechanics, q0, q1, rho, dt)[0]
        return left + left_force(mechanics, q0, q1, u, rho, dt)

    before, after = (constraint_slopes(mechanics, q, rho) for q in (q0, q1))
    corner = jnp.zeros((len(after), len(after)), q0.dtype)
    return jnp.block([[jax.jacfwd(balance)(q1), -before.T], [after, corner]])


def solve(mechanics: Mechanics, q0, p0, u, rho, guess: Guess, dt: float) -> Solution:
    """Find q1 and λ of a step from (q0, p0).

    The step after the residual was small enough is taken too: what is left is of its square.
    """
    size = len(q0)
    before = constraint_slopes(mechanics, q0, rho)
    tolerance = max(TOLERANCE, DIGITS * float(jnp.finfo(q0.dtype).eps))

    def misfit(y):
        q1, multiplier = y[:size], y[size:]
        balance = p0 + slopes(mechanics, q0, q1, rho, dt)[0]
        balance += left_force(mechanics, q0, q1, u, rho, dt) - before.T @ multiplier
        r = jnp.concatenate([balance, mechanics.constraint(q1, rho)])
        return r, jnp.max(jnp.abs(r))

    def chord(carry):
        y, r, largest, _, count = carry
        y = y - guess.inverse @ r
        return y, *misfit(y), largest, count + 1

    def newton(carry):
        y, r, _, _, count = carry
        inverse = jnp.linalg.inv(newton_matrix(mechanics, q0, u, rho, y[:size], dt))
        y = y - inverse @ r
        return y, *misfit(y), inverse, count + 1

    def fast(carry):
        _, _, largest, before, count = carry
        return (largest > tolerance) & (largest < CONTRACTION * before) & (count < CHORD_STEPS)

    start = jnp.concatenate([q0 + dt * guess.velocity, guess.multiplier])
    first = (start, *misfit(start))
    nothing = jnp.zeros((), q0.dtype)
    y, r, largest, _, count = jax.lax.while_loop(fast, chord, (*first, nothing + jnp.inf, nothing))
    # Not "larger": what is no number is no better than the guess.
    better = largest <= first[2]
    y, r, largest = (jnp.where(better, a, b) for a, b in zip((y, r, largest), first, strict=True))
    y, r, largest, inverse, count = jax.lax.while_loop(
        lambda carry: (carry[2] > tolerance) & (carry[4] < ALL_STEPS),
        newton,
        (y, r, largest, guess.inverse, count),
    )
    # Without an inverse nothing had to be done.
    y = y - jnp.where(count > 0, inverse @ r, 0.0)
    converged = (largest <= tolerance) & mechanics.admissible(y[:size], rho)
    y = jnp.where(converged, y, jnp.nan)
    return Solution(y[:size], y[size:], inverse, count, largest, converged)


def at_rest(mechanics: Mechanics, q, rho) -> Guess:
    """The guess that nothing moves and no constraint pushes."""
    (count,) = jax.eval_shape(mechanics.constraint, q, rho).shape
    size = len(q) + count
    return Guess(
        jnp.zeros_like(q), jnp.zeros((count,), q.dtype), jnp.full((size, size), jnp.nan, q.dtype)
    )


def momentum(mechanics: Mechanics, q, v, rho: Any) -> jax.Array:
    """∂L/∂v, (n,): what p is of a continuous motion."""
    return jax.grad(mechanics.lagrangian, 1)(q, v, rho)
