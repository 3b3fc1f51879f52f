"""Rates of positions, and positions after a step, where some are quaternions."""

import jax.numpy as jnp

from pdsim.rigid_body.model import JOINT_SIZES, Model


def all_scalar(model: Model) -> bool:
    """Whether positions are hinges' and slides' alone, whose rates are the velocities."""
    return all(joint.scalar for joint in model.joints)


def _product(a, b):
    """Product of quaternions (4,)."""
    w, x = a[0], a[1:]
    u, y = b[0], b[1:]
    return jnp.concatenate([(w * u - x @ y)[None], w * y + u * x + jnp.cross(x, y)])


def _pieces(model: Model, q, v, quaternion):
    """Of each joint: places, their rates, and ``quaternion`` (of it, of its rates) or nothing."""
    found = []
    for joint in model.joints:
        positions, velocities = JOINT_SIZES[joint.kind]
        at = q[joint.first_position : joint.first_position + positions]
        rate = v[joint.first_velocity : joint.first_velocity + velocities]
        found.append((at, rate, joint.kind))
    return [
        (at[:-4], rate[:-3], quaternion(at[-4:], rate[-3:]))
        if kind in ("ball", "free")
        else (at, rate, at[:0])
        for at, rate, kind in found
    ]


def normalised(model: Model, q):
    """Positions (Q,) with quaternions of length 1."""
    if all_scalar(model):
        return q
    pieces = _pieces(model, q, jnp.zeros(model.velocity_count, q.dtype), lambda at, _: at)
    return jnp.concatenate(
        [part for at, _, turn in pieces for part in (at, turn / jnp.sqrt((turn**2).sum()))]
    )


def rates(model: Model, q, v):
    """Rates of positions (Q,); those of a quaternion are ½ q ⊗ (0, ω), ω about its body's axes."""
    if all_scalar(model):
        return v

    def turning(at, rate):
        return 0.5 * _product(at, jnp.concatenate([jnp.zeros(1, at.dtype), rate]))

    pieces = _pieces(model, q, v, turning)
    return jnp.concatenate([part for _, rate, turn in pieces for part in (rate, turn)])


def advanced(model: Model, q, v, dt: float):
    """Positions (Q,) after moving at v for dt [s]; rotations by their exponential."""
    if all_scalar(model):
        return q + dt * v

    def turned(at, rate):
        half = 0.5 * dt * rate
        square = half @ half
        small = square < 1e-12
        angle = jnp.sqrt(jnp.where(small, 1.0, square))
        share = jnp.where(small, 1.0 - square / 6.0, jnp.sin(angle) / angle)
        cosine = jnp.where(small, 1.0 - square / 2.0, jnp.cos(angle))
        return _product(at, jnp.concatenate([cosine[None], share * half]))

    return jnp.concatenate(
        [p for at, rate, turn in _pieces(model, q, v, turned) for p in (at + dt * rate, turn)]
    )
