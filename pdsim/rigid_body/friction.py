"""The velocity at which friction ends a step.

    M u + dt φ(u) = p        φ(u) = d u + f tanh(u / s)

with p the momentum that all other forces lead to. It is the minimum of the convex function
½ uᵀM u − pᵀu + dt Σ (½ d u² + f s log cosh(u / s)), so there is one, and u moves by no more than
M⁻¹p does, measured with M: where a joint comes to rest, differences between motions shrink. A step
whose friction is f tanh(v / s) u / v, that of the velocity v before it, has neither property.

Newton's step overshoots where a joint would turn round, for there friction is flat on one side and
steep between. A joint that would is stopped there first: beyond 0 tanh bends one way only, and the
steps of a single joint come to the end from one side. Joints that pull each other to and fro are
rare; after a dozen steps half of one is taken until it is small.
"""

import jax
import jax.numpy as jnp

from pdsim.numerics.small_matrices import inverse_of_positive
from pdsim.rigid_body.forces import friction, friction_slope
from pdsim.rigid_body.links import Links
from pdsim.rigid_body.vectors import is_zero

# Whole steps of Newton, and all; a last step, in widths of the bend, behind which all are whole.
_WHOLE, _MOST, _NEAR = 12, 80, 0.1
# Momenta that are this many roundings of their parts from balance are in balance.
_ROUNDINGS = 10


def slowed(mass, momentum, links: Links, v, dt):
    """Velocity u of M u + dt φ(u) = momentum, (V,); not a number where none is found.

    No derivative goes through it.

    Args:
        mass: M, (V, V).
        momentum: (V,).
        links: ``cast`` to the type of v.
        v: (V,) from which the search begins.
        dt: length of the step [s].
    """

    def missed(u):
        return mass @ u + dt * friction(links, u) - momentum

    def newton(u):
        slope = mass + jnp.diag(dt * friction_slope(links, u))
        return inverse_of_positive(slope) @ missed(u)

    if is_zero(links["velocity/friction"]):
        return v - newton(v)
    scale = links["velocity/friction_velocity"]
    settled = jnp.sqrt(jnp.finfo(v.dtype).eps)

    def going(carry):
        _, moved, count = carry
        return (moved > settled) & (count < _MOST)

    def step(carry):
        u, moved, count = carry
        whole = (count < _WHOLE) | (moved < _NEAR)
        ahead = u - jnp.where(whole, 1.0, 0.5).astype(u.dtype) * newton(u)
        ahead = jnp.where(ahead * u < 0, 0.0, ahead)
        return ahead, (jnp.abs(ahead - u) / (scale + jnp.abs(ahead))).max(), count + 1

    start = v, jnp.array(jnp.inf, v.dtype), 0
    u, moved, _ = jax.lax.while_loop(going, step, start)
    # In single precision rounding may move it still.
    rounding = jnp.finfo(v.dtype).eps * (jnp.abs(mass) @ jnp.abs(u) + jnp.abs(momentum))
    balanced = (jnp.abs(missed(u)) <= _ROUNDINGS * rounding).all()
    return jnp.where((moved <= _NEAR) | balanced, u, jnp.nan)
