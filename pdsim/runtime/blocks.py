"""Batches worked through in blocks that a cache holds.

XLA runs each operation of a program over the whole batch before the next. Where a row makes many
numbers between, those of a few rows at a time stay near the processor. A GPU starts the kernels of
each block anew and has no such cache: there blocks are larger, and bound the memory alone.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

import jax
import jax.numpy as jnp

# Blocks of a CPU in one of a GPU.
_GPU = 64
# Numbers of a vector of the processor's.
_FOUR = 4


def in_blocks(
    size: Callable[..., int | None], *, on_gpu: bool = True
) -> Callable[[Callable], Callable]:
    """Work through the rows of a function's last argument some at a time.

    Args:
        size: of the arguments before, how many rows at a time on a CPU; None: all at once.
        on_gpu: whether a GPU has blocks too, where memory has to be bounded.

    Returns:
        A decorator of ``(*shared, rows)``, whose result's rows depend each on its own row and
        ``shared`` alone.
    """

    def decorated(function: Callable) -> Callable:
        @wraps(function)
        def through(*arguments: Any) -> Any:
            *shared, rows = arguments
            block, count = size(*shared), len(jax.tree.leaves(rows)[0])
            if block is not None and jax.default_backend() == "gpu":
                block = _GPU * block if on_gpu else None
            if block is None or count <= block:
                return function(*arguments)
            shape = _shares(count, block)
            lacking = shape[0] * shape[1] - count
            parts = jax.tree.map(
                lambda x: lengthened(x, lacking).reshape(*shape, *x.shape[1:]), rows
            )
            result = jax.lax.map(lambda part: function(*shared, part), parts)
            return jax.tree.map(lambda x: x.reshape(count + lacking, *x.shape[2:])[:count], result)

        return through

    return decorated


def _shares(count: int, block: int) -> tuple[int, int]:
    """How many blocks, and of how many rows, that few copies have to fill up.

    Rows of large blocks are so many fours: compiled loops along others take a quarter longer.
    """
    least = -(-count // block)
    if block <= _FOUR:
        return least, -(-count // least)
    found = []
    for blocks in range(least, 2 * least + 1):
        rows = -(-count // blocks)
        found.append((blocks, rows + -rows % _FOUR if rows > _FOUR else rows))
    return min(found, key=lambda shape: (shape[0] * shape[1], shape[0]))


def lengthened(x: jax.Array, lacking: int) -> jax.Array:
    """Rows, and behind them so many copies of the last."""
    if lacking == 0:
        return x
    return jnp.concatenate([x, jnp.broadcast_to(x[-1:], (lacking, *x.shape[1:]))])
