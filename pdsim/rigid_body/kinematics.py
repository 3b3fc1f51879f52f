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

from pdsim.numerics.sincos import sincos
from pdsim.rigid_body.links import Links
from pdsim.rigid_body.model import JOINT_SIZES, Model
from pdsim.rigid_body.tree import tree_of
from pdsim.rigid_body.vectors import (
    IDENTITY,
    Matrix,
    Vector,
    add,
    apply,
    cross,
    from_quaternion,
    known,
    multiply,
    scale,
    subtract,
    turn_about,
)


class Motion(NamedTuple):
    """Angular velocity [rad/s] and velocity at the world's origin [m/s], or their rates."""

    angular: Vector
    linear: Vector


class Pose(NamedTuple):
    """Frames in the world.

    Attributes:
        rotation: their axes are the columns.
        position: of their origins [m].
    """

    rotation: Matrix
    position: Vector


class Placed(NamedTuple):
    """The tree at given positions.

    Attributes:
        links: pose of each link, entries (L,).
        axes: motion of what is behind it per unit velocity of each degree of freedom, (V,).
    """

    links: Pose
    axes: Motion


def combine(matrix: np.ndarray, entries: Sequence[Any], *, sums: bool = True) -> list[Any]:
    """Products of a constant matrix (m, n) with arrays (n,).

    One product each: rows of a common one would lie apart in memory.

    Args:
        sums: False if each row has one entry at most and a constant stays what it is.
    """
    size = matrix.shape[1]
    if not sums and matrix.shape[0] == size and np.array_equal(matrix, np.eye(size)):
        return list(entries)

    found = []
    for x in entries:
        if known(x) and (x == 0.0 or not sums):
            found.append(x)
        else:
            x = jnp.broadcast_to(x, (size,))
            found.append(x @ matrix.T.astype(x.dtype))
    return found


def _spread(values: Sequence[Any], places: Sequence[int], size: int, other: float, dtype):
    """An array (size,) with values at some places and a constant elsewhere."""
    column = [jnp.asarray(other, dtype)] * size
    for place, value in zip(places, values, strict=True):
        column[place] = value
    return jnp.stack(column)


def settle(entries: Sequence[Any]) -> list[Any]:
    """The same arrays, but computed once: products with the identity.

    XLA's compiler for CPUs repeats cheap arithmetic wherever its result is used, in every kernel
    anew, which multiplies along a chain of products of rotations. It does not look into products of
    matrices, and the result of one is kept. (Its optimization barrier is gone before that happens.)
    """
    return [
        x if known(x) or jnp.ndim(x) == 0 else x @ np.eye(x.shape[-1], dtype=x.dtype)
        for x in entries
    ]


def settle_pose(pose: "Pose") -> "Pose":
    """The same poses, see ``settle``."""
    found = settle([*(e for row in pose.rotation for e in row), *pose.position])
    return Pose((tuple(found[0:3]), tuple(found[3:6]), tuple(found[6:9])), tuple(found[9:]))


def settle_motion(motion: "Motion") -> "Motion":
    """The same motions, see ``settle``."""
    found = settle([e for part in motion for e in part])
    return Motion(tuple(found[:3]), tuple(found[3:]))


def _where(condition: np.ndarray, yes: Sequence[Any], no: Sequence[Any]) -> Vector:
    x, y, z = (jnp.where(condition, a, b) for a, b in zip(yes, no, strict=True))
    return x, y, z


def _picked(model: Model, kinds: Sequence[str]) -> list[tuple[int, int]]:
    """Links and first positions of the joints of some kinds."""
    tree = tree_of(model)
    return [
        (i, model.joints[link.joint].first_position)
        for i, link in enumerate(tree.links)
        if link.joint >= 0 and model.joints[link.joint].kind in kinds
    ]


def _per_link(q, model: Model, kinds: Sequence[str], links: Links) -> Any:
    """Displacement of the joints of some kinds from where the file has them, (L,); 0 elsewhere."""
    picked, size = _picked(model, kinds), len(tree_of(model).links)
    if not picked:
        return 0.0
    offsets = np.zeros((size, len(q)))
    for place, at in picked:
        offsets[place, at] = 1.0
    (found,) = combine(offsets, [q], sums=False)
    offset = links["link/offset"]
    if known(offset) and offset == 0.0:
        return found
    return found - jnp.where(offsets.sum(axis=1) > 0, offset, 0.0)


def _local(model: Model, links: Links, q) -> Pose:
    """Pose of each link in the frame of the one before it."""
    axis, anchor = links.vector("axis"), links.vector("anchor")
    angle = _per_link(q, model, ("hinge",), links)
    slid = _per_link(q, model, ("slide",), links)
    turn: Matrix = IDENTITY if known(angle) else turn_about(axis, *sincos(angle))
    size = len(tree_of(model).links)
    free = _picked(model, ("free",))
    turned = _picked(model, ("ball",)) + [(i, at + 3) for i, at in free]
    if turned:
        places = [i for i, _ in turned]
        quaternion = [
            _spread([q[at + k] for _, at in turned], places, size, float(k == 0), q.dtype)
            for k in range(4)
        ]
        turn = multiply(turn, from_quaternion(quaternion))
    # Turning about the anchor: what was at it stays there.
    moved = add(subtract(anchor, apply(turn, anchor)), scale(slid, axis))
    rotation = links.rotation("rotation")
    position = add(links.vector("position"), apply(rotation, moved))
    rotation = multiply(rotation, turn)
    if free:
        # Its pose is that in the world, whatever the file has.
        where = np.zeros(size, bool)
        where[[i for i, _ in free]] = True
        given = [
            _spread([q[at + k] for _, at in free], [i for i, _ in free], size, 0.0, q.dtype)
            for k in range(3)
        ]
        position = _where(where, given, position)
        x, y, z = (_where(where, t, r) for t, r in zip(turn, rotation, strict=True))
        rotation = (x, y, z)
    return Pose(rotation, position)


def place(model: Model, links: Links, q) -> Placed:
    """Poses of all links and axes of all degrees of freedom.

    Args:
        links: ``cast`` to the type of q.
        q: (Q,) positions; quaternions must have length 1.
    """
    tree = tree_of(model)
    rotation, position = settle_pose(_local(model, links, q))
    for matrix in tree.doublings:
        entries = [*(e for row in rotation for e in row), *position]
        fetched = combine(matrix, [e + np.zeros(len(matrix)) if known(e) else e for e in entries])
        alone = 1.0 - matrix.sum(axis=1)
        for k in (0, 4, 8):
            fetched[k] = fetched[k] + alone.astype(q.dtype)
        before: Matrix = tuple(fetched[0:3]), tuple(fetched[3:6]), tuple(fetched[6:9])
        position = add(tuple(fetched[9:]), apply(before, position))
        rotation, position = settle_pose(Pose(multiply(before, rotation), position))
    pose = Pose(rotation, position)
    return Placed(pose, settle_motion(_axes(model, links, pose, q.dtype)))


def _axes(model: Model, links: Links, pose: Pose, dtype) -> Motion:
    tree = tree_of(model)
    at = np.zeros((len(tree.link_of_velocity), len(tree.links)))
    at[np.arange(len(at)), tree.link_of_velocity] = 1.0
    local, slides = [], np.zeros(len(at), bool)
    world = np.zeros(len(at), bool)
    for joint in model.joints:
        first, size = joint.first_velocity, JOINT_SIZES[joint.kind][1]
        slides[first : first + size] = joint.kind == "slide"
        if joint.kind == "free":
            slides[first : first + 3] = world[first : first + 3] = True
        if not joint.scalar:
            local += [(first + k, np.eye(3)[k % 3]) for k in range(size)]
    entries = [*(e for row in pose.rotation for e in row), *pose.position]
    fetched = combine(at, [*entries, *links.vector("axis"), *links.vector("anchor")], sums=False)
    rotation = tuple(fetched[0:3]), tuple(fetched[3:6]), tuple(fetched[6:9])
    position, axis, anchor = tuple(fetched[9:12]), list(fetched[12:15]), tuple(fetched[15:18])
    if local:
        places = [i for i, _ in local]
        own = np.zeros(len(at), bool)
        own[places] = True
        for k in range(3):
            values = np.zeros(len(at), dtype)
            values[places] = [vector[k] for _, vector in local]
            axis[k] = jnp.where(own, values, axis[k])
    along = apply(rotation, tuple(axis))
    if world.any():
        along = _where(world, axis, along)
    centre = add(position, apply(rotation, anchor))
    angular, linear = along, cross(centre, along)
    if slides.any():
        turning = (~slides).astype(dtype)
        angular = scale(turning, along)
        linear = _where(slides, along, linear)
    return Motion(angular, linear)


def cross_motion(by: Motion, of: Motion) -> Motion:
    """Rate of a motion that is fixed in a body moving by another: ``by`` × ``of``."""
    return Motion(
        cross(by.angular, of.angular),
        add(cross(by.angular, of.linear), cross(by.linear, of.angular)),
    )
