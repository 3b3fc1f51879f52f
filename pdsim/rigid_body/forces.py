"""Forces in joints: viscous and dry friction, springs, limits, motors.

    τ = − d v − f tanh(v / s) − k (q − r) − K [max(q − upper, 0) − max(lower − q, 0)] + motors

with d ``damping``, f ``friction`` (dry) and its velocity s, k ``stiffness`` and r ``rest``, K the
stiffness of limits, soft so that there is a derivative.
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


def passive(model: Model, links: Links, q, v, *, viscous: bool = True):
    """Friction, springs and limits, (V,) [N m or N].

    Args:
        links: ``cast`` to the type of q.
        viscous: False leaves out − d v, which an implicit step takes on its left side.
    """
    at = scalar_positions(model, q)
    force = jnp.zeros_like(v)
    if viscous:
        force = force - links["velocity/damping"] * v
    dry = links["velocity/friction"]
    if not is_zero(dry):
        force = force - dry * jnp.tanh(v / links["option/friction_velocity"])
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


def resistance(links: Links, v):
    """What friction opposes to a velocity, (V,) [N m s or N s/m]: d + f tanh(v / s) / v.

    Friction is this times v, whatever v is, which lets an implicit step take the dry part too.

    Args:
        links: ``cast`` to the type of v.
    """
    viscous = jnp.broadcast_to(links["velocity/damping"], v.shape).astype(v.dtype)
    dry, scale = links["velocity/friction"], links["option/friction_velocity"]
    if is_zero(dry):
        return viscous
    x = v / scale
    # Near 0 by its series: 0/0 has no derivative.
    small = jnp.abs(x) < 1e-3
    away = jnp.where(small, 1.0, x)
    ratio = jnp.where(small, 1 - x * x / 3, jnp.tanh(away) / away)
    return viscous + dry / scale * ratio


def _limited(model: Model) -> np.ndarray:
    found = np.zeros(model.velocity_count, bool)
    for joint in model.joints:
        found[joint.first_velocity] = joint.limited
    return found
