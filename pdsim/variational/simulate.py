"""A whole motion: steps one after another, each guessed from the one before."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from pdsim.variational.implicit import Given, Report, step
from pdsim.variational.mechanics import Mechanics
from pdsim.variational.midpoint import at_rest


class Motion(NamedTuple):
    """The ends of all steps; NaN from the first on that did not converge.

    Attributes:
        q: (step, n).
        p: (step, n).
        multiplier: (step, c).
    """

    q: jax.Array
    p: jax.Array
    multiplier: jax.Array


def simulate(
    mechanics: Mechanics,
    q,
    p,
    inputs: Any,
    rho: Any,
    dt: float,
    *,
    steps: int,
    forward: bool = False,
) -> tuple[Motion, Report]:
    """Simulate ``steps`` steps of ``dt`` seconds from (q, p).

    Args:
        inputs: u of each step, a pytree of arrays with the step in front.
        forward: whether to be differentiable in forward mode, instead of reverse mode.
    """

    def once(carry, u):
        q, p, guess = carry
        end, guess, report = step(mechanics, Given(q, p, u, rho), guess, dt, forward=forward)
        return (end.q, end.p, guess), (Motion(*end), report)

    start = (q, p, at_rest(mechanics, q, rho))
    _, found = jax.lax.scan(once, start, inputs, length=steps)
    return found


class Failure(NamedTuple):
    """Why a simulation has no end.

    Attributes:
        step: the first that did not converge.
        time: at which it began [s].
        reason: in words.
    """

    step: int
    time: float
    reason: str


def failure(report: Report, dt: float) -> Failure | None:
    """What went wrong in a simulation, if anything did."""
    lost = ~report.converged
    if not bool(jnp.any(lost)):
        return None
    first = int(jnp.argmax(lost))
    size, count = float(report.residual[first]), int(report.iterations[first])
    return Failure(
        first,
        first * dt,
        f"step {first} (t = {first * dt:g} s) did not converge: after {count} iterations the "
        f"largest residual is {size:.3g}; choose smaller steps, or more damping",
    )
