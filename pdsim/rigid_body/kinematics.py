"""Where links are, and how each degree of freedom moves them; all in the world's frame.

With everything in one frame, at one reference point (the world's origin), inertias behind a joint
add, and so do forces: nothing is carried from frame to frame. A motion is (ω, v) with v the
velocity of the body's point at the world's origin.

Poses are composed by pointer doubling: each link takes in the pose of the link before it, then of
the one two before, four before, so that a chain of n joints takes log n products of all links at
once.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from pdsim.rigid_body.links import Links
from pdsim.rigid_body.model import JOINT_SIZES, Model
from pdsim.rigid_body.tree import tree_of
from pdsim.rigid_body.vectors import (
    IDENTITY,
    Matrix,
    Vector,
    apply,
    cross,
    from_quaternion,
    is_zero,
    multiply,
    turn_about,
)
from pdsim.xla.sincos import sincos


class Pose(NamedTuple):
    """Frames in the world.

    Attributes:
        rotation: their axes are the columns, (3, 3, n).
        position: of their origins [m], (3, n).
    """

    rotation: Matrix
    position: Vector


class Placed(NamedTuple):
    """The tree at given positions.

    Attributes:
        links: pose of each link.
        axes: motion of what is behind it per unit velocity of each degree of freedom, (6, V):
            angular velocity [rad/s], and velocity at the world's origin [m/s].
    """

    links: Pose
    axes: Any


def fetch(x: Any, places: np.ndarray, other: Any = 0.0) -> Any:
    """Columns of an array (…, n) by number, ``other`` (…, 1) for those that are negative.

    Put together from runs of neighbours: the compiler is slow at single entries.
    """
    size = x.shape[-1]
    if np.array_equal(places, np.arange(size)):
        return x
    # A run goes on with the next number, or with the world again.
    following = np.where(places < 0, places, places + 1)[:-1]
    runs = np.split(places, np.flatnonzero(places[1:] != following) + 1)
    if isinstance(x, np.ndarray):
        return np.where(places < 0, other, x[..., places])
    return jnp.concatenate(
        [
            jnp.broadcast_to(jnp.asarray(other, x.dtype), (*x.shape[:-1], len(run)))
            if run[0] < 0
            else x[..., run[0] : run[0] + len(run)]
            for run in runs
        ],
        axis=-1,
    )


def _picked(model: Model, kinds: Sequence[str]) -> list[tuple[int, int]]:
    """Links and first positions of the joints of some kinds."""
    tree = tree_of(model)
    return [
        (i, model.joints[link.joint].first_position)
        for i, link in enumerate(tree.links)
        if link.joint >= 0 and model.joints[link.joint].kind in kinds
    ]


def _spread(q, picked: Sequence[tuple[int, int]], size: int) -> Any:
    """Positions of the joints of some links, (L,); 0 elsewhere."""
    places = np.full(size, -1)
    for link, at in picked:
        places[link] = at
    return fetch(q, places)


def _displaced(q, model: Model, kinds: Sequence[str], links: Links) -> Any:
    """Displacement of the joints of some kinds from where the file has them, (L,); 0 elsewhere."""
    picked, size = _picked(model, kinds), len(tree_of(model).links)
    if not picked:
        return None
    found, offset = _spread(q, picked, size), links["offset"]
    if is_zero(offset):
        return found
    moves = np.zeros(size, bool)
    moves[[i for i, _ in picked]] = True
    return found - jnp.where(moves, offset, 0.0)


def _local(model: Model, links: Links, q) -> Any:
    """Pose of each link in the frame of the one before it, (3, 4, L)."""
    axis, anchor, rotation = links["axis"], links["anchor"], links["rotation"]
    size = len(tree_of(model).links)
    angle = _displaced(q, model, ("hinge",), links)
    slid = _displaced(q, model, ("slide",), links)
    turn: Matrix = jnp.broadcast_to(IDENTITY.astype(q.dtype), (3, 3, size))
    if angle is not None:
        turn = turn_about(axis, *sincos(angle))
    free = _picked(model, ("free",))
    turned = _picked(model, ("ball",)) + [(i, at + 3) for i, at in free]
    if turned:
        quaternion = [_spread(q, [(i, at + k) for i, at in turned], size) for k in range(4)]
        turn = jnp.where(_among(turned, size), from_quaternion(quaternion), turn)
    # Turning about the anchor: what was at it stays there.
    moved = anchor - apply(turn, anchor)
    if slid is not None:
        moved = moved + slid * axis
    position = links["position"] + apply(rotation, moved)
    rotation = multiply(rotation, turn)
    if free:
        # Its pose is that in the world, whatever the file has.
        where = _among(free, size)
        given = jnp.stack([_spread(q, [(i, at + k) for i, at in free], size) for k in range(3)])
        position, rotation = jnp.where(where, given, position), jnp.where(where, turn, rotation)
    return jnp.concatenate([rotation, position[:, None]], axis=1)


def _among(picked: Sequence[tuple[int, int]], size: int) -> np.ndarray:
    found = np.zeros(size, bool)
    found[[i for i, _ in picked]] = True
    return found


def place(model: Model, links: Links, q) -> Placed:
    """Poses of all links and axes of all degrees of freedom.

    Args:
        links: ``cast`` to the type of q.
        q: (Q,) positions; quaternions must have length 1.
    """
    pose, world = _local(model, links, q), np.eye(3, 4)[:, :, None]
    for before in tree_of(model).doublings:
        ahead = fetch(pose, before, world)
        turned = multiply(ahead[:, :3], pose)
        pose = jnp.concatenate([turned[:, :3], turned[:, 3:] + ahead[:, 3:]], axis=1)
    return Placed(Pose(pose[:, :3], pose[:, 3]), _axes(model, links, pose, q.dtype))


def _axes(model: Model, links: Links, pose, dtype) -> Any:
    at = tree_of(model).link_of_velocity
    local, slides, world = np.zeros((3, len(at)), dtype), np.zeros(len(at)), np.zeros(len(at))
    for joint in model.joints:
        first, size = joint.first_velocity, JOINT_SIZES[joint.kind][1]
        slides[first : first + size] = joint.kind == "slide"
        if joint.kind == "free":
            slides[first : first + 3] = world[first : first + 3] = True
        if not joint.scalar:
            local[:, first : first + size] = np.eye(3)[:, np.arange(size) % 3]
    own = np.any(local != 0.0, axis=0)
    axis, frame = fetch(links["axis"], at), fetch(pose, at)
    if own.any():
        axis = jnp.where(own, local, axis)
    along = apply(frame[:, :3], axis)
    if world.any():
        along = jnp.where(world > 0, axis, along)
    centre = frame[:, 3] + apply(frame[:, :3], fetch(links["anchor"], at))
    moment = cross(centre, along)
    if slides.any():
        moment = jnp.where(slides > 0, along, moment)
        along = (1 - slides).astype(dtype) * along
    return jnp.concatenate([along, moment])


def cross_motion(by: Any, of: Any) -> Any:
    """Rate of a motion that is fixed in a body moving by another: ``by`` × ``of``, (6, n)."""
    angular, linear = by[:3], by[3:]
    return jnp.concatenate([cross(angular, of[:3]), cross(angular, of[3:]) + cross(linear, of[:3])])


def point(model: Model, placed: Placed, body: int, local) -> list[Any]:
    """A point of a body in the world [m], three scalars."""
    if body == 0:
        return list(local)
    at = tree_of(model).link_of_body[body]
    rotation, position = placed.links
    shown = position[:, at] + rotation[:, :, at] @ jnp.asarray(local)
    return [shown[i] for i in range(3)]
