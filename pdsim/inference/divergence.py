"""Particles whose roll-outs diverge: how they are told from the others, and brought back.

Nothing of such a particle reaches the others. It goes half-way to where it was last finite, or, if
it never was, half-way to the mean of those that have been.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp


class LastFinite(NamedTuple):
    """Where each particle was last finite.

    Attributes:
        position: a pytree of arrays with particles in front; of any value where it never was.
        ever: whether there is such a position, (particle,).
    """

    position: Any
    ever: jax.Array

    @classmethod
    def start(cls, position) -> "LastFinite":
        """No particle has been evaluated yet."""
        count = len(jax.tree.leaves(position)[0])
        return cls(position, jnp.zeros(count, bool))

    def remember(self, position, finite: jax.Array) -> "LastFinite":
        """Take in positions that were evaluated, and whether that was finite, (particle,)."""
        return LastFinite(keep_rows(finite, position, self.position), self.ever | finite)


def bring_back(position, finite: jax.Array, last: LastFinite | None = None):
    """Bring each particle that is not finite half-way back; the others stay.

    Args:
        position: a pytree of arrays with particles in front.
        finite: (particle,).
        last: without it, those that are finite now are all that is known.
    """
    if last is None:
        last = LastFinite(position, finite)

    def halfway(x, known):
        mean = jnp.where(_rows(last.ever, known), known, 0.0).sum(axis=0, keepdims=True)
        mean = mean / jnp.maximum(last.ever.sum(), 1)
        return (x + jnp.where(_rows(last.ever, known), known, mean)) / 2

    return keep_rows(finite, position, jax.tree.map(halfway, position, last.position))


def all_finite(*trees) -> jax.Array:
    """Tell for each particle whether all its numbers are finite, (particle,)."""
    rows = [
        jnp.isfinite(leaf.reshape(leaf.shape[0], -1)).all(axis=1)
        for tree in trees
        for leaf in jax.tree.leaves(tree)
    ]
    return jnp.stack(rows).all(axis=0)


def keep_rows(mask: jax.Array, kept, other):
    """Choose per particle between two pytrees of arrays with particles in front."""
    return jax.tree.map(lambda a, b: jnp.where(_rows(mask, a), a, b), kept, other)


def _rows(mask: jax.Array, like: jax.Array) -> jax.Array:
    return mask.reshape(mask.shape + (1,) * (like.ndim - mask.ndim))
