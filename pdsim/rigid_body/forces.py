"""Forces in joints: viscous and dry friction, springs, limits, motors.

    τ = − d v − f tanh(v / s) − k (q − r) − K [max(q − upper, 0) − max(lower − q, 0)] + motors

with d ``damping``, f ``friction`` (dry) and s ``friction_velocity``, k ``stiffness`` and r
``rest``, K the stiffness of limits, soft so that there is a derivative.
"""

import jax.numpy as jnp
import numpy as np

from pdsim.rigid_body.links import Links
from pdsim.rigid_body.model import Model
from pdsim.rigid_body.vectors import is_zero


def scalar_positions(model: Model, q):
    """Positions of hinges and slides at their degree of freedom, (V,); 0 of all others."""
    if all(joint.scalar for joint in model.joints):
        return q
    place = np.zeros((model.velocity_count, model.position_count))
    for joint in model.joints:
        if joint.scalar:
            place[joint.first_velocity, joint.first_position] = 1.0
    return place.astype(q.dtype) @ q


def springs(model: Model, links: Links, q):
    """Springs and limits, (V,) [N m or N].

    Args:
        links: ``cast`` to the type of q.
    """
    at = scalar_positions(model, q)
    force = jnp.zeros(model.velocity_count, q.dtype)
    stiffness = links["velocity/stiffness"]
    if not is_zero(stiffness):
        force = force - stiffness * (at - links["velocity/rest"])
    limited = _limited(model)
    if limited.any():
        beyond = jnp.maximum(at - links["velocity/upper"], 0.0) - jnp.maximum(
            links["velocity/lower"] - at, 0.0
        )
        force = force - links["option/limit_stiffness"] * jnp.where(limited, beyond, 0.0)
    return force


def friction(links: Links, v):
    """What friction opposes to a velocity, φ(v) = d v + f tanh(v / s), (V,) [N m or N].

    Args:
        links: ``cast`` to the type of v.
    """
    force = links["velocity/damping"] * v
    dry = links["velocity/friction"]
    if is_zero(dry):
        return force
    return force + dry * jnp.tanh(v / links["velocity/friction_velocity"])


def friction_slope(links: Links, v):
    """φ'(v) = d + f / s (1 − tanh²(v / s)), never negative, (V,) [N m s or N s/m]."""
    slope = jnp.broadcast_to(links["velocity/damping"], v.shape).astype(v.dtype)
    dry, scale = links["velocity/friction"], links["velocity/friction_velocity"]
    if is_zero(dry):
        return slope
    return slope + dry / scale * (1 - jnp.tanh(v / scale) ** 2)


def passive(model: Model, links: Links, q, v):
    """Springs, limits and friction, (V,) [N m or N]."""
    return springs(model, links, q) - friction(links, v)


def _limited(model: Model) -> np.ndarray:
    found = np.zeros(model.velocity_count, bool)
    for joint in model.joints:
        found[joint.first_velocity] = joint.limited
    return found
