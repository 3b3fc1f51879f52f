"""The signature of a path: its iterated integrals (Chen, 1957; Lyons, 1998)."""

import jax
import jax.numpy as jnp


def signature(x: jax.Array, depth: int) -> jax.Array:
    """Signature of piecewise linear paths, levels 1 to ``depth``, flattened.

    Level k holds the iterated integrals ∫…∫ dx_{i1} ⊗ … ⊗ dx_{ik}, in the order of the indices.
    A straight piece Δ has level k equal to Δ^{⊗k} / k!; Chen's identity joins the path so far, S,
    to the next piece E: (S ⊗ E)_k = Σ_{j=0..k} S_j ⊗ E_{k−j}, with level 0 equal to 1.

    Args:
        x: (n, time, channel).
        depth: deepest level.

    Returns:
        (n, c + c² + … + c^depth).
    """
    steps = jnp.moveaxis(jnp.diff(x, axis=1), 1, 0)
    count, channels = x.shape[0], x.shape[2]
    start = tuple(jnp.zeros((count, channels**level), x.dtype) for level in range(1, depth + 1))

    def join(levels, step):
        piece = [step]
        for level in range(2, depth + 1):
            piece.append(_product(piece[-1], step) / level)
        joined = tuple(
            levels[k] + piece[k] + sum(_product(levels[j], piece[k - 1 - j]) for j in range(k))
            for k in range(depth)
        )
        return joined, None

    levels, _ = jax.lax.scan(join, start, steps)
    return jnp.concatenate(levels, axis=1)


def _product(a: jax.Array, b: jax.Array) -> jax.Array:
    """Tensor product of flattened levels, (n, p) and (n, q) → (n, p q)."""
    return (a[:, :, None] * b[:, None, :]).reshape(a.shape[0], -1)
