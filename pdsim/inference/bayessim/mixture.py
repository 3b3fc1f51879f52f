"""A mixture of Gaussians whose parameters are the outputs of a network (Bishop, 1994)."""

from functools import partial
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


class _Columns(NamedTuple):
    """What the outputs of a network say of mixtures, an input in each column.

    Attributes:
        logit: of the weights, (component, n).
        mean: (component, M, n).
        raw: what the diagonal of R is made of, (component, M, n).
        below: rows of R below its diagonal, from the second on, (component, row, n) each.
    """

    logit: jax.Array
    mean: jax.Array
    raw: jax.Array
    below: list[jax.Array]

    @property
    def diagonal(self) -> jax.Array:
        return jax.nn.softplus(self.raw) + 1e-3


def _columns(outputs: jax.Array, components: int, dimension: int) -> _Columns:
    count = outputs.shape[1]
    logit, mean, root = jnp.split(outputs, [components, components * (1 + dimension)])
    root = root.reshape(components, -1, count)
    ends = np.cumsum(np.arange(dimension)) + dimension
    raw, *below = jnp.split(root, ends[:-1], axis=1)
    return _Columns(logit, 0.5 + mean.reshape(components, dimension, count), raw, below)


def mixture(outputs: jax.Array, components: int, dimension: int) -> Mixture:
    """Read mixtures out of a network's outputs, (``output_count``, n).

    The outputs are the logits of the weights, means relative to the centre of the unit box, and
    the precision's roots, whose diagonals are made positive by softplus.
    """
    columns = _columns(outputs, components, dimension)
    root = jnp.concatenate([columns.diagonal, *columns.below], axis=1)
    return Mixture(
        jax.nn.log_softmax(columns.logit, axis=0).T,
        jnp.moveaxis(columns.mean, 2, 0),
        jnp.moveaxis(root, 2, 0),
    )


class _Terms(NamedTuple):
    """log q(θ | ψ) and what its slope needs.

    Attributes:
        columns: what the outputs say.
        difference: θ − μ, (component, M, n).
        z: Rᵀ (θ − μ), (component, M, n).
        each: log of what each component adds, without the constant (component, n).
        total: log of their sum, (n,).
    """

    columns: _Columns
    difference: jax.Array
    z: jax.Array
    each: jax.Array
    total: jax.Array


def _terms(outputs: jax.Array, theta: jax.Array, components: int) -> _Terms:
    columns = _columns(outputs, components, len(theta))
    diagonal, difference = columns.diagonal, theta - columns.mean
    z = jnp.stack(
        [
            diagonal[:, j] * difference[:, j]
            + sum(row[:, j] * difference[:, row.shape[1]] for row in columns.below[j:])
            for j in range(len(theta))
        ],
        axis=1,
    )
    log_determinant = jnp.log(diagonal).sum(axis=1)
    log_weight = jax.nn.log_softmax(columns.logit, axis=0)
    each = log_weight + log_determinant - 0.5 * (z**2).sum(axis=1)
    return _Terms(columns, difference, z, each, jax.scipy.special.logsumexp(each, axis=0))


@partial(jax.custom_vjp, nondiff_argnums=(2,))
def log_density(outputs: jax.Array, theta: jax.Array, components: int) -> jax.Array:
    """log q(θ | ψ) of one θ for each input, by what ``mixture`` reads out of a network's outputs.

    Inputs are columns, so that compiled loops run along them. The slope is written out: with r_k
    the share of component k in q, z = Rᵀ (θ − μ) and w = softmax of the logits it is r − w in the
    logits, r_k R z in the means, −r_k (θ − μ)_i z_j in R_ij below the diagonal and
    r_k (1/R_jj − (θ − μ)_j z_j) on it.

    Args:
        outputs: (``output_count``, n).
        theta: (M, n).

    Returns:
        (n,).
    """
    return _terms(outputs, theta, components).total - 0.5 * len(theta) * _LOG_2PI


def _forward(outputs, theta, components):
    terms = _terms(outputs, theta, components)
    return terms.total - 0.5 * len(theta) * _LOG_2PI, terms


def _backward(components, terms: _Terms, slope):
    del components
    columns, difference, z, each, total = terms
    diagonal, count = columns.diagonal, len(slope)
    share = jnp.exp(each - total) * slope
    in_logit = share - jax.nn.softmax(columns.logit, axis=0) * slope
    share = share[:, None]
    product = jnp.stack(
        [
            diagonal[:, i] * z[:, i] + (columns.below[i - 1] * z[:, :i]).sum(axis=1)
            if i
            else diagonal[:, 0] * z[:, 0]
            for i in range(z.shape[1])
        ],
        axis=1,
    )
    in_mean = share * product
    in_diagonal = share * (1 / diagonal - difference * z) * jax.nn.sigmoid(columns.raw)
    shared = -share * z
    in_below = [shared[:, :i] * difference[:, i : i + 1] for i in range(1, z.shape[1])]
    in_root = jnp.concatenate([in_diagonal, *in_below], axis=1)
    parts = (in_logit, in_mean.reshape(-1, count), in_root.reshape(-1, count))
    return jnp.concatenate(parts), -in_mean.sum(axis=0)


log_density.defvjp(_forward, _backward)
