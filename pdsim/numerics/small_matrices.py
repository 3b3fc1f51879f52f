"""Products and inverses of many small matrices at once: (row, column, *batch).

The batch stands behind, so that a compiled loop runs along it with every lane of the processor; a
batched product of XLA with the batch in front takes one small matrix after another. In jaxlib 0.10
batches of LAPACK's routines block a thread of XLA's pool until other threads of it have done their
share: two such calls at a time stop a process on two cores for ever.
"""

import jax
import jax.numpy as jnp
import numpy as np


def product(a: jax.Array, b: jax.Array) -> jax.Array:
    """A B of (n, k, *batch) and (k, m, *batch).

    A sum over an axis of products, and no sum of k terms: XLA would put the terms of one product
    into those of the next, and compute each k times.
    """
    return (a[:, :, None] * b[None]).sum(axis=1)


def applied(a: jax.Array, x: jax.Array) -> jax.Array:
    """A x of (n, k, *batch) and (k, *batch)."""
    return (a * x[None]).sum(axis=1)


def transposed(a: jax.Array) -> jax.Array:
    """Aᵀ of (n, m, *batch)."""
    return jnp.swapaxes(a, 0, 1)


def diagonal(x: jax.Array) -> jax.Array:
    """diag x of (n, *batch)."""
    return jnp.where(_identity(len(x), x), x[None], 0)


def inverse_of_positive(matrix):
    """Inverse of a symmetric positive matrix (n, n): Gauss and Jordan, without pivoting."""
    n = len(matrix)
    for k in range(n):
        here = np.arange(n) == k
        pivot = 1.0 / matrix[k, k]
        row, column = matrix[k] * pivot, matrix[:, k]
        rest = jnp.where(here, -(column * pivot)[:, None], matrix - column[:, None] * row)
        matrix = jnp.where(here[:, None], jnp.where(here, pivot, row), rest)
    return matrix


def inverse_and_log_determinant(matrix: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return A⁻¹ and log |det A| of matrices (n, n, *batch).

    Gauss and Jordan's elimination, rows chosen by their largest entry. A singular matrix gives
    infinite or undefined numbers, no error.
    """
    n, batch = len(matrix), matrix.shape[2:]
    identity = jnp.broadcast_to(_identity(n, matrix[0]), matrix.shape).astype(matrix.dtype)
    number = jnp.arange(n).reshape(-1, *[1] * len(batch))
    both = jnp.concatenate([matrix, identity], axis=1)
    free = jnp.ones((n, *batch), bool)
    log_determinant = jnp.zeros(batch, matrix.dtype)
    order = []
    for column in range(n):
        entries = both[:, column]
        pivot = number == jnp.argmax(jnp.where(free, jnp.abs(entries), -1.0), axis=0)
        row = jnp.where(pivot[:, None], both, 0.0).sum(axis=0)
        log_determinant += jnp.log(jnp.abs(row[column]))
        row = row / row[column]
        both = jnp.where(pivot[:, None], row, both - entries[:, None] * row)
        free = free & ~pivot
        order.append(pivot)
    rows = [jnp.where(pivot[:, None], both[:, n:], 0.0).sum(axis=0) for pivot in order]
    return jnp.stack(rows), log_determinant


def _identity(n: int, like: jax.Array) -> jax.Array:
    """Whether row is column, (n, n, 1, …) to go with vectors (n, *batch)."""
    return jnp.eye(n, dtype=bool).reshape(n, n, *[1] * (like.ndim - 1))
