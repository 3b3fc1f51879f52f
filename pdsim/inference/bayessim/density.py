"""The density models: a network, or random features of a kernel, before a Gaussian mixture."""

import itertools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pdsim.inference.bayessim.config import DensityConfig
from pdsim.inference.bayessim.mixture import Mixture, mixture, output_count

# Matérn 5/2: the spectral density is Student's t with 2ν degrees of freedom.
_MATERN_FREEDOM = 5.0


class Layer(NamedTuple):
    """An affine map of columns (inputs, n): (inputs, outputs) and (outputs,)."""

    weight: jax.Array
    bias: jax.Array

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.weight.T @ x + self.bias[:, None]


class Network(NamedTuple):
    """What is trained, and what is fixed beforehand.

    Attributes:
        layers: trained; tanh between them.
        fixed: frequencies (inputs, features) and phases (features,) of random features; None for
            a plain network.
    """

    layers: tuple[Layer, ...]
    fixed: Layer | None


def network(
    name: str, config: DensityConfig, inputs: np.ndarray, dimension: int, seed: int
) -> Network:
    """Return an untrained network.

    Args:
        name: ``mdn``, ``mdrff_rbf`` or ``mdrff_matern52``.
        inputs: standardised training inputs (n, F); random features take their length scale from
            the median distance between them.
        dimension: M, of θ.
        seed: of weights and features.
    """
    random = np.random.default_rng(seed)
    size = inputs.shape[1]
    width = output_count(config.component_count, dimension)
    if name == "mdn":
        sizes = [size, *config.hidden, width]
        fixed = None
    else:
        features = config.feature_count
        frequencies = random.normal(size=(size, features))
        if name == "mdrff_matern52":
            # One chi-square for each frequency vector makes it multivariate t.
            frequencies *= np.sqrt(_MATERN_FREEDOM / random.chisquare(_MATERN_FREEDOM, features))
        fixed = Layer(
            jnp.asarray(frequencies / _median_distance(inputs, random), jnp.float32),
            jnp.asarray(random.uniform(0, 2 * np.pi, features), jnp.float32),
        )
        sizes = [features, width]
    layers = []
    for before, after in itertools.pairwise(sizes):
        bound = np.sqrt(3 / before)
        weight = random.uniform(-bound, bound, (before, after))
        layers.append(Layer(jnp.asarray(weight, jnp.float32), jnp.zeros(after, jnp.float32)))
    # Components start apart and as wide as a quarter of the box.
    last = layers[-1]
    bias = np.zeros(width)
    k, m = config.component_count, dimension
    bias[k : k + k * m] = random.uniform(-0.3, 0.3, k * m)
    roots = bias[k + k * m :].reshape(k, -1)
    roots[:, :m] = 4.0
    layers[-1] = Layer(0.1 * last.weight, jnp.asarray(bias, jnp.float32))
    return Network(tuple(layers), fixed)


def _median_distance(inputs: np.ndarray, random, sample: int = 500) -> float:
    chosen = inputs[random.permutation(len(inputs))[:sample]]
    squares = (chosen**2).sum(axis=1)
    distance = squares[:, None] + squares[None, :] - 2 * chosen @ chosen.T
    off_diagonal = distance[~np.eye(len(chosen), dtype=bool)]
    return max(float(np.sqrt(np.median(np.maximum(off_diagonal, 0.0)))), 1e-6)


def features(fixed: Layer | None, inputs: jax.Array) -> jax.Array:
    """What the trained layers see of standardised inputs (n, F), one row each.

    Random features of a stationary kernel, √2 cos(ωᵀψ + b) of variance one each (Rahimi and Recht,
    2007), or the inputs themselves.
    """
    return inputs if fixed is None else jnp.sqrt(2.0) * jnp.cos(fixed(inputs.T).T)


def outputs(layers: tuple[Layer, ...], features: jax.Array) -> jax.Array:
    """Return what the trained layers make of ``features`` (n, …), one column each."""
    x = features.T
    for layer in layers[:-1]:
        x = jnp.tanh(layer(x))
    return layers[-1](x)


def density(net: Network, inputs: jax.Array, components: int, dimension: int) -> Mixture:
    """q(θ | ψ) for standardised inputs (n, F)."""
    return mixture(outputs(net.layers, features(net.fixed, inputs)), components, dimension)


def as_arrays(net: Network) -> dict[str, Any]:
    """Name every array of a network, for a file."""
    arrays: dict[str, Any] = {}
    for i, layer in enumerate(net.layers):
        arrays |= {f"layer{i}_weight": layer.weight, f"layer{i}_bias": layer.bias}
    if net.fixed is not None:
        arrays |= {"frequencies": net.fixed.weight, "phases": net.fixed.bias}
    return {name: np.asarray(values) for name, values in arrays.items()}


def from_arrays(arrays) -> Network:
    """Inverse of ``as_arrays``."""
    count = sum(name.endswith("_weight") for name in arrays)
    layers = tuple(
        Layer(*(jnp.asarray(arrays[f"layer{i}_{part}"]) for part in ("weight", "bias")))
        for i in range(count)
    )
    fixed = None
    if "frequencies" in arrays:
        fixed = Layer(jnp.asarray(arrays["frequencies"]), jnp.asarray(arrays["phases"]))
    return Network(layers, fixed)
