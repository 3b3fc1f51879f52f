"""What roll-outs of shooting windows say: products over frames, gaps, slopes of ends."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from pdsim.likelihood.noise import Deviations
from pdsim.likelihood.smoother import Sensitivity, Windows


class Motion(NamedTuple):
    """All windows rolled out from their starts, (particle, trajectory, window) in front.

    Attributes:
        products: Σ over frames of the residual and its tangents with one another, by channel:
            (…, channel, 1 + T, 1 + T). Tangents are the parameters', if there are any, and then
            those of the S states.
        gaps: from the end of a window to the start of the next, (…, S), one window fewer.
        ends: tangents of the ends, (…, S, T), one window fewer.
    """

    products: jax.Array
    gaps: jax.Array
    ends: jax.Array

    def windows(self, noise: Deviations) -> Windows:
        """Windows as the filter takes them, channels over their noise."""
        size = self.gaps.shape[-1]
        products = _weighed(self.products, noise)
        return Windows(
            squares=products[..., 0, 0],
            slopes=products[..., 0, -size:],
            information=products[..., -size:, -size:],
            gaps=self.gaps,
            transitions=self.ends[..., -size:],
        )

    def sensitivity(self, noise: Deviations) -> Sensitivity:
        """What the parameters' tangents add."""
        size = self.gaps.shape[-1]
        products = _weighed(self.products, noise)
        return Sensitivity(
            slopes=products[..., 0, 1:-size],
            mixed=products[..., -size:, 1:-size],
            information=products[..., 1:-size, 1:-size],
            ends=self.ends[..., :-size],
        )


def _weighed(products: jax.Array, noise: Deviations) -> jax.Array:
    return jnp.einsum("pc,pnwcij->pnwij", noise.sensor**-2, products)
