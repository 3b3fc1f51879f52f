"""Forces from accelerations and accelerations from forces.

The equation of motion of a tree with positions q, velocities v and accelerations a is

    M(q) a + c(q, v) = τ        M(q) = H(q) + armature

Inverse dynamics is Newton's and Euler's: motions of all links from the axes before them, forces
summed over what is behind. The mass matrix is that of composite bodies (Walker and Orin, 1982).

Accelerations are differentiated by the equation itself: at a solution,

    M da = dτ − ∂(M a + c) at constant a

so a derivative costs one of inverse dynamics and a product with the inverse that is there, in
forward and in reverse mode.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pdsim.rigid_body.kinematics import (
    Motion,
    Placed,
    combine,
    cross_motion,
    place,
    settle,
)
from pdsim.rigid_body.links import Links
from pdsim.rigid_body.model import INERTIA, Model
from pdsim.rigid_body.tree import tree_of
from pdsim.rigid_body.vectors import (
    Vector,
    add,
    apply,
    cross,
    dot,
    minus,
    multiply,
    plus,
    scale,
    subtract,
    times,
    transpose,
)


class Force(NamedTuple):
    """Torque about the world's origin [N m] and force [N]."""

    torque: Vector
    force: Vector


class Inertia(NamedTuple):
    """About the world's origin.

    Attributes:
        mass: m [kg].
        moment: first moment, m c [kg m].
        second: (xx, yy, zz, xy, xz, yz) [kg m²].
    """

    mass: Any
    moment: Vector
    second: tuple[Any, ...]


def _symmetric(entries):
    xx, yy, zz, xy, xz, yz = entries
    return (xx, xy, xz), (xy, yy, yz), (xz, yz, zz)


def _force_of(inertia: Inertia, motion: Motion) -> Force:
    """Inertia times motion: (I ω + h × v, m v − h × ω)."""
    angular, linear = motion
    return Force(
        add(apply(_symmetric(inertia.second), angular), cross(inertia.moment, linear)),
        subtract(scale(inertia.mass, linear), cross(inertia.moment, angular)),
    )


def inertias(links: Links, placed: Placed) -> Inertia:
    """Inertia of each link about the world's origin: R I Rᵀ + m (|c|² 1 − c cᵀ), entries (L,)."""
    rotation, position = placed.links
    mass = links["link/mass"]
    centre = add(position, apply(rotation, links.vector("com")))
    own = _symmetric(tuple(links[f"inertia/{entry}"] for entry in INERTIA))
    turned = multiply(rotation, multiply(own, transpose(rotation)))
    moment = scale(mass, centre)
    x, y, z = (times(m, c) for m, c in zip(moment, centre, strict=True))
    second = (
        plus(turned[0][0], y, z),
        plus(turned[1][1], x, z),
        plus(turned[2][2], x, y),
        minus(turned[0][1], times(moment[0], centre[1])),
        minus(turned[0][2], times(moment[0], centre[2])),
        minus(turned[1][2], times(moment[1], centre[2])),
    )
    found = settle([*moment, *second])
    return Inertia(mass, tuple(found[:3]), tuple(found[3:]))


def _each(factor, motion: Motion) -> list[Any]:
    """Entries of a motion times an array."""
    return [times(e, factor) for part in motion for e in part]


def _motion(entries) -> Motion:
    return Motion(tuple(entries[:3]), tuple(entries[3:]))


def inverse_dynamics(model: Model, links: Links, q, v, a, external: Force | None = None):
    """Generalised forces M a + c that move the tree so, armature included (Newton, Euler), (V,).

    Friction, springs and limits are not in them (``pdsim.rigid_body.forces``).

    Args:
        links: of the model.
        q, v, a: (Q,), (V,), (V,) positions, velocities, accelerations.
        external: on each link about the world's origin, entries (L,).

    Returns:
        [N m or N].
    """
    links, tree = links.cast(q.dtype), tree_of(model)
    placed = place(model, links, q)
    own = _each(v, placed.axes)
    motion = _motion(combine(tree.moved, own))
    # Rates of the axes, times their velocities.
    turning = cross_motion(_motion(combine(tree.before, own)), _motion(own))
    rates = [
        plus(t, p)
        for t, p in zip((e for part in turning for e in part), _each(a, placed.axes), strict=True)
    ]
    angular, linear = _motion(combine(tree.moved, rates))
    # The world is accelerated against gravity.
    rate = Motion(angular, subtract(linear, links.vector("option/gravity")))
    inertia = inertias(links, placed)
    momentum, changed = _force_of(inertia, motion), _force_of(inertia, rate)
    torque = add(
        changed.torque,
        cross(motion.angular, momentum.torque),
        cross(motion.linear, momentum.force),
    )
    force = add(changed.force, cross(motion.angular, momentum.force))
    if external is not None:
        torque, force = subtract(torque, external.torque), subtract(force, external.force)
    total = combine(tree.moved.T, [*torque, *force])
    axes = [e for part in placed.axes for e in part]
    return plus(dot(axes, total), times(links["velocity/armature"], a))


def mass_matrix(model: Model, links: Links, q):
    """M, armature included, (V, V)."""
    links, tree = links.cast(q.dtype), tree_of(model)
    placed = place(model, links, q)
    mass, moment, second = inertias(links, placed)
    behind = combine(tree.moved.T, [mass, *moment, *second])
    composite = Inertia(behind[0], tuple(behind[1:4]), tuple(behind[4:]))
    force = _force_of(composite, placed.axes)
    size = (len(tree.link_of_velocity),)
    rows, columns = (
        jnp.stack([jnp.broadcast_to(e, size) for part in six for e in part])
        for six in (force, placed.axes)
    )
    product = jnp.einsum("ei,ej->ij", rows, columns)
    # Below the diagonal, where one is on the other's way to the world.
    below = product * np.tril(tree.ordered, -1).astype(q.dtype)
    return below + below.T + jnp.diag(jnp.diagonal(product) + links["velocity/armature"])


def _inverse(matrix):
    """Inverse of a symmetric positive matrix (n, n) by Gauss and Jordan, without pivoting."""
    n = len(matrix)
    for k in range(n):
        here = np.arange(n) == k
        pivot = 1.0 / matrix[k, k]
        row, column = matrix[k] * pivot, matrix[:, k]
        rest = jnp.where(here, -(column * pivot)[:, None], matrix - column[:, None] * row)
        matrix = jnp.where(here[:, None], jnp.where(here, pivot, row), rest)
    return matrix


def forward_dynamics(model: Model, links: Links, q, v, forces, extra=None):
    """Accelerations a of (M + diag(extra)) a + c = forces, (V,).

    Args:
        links: of the model.
        q, v: (Q,), (V,).
        forces: (V,) generalised forces [N m or N].
        extra: (V,) added to the diagonal of M, as an implicit step does.
    """
    extra = jnp.zeros_like(v) if extra is None else extra
    return _accelerations(model)(links, extra, q, v, forces)


def _accelerations(model: Model):
    def inverse(links, extra, q):
        return _inverse(mass_matrix(model, links, q) + jnp.diag(extra))

    @jax.custom_jvp
    def accelerations(links, extra, q, v, forces):
        bias = inverse_dynamics(model, links, q, v, jnp.zeros_like(v))
        return inverse(links, extra, q) @ (forces - bias)

    @accelerations.defjvp
    def rule(primals, tangents):
        links, extra, q, v, _ = primals
        *moved, pushed = tangents
        a = accelerations(*primals)

        def left(links, extra, q, v):
            return inverse_dynamics(model, links, q, v, a) + extra * a

        _, changed = jax.jvp(left, (links, extra, q, v), tuple(moved))
        return a, inverse(links, extra, q) @ (pushed - changed)

    return accelerations
