"""A trained density read from its file, and conditioned on statistics."""

import jax.numpy as jnp
import numpy as np

from pdsim.inference.bayessim.config import DensityConfig
from pdsim.inference.bayessim.density import density, from_arrays
from pdsim.inference.bayessim.mixture import Mixture
from pdsim.inference.bayessim.scaling import Scaling
from pdsim.runtime.files import read_dataset


def conditioned(trained: str, inputs: np.ndarray, config: DensityConfig, m: int) -> Mixture:
    """q(θ | ψ) of raw statistics (n, features).

    Args:
        trained: file of the stage ``train``.
        m: number of parameters.
    """
    scale = read_dataset(trained, "scaling")
    standardised = Scaling(scale["centre"].values, scale["width"].values)(inputs)
    arrays = read_dataset(trained, "network")
    net = from_arrays({str(name): values.values for name, values in arrays.data_vars.items()})
    return density(net, jnp.asarray(standardised), config.component_count, m)
