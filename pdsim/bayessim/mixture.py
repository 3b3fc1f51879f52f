"""A mixture of Gaussians whose parameters are the outputs of a network (Bishop, 1994)."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

_LOG_2PI = 1.8378770664093453


class Mixture(NamedTuple):
    """Mixtures over θ in ℝ^M, one for each of n inputs.

    Attributes:
        log_weight: (n, component).
        mean: (n, component, M).
        precision_root: lower triangular R with precision R Rᵀ, (n, component, M, M).
    """

    log_weight: jax.Array
    mean: jax.Array
    precision_root: jax.Array

    def log_density(self, theta: jax.Array) -> jax.Array:
        """log q(θ | ψ) of one θ for each input, (n, M) → (n,)."""
        z = jnp.einsum("nkij,nki->nkj", self.precision_root, theta[:, None] - self.mean)
        diagonal = jnp.diagonal(self.precision_root, axis1=2, axis2=3)
        log_determinant = jnp.log(diagonal).sum(axis=-1)
        constant = -0.5 * theta.shape[1] * _LOG_2PI
        terms = self.log_weight + log_determinant + constant - 0.5 * (z**2).sum(axis=-1)
        return jax.scipy.special.logsumexp(terms, axis=1)

    def sample(self, key: jax.Array, count: int) -> jax.Array:
        """Draws of every input's mixture, (n, count, M)."""
        which, normal = jax.random.split(key)
        inputs, components, size = self.mean.shape
        chosen = jax.random.categorical(which, self.log_weight[:, None], shape=(inputs, count))
        one_hot = jax.nn.one_hot(chosen, components, dtype=self.mean.dtype)
        z = jax.random.normal(normal, (inputs, count, size), self.mean.dtype)
        # θ − μ = R⁻ᵀ z has covariance (R Rᵀ)⁻¹.
        inverse = jax.scipy.linalg.solve_triangular(
            jnp.swapaxes(self.precision_root, 2, 3),
            jnp.broadcast_to(jnp.eye(size, dtype=z.dtype), self.precision_root.shape),
            lower=False,
        )
        step = jnp.einsum("nck,nkij,ncj->nci", one_hot, inverse, z)
        return jnp.einsum("nck,nki->nci", one_hot, self.mean) + step


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
    rows, columns = jnp.tril_indices(dimension)
    root = root.reshape(count, components, -1)
    root = jnp.where(rows == columns, jax.nn.softplus(root) + 1e-3, root)
    full = jnp.zeros((count, components, dimension, dimension), outputs.dtype)
    return Mixture(
        jax.nn.log_softmax(logits, axis=1),
        0.5 + mean.reshape(count, components, dimension),
        full.at[:, :, rows, columns].set(root),
    )
