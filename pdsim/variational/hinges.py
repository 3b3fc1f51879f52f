"""Trees of bodies joined by hinges: where everything is, with derivatives that need no recursion.

With a_j the axis of hinge j in the world and o_j its place, a small turn δq of the hinges turns a
body by φ and moves a point x that is fixed to it by δx

    φ = Σ_j M_j δq_j a_j        δx = Σ_j M_j δq_j a_j × (x − o_j) = φ × x − Σ_j M_j δq_j a_j × o_j

where M_j is 1 for the hinges between the world and the body, and 0 for the others. So any number of
derivatives of the placement is a product with constant matrices: only the placement itself follows
the tree. Velocities come from the same formula with δq = q̇.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np


class Masks(NamedTuple):
    """Which hinges (columns) move a thing (row), 1 or 0.

    Attributes:
        axes: (hinge, hinge).
        bodies: (body, hinge).
        points: (point, hinge); the first points are the places of the hinges.
    """

    axes: np.ndarray
    bodies: np.ndarray
    points: np.ndarray


class Placed(NamedTuple):
    """A tree in the world.

    Attributes:
        axes: of the hinges, (hinge, 3).
        rotations: of the bodies, columns are their axes, (body, 3, 3).
        points: (point, 3) [m]; the first are the places of the hinges.
    """

    axes: jax.Array
    rotations: jax.Array
    points: jax.Array


class Rates(NamedTuple):
    """How a tree moves: turning rates of bodies (body, 3), velocities of points (point, 3)."""

    turning: jax.Array
    velocities: jax.Array


class Hinges:
    """A tree whose coordinates are the angles of its hinges; subclasses are hashable."""

    @property
    def masks(self) -> Masks:
        """See ``Masks``."""
        raise NotImplementedError

    def follow(self, q: jax.Array) -> Placed:
        """Place the tree by following it from the world outwards."""
        raise NotImplementedError


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def place(tree: Hinges, q: jax.Array) -> Placed:
    """Place a tree at angles q (hinge,) [rad]."""
    return tree.follow(q)


@place.defjvp
def _moved(tree: Hinges, primals, tangents):
    (q,), (rate,) = primals, tangents
    placed = place(tree, q)
    turns, masks = rate[:, None] * placed.axes, tree.masks
    turning, velocities = rates(tree, placed, rate)
    axes = cross(jnp.asarray(masks.axes, q.dtype) @ turns, placed.axes)
    # Columns of a rotation are axes, too.
    columns = cross(turning[:, None], placed.rotations.swapaxes(1, 2))
    return placed, Placed(axes, columns.swapaxes(1, 2), velocities)


def rates(tree: Hinges, placed: Placed, velocity: jax.Array) -> Rates:
    """How bodies and points move at rates (hinge,) of the hinges [rad/s]."""
    masks, dtype = tree.masks, velocity.dtype
    turns = velocity[:, None] * placed.axes
    lever = cross(turns, placed.points[: len(turns)])
    both = jnp.asarray(masks.points, dtype) @ jnp.concatenate([turns, lever], axis=1)
    velocities = cross(both[:, :3], placed.points) - both[:, 3:]
    return Rates(jnp.asarray(masks.bodies, dtype) @ turns, velocities)


def cross(a: jax.Array, b: jax.Array) -> jax.Array:
    """a × b along the last axis."""
    (ax, ay, az), (bx, by, bz) = (jnp.moveaxis(x, -1, 0) for x in (a, b))
    return jnp.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=-1)


def turned(axis: int, angle: jax.Array) -> jax.Array:
    """Rotation about an own axis (0, 1, 2 for x, y, z), (…, 3, 3)."""
    c, s = jnp.cos(angle), jnp.sin(angle)
    first, second = (axis + 1) % 3, (axis + 2) % 3
    zero, one = jnp.zeros_like(c), jnp.ones_like(c)
    entries = [[zero] * 3 for _ in range(3)]
    entries[axis][axis] = one
    entries[first][first] = entries[second][second] = c
    entries[first][second], entries[second][first] = -s, s
    return jnp.stack([jnp.stack(row, axis=-1) for row in entries], axis=-2)
