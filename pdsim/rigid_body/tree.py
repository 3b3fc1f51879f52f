"""A model as arrays: one entry for each link, one for each degree of freedom.

A body with several joints is as many links, the last of which has its mass. What runs along the
tree (sums over what is behind a joint, or before it) is a product with a constant matrix of zeros
and ones, so that no program walks along the tree.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from pdsim.rigid_body.model import JOINT_SIZES, WORLD, Model


@dataclass(frozen=True)
class Link:
    """A frame that moves against the link before it by one joint at most.

    Attributes:
        body: number of the body it belongs to.
        joint: number of its joint; −1 if it is fixed.
        parent: number of the link before it; −1 is the world.
        first, last: whether it is the first or the last of its body.
    """

    body: int
    joint: int
    parent: int
    first: bool
    last: bool


@dataclass(frozen=True)
class Tree:
    """Links of a model and how they hang together.

    Attributes:
        model: whose tree this is.
    """

    model: Model

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """All links, parents first."""
        found: list[Link] = []
        ends = {WORLD: -1}
        count = 0
        for number, body in enumerate(self.model.bodies):
            if number == WORLD:
                continue
            parent, size = ends[body.parent], max(len(body.joints), 1)
            for at in range(size):
                joint = count + at if body.joints else -1
                found.append(Link(number, joint, parent, at == 0, at == size - 1))
                parent = len(found) - 1
            ends[number] = parent
            count += len(body.joints)
        return tuple(found)

    @cached_property
    def link_of_body(self) -> dict[int, int]:
        """The link that carries each body but the world."""
        return {link.body: i for i, link in enumerate(self.links) if link.last}

    @cached_property
    def link_of_velocity(self) -> np.ndarray:
        """The link that each degree of freedom moves, (V,)."""
        found = []
        for i, link in enumerate(self.links):
            if link.joint >= 0:
                found += [i] * JOINT_SIZES[self.model.joints[link.joint].kind][1]
        return np.array(found, int)

    @cached_property
    def above(self) -> np.ndarray:
        """Whether link j is link i or before it, (L, L) of zeros and ones."""
        found = np.eye(len(self.links))
        for i, link in enumerate(self.links):
            if link.parent >= 0:
                found[i] += found[link.parent]
        return found

    @cached_property
    def moved(self) -> np.ndarray:
        """Whether degree of freedom j moves link i, (L, V)."""
        return self.above[:, self.link_of_velocity]

    @cached_property
    def before(self) -> np.ndarray:
        """Whether degree of freedom j moves the axis of i and is not of its own joint, (V, V).

        The translations of a free joint move the axes of its rotations.
        """
        at = self.link_of_velocity
        found = self.above[np.ix_(at, at)] - (at[:, None] == at)
        for joint in self.model.joints:
            if joint.kind == "free":
                first = joint.first_velocity
                found[first + 3 : first + 6, first : first + 3] = 1
        return found

    @cached_property
    def ordered(self) -> np.ndarray:
        """Whether degree of freedom j is i or before it on the way to the world, (V, V)."""
        at = self.link_of_velocity
        return np.tril(self.above[np.ix_(at, at)])

    @cached_property
    def doublings(self) -> list[np.ndarray]:
        """Of each link the number of the one 1, 2, 4, … links before it; −1 is the world, (L,)."""
        ahead = np.array([link.parent for link in self.links], int)
        found = []
        while (ahead >= 0).any():
            found.append(ahead)
            ahead = np.where(ahead >= 0, ahead[ahead], -1)
        return found


@lru_cache(maxsize=64)
def tree_of(model: Model) -> Tree:
    """The tree of a model, once for each."""
    return Tree(model)
