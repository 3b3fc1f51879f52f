"""Two real arrays as one of complex numbers, which XLA on the CPU computes in one loop.

XLA puts cheap arithmetic into every loop that uses its results: two accelerations each take the
sines of both angles anew. Nothing that it can see through stops it, a barrier does not outlive its
passes, and its loops of several results are slower than those it makes of one each. But it leaves
alone a function that is marked so, and a loop over complex numbers has two results.
"""

import os
from collections.abc import Callable
from functools import wraps
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental.xla_metadata import set_xla_metadata

from pdsim.xla.flags import SPLIT

_MARK = {"inlineable": "false"}


def once(function: Callable[..., tuple[jax.Array, jax.Array]]) -> Callable:
    """Compute a pair of arrays in one loop of its own, where a program runs on the CPU.

    A GPU's programs have loops of several results.

    Args:
        function: of trees of arrays; returns two real arrays of one shape and type.

    Returns:
        The same function, to the last bits: products and sums are contracted differently.
    """

    @jax.jit
    def packed(*arguments: Any) -> jax.Array:
        return jax.lax.complex(*function(*arguments))

    @wraps(function)
    def called(*arguments: Any) -> tuple[jax.Array, jax.Array]:
        if jax.default_backend() != "cpu" or SPLIT not in os.environ.get("XLA_FLAGS", ""):
            return function(*arguments)
        return parts(set_xla_metadata(packed(*arguments), **_MARK))

    return called


def parts(pair: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Real and imaginary part."""
    return pair.real, pair.imag


def in_pairs(tree: Any, batch: int) -> tuple[list[jax.Array], Callable[[list[jax.Array]], Any]]:
    """Join the real numbers of each element of a batch two by two.

    A loop that reads the pairs sums slopes in two of them at a time.

    Args:
        tree: of arrays with the batch's axes in front; what has more of them is as fast alone.
        batch: how many axes.

    Returns:
        The pairs, and what found no partner, and a function that makes the tree of them.
    """
    leaves, structure = jax.tree.flatten(tree)
    alike: dict[Any, list[int]] = {}
    for place, x in enumerate(leaves):
        real = x.ndim == batch and jnp.issubdtype(x.dtype, jnp.floating)
        alike.setdefault(x.dtype if real else place, []).append(place)
    pairs = [one[i : i + 2] for one in alike.values() for i in range(0, len(one), 2)]

    def apart(joined: list[jax.Array]) -> Any:
        found: dict[int, Any] = {}
        for places, x in zip(pairs, joined, strict=True):
            found.update(zip(places, parts(x) if len(places) > 1 else (x,), strict=True))
        return jax.tree.unflatten(structure, [found[place] for place in range(len(leaves))])

    def join(first: jax.Array, *second: jax.Array) -> jax.Array:
        return jax.lax.complex(first, *second) if second else first

    return [join(*(leaves[place] for place in places)) for places in pairs], apart
