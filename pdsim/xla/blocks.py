"""Batches worked through in blocks that a cache holds.

XLA runs each operation of a program over the whole batch before the next. Where a row makes many
numbers between, those of a few rows at a time stay near the processor. A GPU starts the kernels of
each block anew and has no such cache: there blocks are larger, and bound the memory alone.

Rows are filled up to whole vectors of the processor's: compiled loops take those that are left over
one by one.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

import jax
import jax.numpy as jnp

# Blocks of a CPU in one of a GPU.
_GPU = 64
# Numbers of a vector of 512 bits. Of half as many or fewer, one by one is as fast.
_VECTOR = 8
# What a block takes beside its rows, in rows: next to none for values and slopes by reverse mode, 2
# to 12 for slopes in all directions (blocks of 8 and 16 rows, ``benchmarks/README.md``).
_START = 4


def in_blocks(
    size: Callable[..., int | None], *, on_gpu: bool = True, vectors: bool = True
) -> Callable[[Callable], Callable]:
    """Work through the rows of a function's last argument some at a time.

    Args:
        size: of the arguments before, how many rows at a time on a CPU; None: all at once.
        on_gpu: whether a GPU has blocks too, where memory has to be bounded.
        vectors: whether loops of the function run along its rows.

    Returns:
        A decorator of ``(*shared, rows)``, whose result's rows depend each on its own row and
        ``shared`` alone.
    """

    def decorated(function: Callable) -> Callable:
        whole = in_vectors(function) if vectors else function

        @wraps(function)
        def through(*arguments: Any) -> Any:
            *shared, rows = arguments
            block, count = size(*shared), len(jax.tree.leaves(rows)[0])
            if block is not None:
                if jax.default_backend() == "gpu":
                    block = _GPU * block if on_gpu else None
                elif vectors:
                    block = _vectors(block, down=block > _VECTOR)
            if block is None or count <= block:
                return whole(*arguments)
            blocks, length = _shares(count, block)
            # The last begins so early that it ends with the rows: what is longer would be copied.
            starts = jnp.minimum(length * jnp.arange(blocks), count - length)

            def part(start):
                def cut(x):
                    return jax.lax.dynamic_slice_in_dim(x, start, length)

                return function(*shared, jax.tree.map(cut, rows))

            def put(result, start):
                def one(x, y):
                    return jax.lax.dynamic_update_slice_in_dim(x, y, start, 0)

                return jax.tree.map(one, result, part(start)), None

            shapes = jax.eval_shape(part, starts[0])
            empty = jax.tree.map(lambda x: jnp.zeros((count, *x.shape[1:]), x.dtype), shapes)
            return jax.lax.scan(put, empty, starts)[0]

        return through

    return decorated


def _shares(count: int, block: int) -> tuple[int, int]:
    """How many blocks, and of how many rows, of whole vectors where there are some in a block."""
    if block % _VECTOR:
        blocks = -(-count // block)
        return blocks, -(-count // blocks)
    lengths = range(block, 0, -_VECTOR)
    shapes = [(-(-count // length), length) for length in lengths]
    return min(shapes, key=lambda shape: shape[0] * (shape[1] + _START))


def _vectors(rows: int, *, down: bool = False) -> int:
    """Rows, and as many more, or fewer, as fill up vectors."""
    if rows <= _VECTOR // 2:
        return rows
    return rows - rows % _VECTOR if down else rows + -rows % _VECTOR


def in_vectors(function: Callable) -> Callable:
    """Fill up the rows of a function's last argument to whole vectors, where a CPU computes.

    Args:
        function: ``(*shared, rows)``, whose result's rows depend each on its own row and
            ``shared`` alone.
    """

    @wraps(function)
    def filled(*arguments: Any) -> Any:
        *shared, rows = arguments
        count = len(jax.tree.leaves(rows)[0])
        lacking = _vectors(count) - count if jax.default_backend() == "cpu" else 0
        if lacking == 0:
            return function(*arguments)
        result = function(*shared, jax.tree.map(lambda x: lengthened(x, lacking), rows))
        return jax.tree.map(lambda x: x[:count], result)

    return filled


def lengthened(x: jax.Array, lacking: int) -> jax.Array:
    """Rows, and behind them so many copies of the last."""
    if lacking == 0:
        return x
    return jnp.concatenate([x, jnp.broadcast_to(x[-1:], (lacking, *x.shape[1:]))])
