"""The gradient of a whole simulation: all steps linearised at once, and one sweep back (Eq. 9, 10).

For a cost of the states x_1 … x_N, with g_k its slope in x_k,

    l_N = g_N        l_k = l_{k+1} A_k + g_k
    dJ/dρ = Σ l_{k+1} B_k        dJ/dx_0 = l_1 A_0

where A_k and B_k are those of the step from x_k to x_{k+1}. Linearising is most of the work, and
knows no order: only the sweep, one product of a vector and a matrix in each step, goes step by
step. A simulation keeps its states and impulses for it, and nothing else.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from pdsim.variational.implicit import End, Given, Report, pulled_back, solved
from pdsim.variational.linearise import Linear, linearise
from pdsim.variational.mechanics import Mechanics
from pdsim.variational.simulate import Motion, simulate

# Axes over which steps are batched: each has its own state and inputs, and all the same ρ.
_EACH: Any = Given(0, 0, 0, None)  # type: ignore[arg-type]


def sweep(A: jax.Array, slopes: jax.Array) -> jax.Array:
    """The adjoints l (step, 2n) of the ends of all steps.

    Args:
        A: (step, 2n, 2n).
        slopes: g, of the cost in the end of each step, (step, 2n).
    """

    def back(following, one):
        A, slope = one
        here = following + slope
        return here @ A, here

    _, adjoints = jax.lax.scan(back, jnp.zeros_like(slopes[0]), (A, slopes), reverse=True)
    return adjoints


def linearised(mechanics: Mechanics, q, p, inputs, rho, motion: Motion, dt: float) -> Linear:
    """Every step of a simulation to first order, with the step in front."""
    given = _given(q, p, inputs, rho, motion)

    def one(given, q1, multiplier):
        return linearise(mechanics, given, q1, multiplier, dt)

    return jax.vmap(one, in_axes=(_EACH, 0, 0))(given, motion.q, motion.multiplier)


def _given(q, p, inputs, rho, motion: Motion) -> Given:
    """What each step starts from."""
    before_q = jnp.concatenate([q[None], motion.q[:-1]])
    before_p = jnp.concatenate([p[None], motion.p[:-1]])
    return Given(before_q, before_p, inputs, rho)


@partial(jax.custom_vjp, nondiff_argnums=(0, 5, 6))
def simulate_by_adjoint(
    mechanics: Mechanics, q, p, inputs: Any, rho: Any, dt: float, steps: int
) -> tuple[Motion, Report]:
    """``simulate``, with its gradient by the adjoint sweep; impulses have no derivative here."""
    return simulate(mechanics, q, p, inputs, rho, dt, steps=steps)


def _forward(mechanics, q, p, inputs, rho, dt, steps):
    motion, report = simulate(mechanics, q, p, inputs, rho, dt, steps=steps)
    return (motion, report), (q, p, inputs, rho, motion)


def _backward(mechanics, dt, steps, kept, cotangent):
    q, p, inputs, rho, motion = kept
    slopes = jnp.concatenate([cotangent[0].q, cotangent[0].p], axis=1)
    linear = linearised(mechanics, q, p, inputs, rho, motion, dt)
    adjoints = sweep(linear.A, slopes)
    size = len(q)

    def one(given, q1, multiplier, K, adjoint):
        end = End(adjoint[:size], adjoint[size:], jnp.zeros_like(multiplier))
        return pulled_back(mechanics, dt, given, q1, multiplier, end, partial(solved, K.T))

    bars = jax.vmap(one, in_axes=(_EACH, 0, 0, 0, 0))(
        _given(q, p, inputs, rho, motion), motion.q, motion.multiplier, linear.K, adjoints
    )
    return bars.q[0], bars.p[0], bars.u, jax.tree.map(lambda x: x.sum(axis=0), bars.rho)


simulate_by_adjoint.defvjp(_forward, _backward)
