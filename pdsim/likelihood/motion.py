"""What roll-outs of shooting windows say: products over frames, gaps, slopes of ends."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from pdsim.likelihood.noise_slopes import Channels
from pdsim.likelihood.smoother import Sensitivity, Windows


class Motion(NamedTuple):
    """All windows rolled out from their starts, with (trajectory, particle) behind.

    Attributes:
        rows: residuals and their tangents, (1 + T, channel, frame, window, …).
            Tangents are the parameters', if there are any, and then those of the S states.
        products: of rows with one another, summed over frames, (window, channel, 1 + T, 1 + T, …).
        gaps: from the end of a window to the start of the next, (window − 1, S, …).
        ends: tangents of the ends, (window − 1, S, T, …).
    """

    rows: jax.Array
    products: jax.Array
    gaps: jax.Array
    ends: jax.Array

    @property
    def channels(self) -> Channels:
        """What the windows' starts move, by channel."""
        size = self.gaps.shape[1]
        states = self.products[:, :, -size:]
        return Channels(self.products[:, :, 0, 0], states[:, :, :, 0], states[:, :, :, -size:])

    def windows(self, precision: jax.Array) -> Windows:
        """Windows as the filter takes them; ``precision`` is σ⁻², (channel, particle)."""
        size = self.gaps.shape[1]
        return Windows(
            *(_weighed(x, precision) for x in self.channels), self.gaps, self.ends[:, :, -size:]
        )

    def sensitivity(self, precision: jax.Array) -> Sensitivity:
        """What the parameters' tangents add."""
        size = self.gaps.shape[1]
        products = _weighed(self.products[:, :, 1:, 1:-size], precision)
        return Sensitivity(
            mixed=products[:, -size:], information=products[:, :-size], ends=self.ends[:, :, :-size]
        )


def _weighed(products: jax.Array, precision: jax.Array) -> jax.Array:
    """Sum over channels of (window, channel, …, trajectory, particle)."""
    channels, particles = precision.shape
    shape = (channels, *[1] * (products.ndim - 3), particles)
    return (precision.reshape(shape) * products).sum(axis=1)
