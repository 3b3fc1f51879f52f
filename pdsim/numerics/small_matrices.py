"""Inverses of many small matrices at once, entry by entry across the batch.

In jaxlib 0.10 batches of LAPACK's routines block a thread of XLA's pool until other threads of it
have done their share: two such calls at a time stop a process on two cores for ever.
"""

import jax
import jax.numpy as jnp


@jax.custom_jvp
def inverse_and_log_determinant(matrix: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return A⁻¹ and log |det A| of one (n, n) matrix; batch with ``vmap``.

    Gauss and Jordan's elimination, rows chosen by their largest entry. A singular matrix gives
    infinite or undefined numbers, no error. Derivatives: dA⁻¹ = −A⁻¹ dA A⁻¹ and
    d log |det A| = tr A⁻¹ dA.
    """
    n = len(matrix)
    number = jnp.arange(n)
    both = jnp.concatenate([matrix, jnp.eye(n, dtype=matrix.dtype)], axis=1)
    free = jnp.ones(n, bool)
    log_determinant = jnp.zeros((), matrix.dtype)
    order = []
    for column in range(n):
        entries = both[:, column]
        pivot = number == jnp.argmax(jnp.where(free, jnp.abs(entries), -1.0))
        row = jnp.where(pivot[:, None], both, 0.0).sum(axis=0)
        log_determinant += jnp.log(jnp.abs(row[column]))
        row = row / row[column]
        both = jnp.where(pivot[:, None], row, both - entries[:, None] * row)
        free = free & ~pivot
        order.append(pivot)
    rows = [jnp.where(pivot[:, None], both[:, n:], 0.0).sum(axis=0) for pivot in order]
    return jnp.stack(rows), log_determinant


@inverse_and_log_determinant.defjvp
def _derivative(primals, tangents):
    inverse, log_determinant = inverse_and_log_determinant(*primals)
    moved = inverse @ tangents[0]
    return (inverse, log_determinant), (-moved @ inverse, jnp.trace(moved))
