"""Forces from accelerations and accelerations from forces.

The equation of motion of a tree with positions q, velocities v and accelerations a is

    M(q) a + c(q, v) = τ        M(q) = H(q) + armature

Inverse dynamics is Newton's and Euler's: motions of all links from the axes before them, forces
summed over what is behind. The mass matrix is that of composite bodies (Walker and Orin, 1982).

Accelerations are differentiated by the equation itself: at a solution,

    M da = dτ − ∂(M a + c) at constant a

so a derivative costs one of inverse dynamics and a product with the inverse that is there, in
forward and in reverse mode. So are those of a step that ends with the friction of its end
(``pdsim.rigid_body.friction``), M a + c + φ(v + dt a) = τ.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pdsim.numerics.small_matrices import inverse_of_positive
from pdsim.rigid_body.forces import friction, friction_slope
from pdsim.rigid_body.friction import slowed
from pdsim.rigid_body.kinematics import Placed, cross_motion, place
from pdsim.rigid_body.links import Links
from pdsim.rigid_body.model import Model
from pdsim.rigid_body.tree import tree_of
from pdsim.rigid_body.vectors import (
    Matrix,
    Vector,
    apply,
    cross,
    dot,
    multiply,
    symmetric,
    transpose,
)


class Bodies(NamedTuple):
    """What moves with each link.

    Attributes:
        mass: m [kg], (L,).
        centre: c, of mass [m], (3, L).
        rotation: R of the link, (3, 3, L).
        turned: R I, with I about the centre in the link's frame [kg m²], (3, 3, L).
    """

    mass: Any
    centre: Vector
    rotation: Matrix
    turned: Matrix

    @classmethod
    def of(cls, links: Links, placed: Placed) -> "Bodies":
        """At the poses of the links."""
        rotation, position = placed.links
        mass = jnp.broadcast_to(links["mass"], position.shape[1:]).astype(position.dtype)
        centre = jnp.stack(list(position + apply(rotation, links["com"])))
        turned = jnp.stack(list(multiply(rotation, links["inertia"])))
        return cls(mass, centre, rotation, turned)

    def momentum(self, motion) -> Any:
        """Of a motion (6, L) about the world's origin: (R I Rᵀ ω + c × p, p = m (v + ω × c))."""
        angular, linear = motion[:3], motion[3:]
        pushed = self.mass * (linear + cross(angular, self.centre))
        spin = apply(self.turned, apply(transpose(self.rotation), angular))
        return jnp.concatenate([spin + cross(self.centre, pushed), pushed])

    def moments(self) -> Any:
        """Mass, m c, and R I Rᵀ + m (|c|² 1 − c cᵀ) as (xx, yy, zz, xy, xz, yz), (10, L)."""
        m, c = self.mass, self.centre
        square = dot(c, c)

        def entry(i: int, j: int):
            own = dot(self.turned[i], self.rotation[j])
            return own + m * ((square if i == j else 0.0) - c[i] * c[j])

        entries = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
        return jnp.concatenate([m[None], m * c, jnp.stack([entry(i, j) for i, j in entries])])


def _composite_force(moments, motion) -> Any:
    """Momentum (I ω + h × v, m v − h × ω) of what has moments (10, n), (6, n)."""
    angular, linear = motion[:3], motion[3:]
    mass, moment = moments[0], moments[1:4]
    torque = apply(symmetric(moments[4:]), angular) + cross(moment, linear)
    return jnp.concatenate([torque, mass * linear - cross(moment, angular)])


def inverse_dynamics(model: Model, links: Links, q, v, a, external=None):
    """Generalised forces M a + c that move the tree so, armature included (Newton, Euler), (V,).

    Friction, springs and limits are not in them (``pdsim.rigid_body.forces``).

    Args:
        links: of the model.
        q, v, a: (Q,), (V,), (V,) positions, velocities, accelerations.
        external: torque about the world's origin [N m] and force [N] on each link, (6, L).

    Returns:
        [N m or N].
    """
    links, tree = links.cast(q.dtype), tree_of(model)
    moved, before = tree.moved.T.astype(q.dtype), tree.before.T.astype(q.dtype)
    placed = place(model, links, q)
    own = placed.axes * v
    motion = own @ moved
    # Rates of the axes, times their velocities; the world is accelerated against gravity.
    rate = (cross_motion(own @ before, own) + placed.axes * a) @ moved
    gravity = jnp.asarray(links.vector("option/gravity"), q.dtype)
    rate = rate - jnp.concatenate([jnp.zeros_like(gravity), gravity])[:, None]
    bodies = Bodies.of(links, placed)
    momentum, changed = bodies.momentum(motion), bodies.momentum(rate)
    angular, linear = motion[:3], motion[3:]
    turned = cross(angular, momentum[:3]) + cross(linear, momentum[3:])
    force = changed + jnp.concatenate([turned, cross(angular, momentum[3:])])
    if external is not None:
        force = force - external
    return dot(placed.axes, force @ moved.T) + links["velocity/armature"] * a


def mass_matrix(model: Model, links: Links, q):
    """M, armature included, (V, V)."""
    links, tree = links.cast(q.dtype), tree_of(model)
    placed = place(model, links, q)
    behind = Bodies.of(links, placed).moments() @ tree.moved.astype(q.dtype)
    product = _composite_force(behind, placed.axes).T @ placed.axes
    # Below the diagonal, where one is on the other's way to the world.
    below = product * np.tril(tree.ordered, -1).astype(q.dtype)
    return below + below.T + jnp.diag(jnp.diagonal(product) + links["velocity/armature"])


def forward_dynamics(model: Model, links: Links, q, v, forces, dt=None):
    """Accelerations a of M a + c = forces, or with dt of M a + c + φ(v + dt a) = forces, (V,).

    Args:
        links: of the model.
        q, v: (Q,), (V,).
        forces: (V,) generalised forces [N m or N]; with dt those without friction.
        dt: length of a step [s] that friction φ is taken at the end of.
    """
    return _accelerations(model)(links, q, v, forces, dt)


def _accelerations(model: Model):
    def left(links, q, v, a, dt):
        found = inverse_dynamics(model, links, q, v, a)
        if dt is None:
            return found
        return found + friction(links.cast(v.dtype), v + dt * a)

    @jax.custom_jvp
    def accelerations(links, q, v, forces, dt):
        acting = forces - inverse_dynamics(model, links, q, v, jnp.zeros_like(v))
        mass = mass_matrix(model, links, q)
        if dt is None:
            return inverse_of_positive(mass) @ acting
        return (slowed(mass, mass @ v + dt * acting, links.cast(v.dtype), v, dt) - v) / dt

    @accelerations.defjvp
    def rule(primals, tangents):
        links, q, v, _, dt = primals
        *moved, pushed, longer = tangents
        a = accelerations(*primals)
        _, changed = jax.jvp(
            lambda links, q, v, dt: left(links, q, v, a, dt),
            (links, q, v, dt),
            (*moved, longer),
        )
        mass = mass_matrix(model, links, q)
        if dt is not None:
            mass = mass + jnp.diag(dt * friction_slope(links.cast(v.dtype), v + dt * a))
        return a, inverse_of_positive(mass) @ (pushed - changed)

    return accelerations
