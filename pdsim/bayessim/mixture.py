"""A mixture of Gaussians whose parameters are the outputs of a network (Bishop, 1994)."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

_LOG_2PI = 1.8378770664093453


class Mixture(NamedTuple):
    """Mixtures over θ in ℝ^M, one for each of n inputs.

    Attributes:
        log_weight: (n, component).
        mean: (n, component, M).
        root: lower triangle of R with precision R Rᵀ: its diagonal, then what is below it row by
            row, (n, component, M (M + 1) / 2).
    """

    log_weight: jax.Array
    mean: jax.Array
    root: jax.Array

    def log_density(self, theta: jax.Array) -> jax.Array:
        """log q(θ | ψ) of one θ for each input, (n, M) → (n,)."""
        size = theta.shape[1]
        rows, columns = _places(size)
        # z = Rᵀ (θ − μ) without unpacking: entries times differences, summed over each column.
        # Products with 0 and 1 pick entries: the transpose of an index is slow on the CPU.
        identity = jnp.eye(size, dtype=self.root.dtype)
        difference = (theta[:, None] - self.mean) @ identity[:, rows]
        z = (self.root * difference) @ identity[columns]
        log_determinant = jnp.log(self.root[..., :size]).sum(axis=-1)
        terms = self.log_weight + log_determinant - 0.5 * (z**2).sum(axis=-1)
        return jax.scipy.special.logsumexp(terms, axis=1) - 0.5 * size * _LOG_2PI

    def precision_root(self) -> jax.Array:
        """R, (n, component, M, M)."""
        size = self.mean.shape[-1]
        rows, columns = _places(size)
        full = jnp.zeros((*self.mean.shape, size), self.root.dtype)
        return full.at[:, :, rows, columns].set(self.root)

    def sample(self, key: jax.Array, count: int) -> jax.Array:
        """Draws of every input's mixture, (n, count, M)."""
        which, normal = jax.random.split(key)
        inputs, components, size = self.mean.shape
        chosen = jax.random.categorical(which, self.log_weight[:, None], shape=(inputs, count))
        one_hot = jax.nn.one_hot(chosen, components, dtype=self.mean.dtype)
        z = jax.random.normal(normal, (inputs, count, size), self.mean.dtype)
        # θ − μ = R⁻ᵀ z has covariance (R Rᵀ)⁻¹.
        upper = jnp.swapaxes(self.precision_root(), 2, 3)
        identity = jnp.broadcast_to(jnp.eye(size, dtype=z.dtype), upper.shape)
        inverse = jax.scipy.linalg.solve_triangular(upper, identity, lower=False)
        step = jnp.einsum("nck,nkij,ncj->nci", one_hot, inverse, z)
        return jnp.einsum("nck,nki->nci", one_hot, self.mean) + step


def _places(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the packed entries of R."""
    below = np.tril_indices(size, k=-1)
    rows, columns = (np.concatenate([np.arange(size), part]) for part in below)
    return rows, columns


def output_count(components: int, dimension: int) -> int:
    """How many numbers describe a mixture."""
    return components * (1 + dimension + dimension * (dimension + 1) // 2)


def mixture(outputs: jax.Array, components: int, dimension: int) -> Mixture:
    """Read a mixture out of a network's outputs, (n, ``output_count``).

    The outputs are the logits of the weights, means relative to the centre of the unit box, and
    the precision's roots, whose diagonals are made positive by softplus.
    """
    count = outputs.shape[0]
    logits, mean, root = jnp.split(outputs, [components, components * (1 + dimension)], axis=1)
    root = root.reshape(count, components, -1)
    diagonal = jax.nn.softplus(root[..., :dimension]) + 1e-3
    return Mixture(
        jax.nn.log_softmax(logits, axis=1),
        0.5 + mean.reshape(count, components, dimension),
        jnp.concatenate([diagonal, root[..., dimension:]], axis=2),
    )
