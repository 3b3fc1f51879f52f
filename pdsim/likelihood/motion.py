"""What roll-outs of shooting windows say: products over frames, gaps, slopes of ends."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from pdsim.likelihood.noise_slopes import Channels
from pdsim.likelihood.smoother import Sensitivity, Windows


class Motion(NamedTuple):
    """All windows rolled out from their starts, with (trajectory, particle) behind.

    Attributes:
        rows: residuals and their tangents, (1 + T, channel, frame, window, …). Tangents are the
            parameters', if there are any, and then those of the S states.
        gaps: from the end of a window to the start of the next, (window − 1, S, …).
        ends: tangents of the ends, (window − 1, S, T, …).
    """

    rows: jax.Array
    gaps: jax.Array
    ends: jax.Array

    @property
    def channels(self) -> Channels:
        """What the windows' starts move, by channel."""
        size = self.gaps.shape[1]
        own = jnp.concatenate([self.rows[:1], self.rows[-size:]])
        # (window, channel, tangent, frame, …), so that products are made in their own order.
        own = jnp.moveaxis(own, (3, 1), (0, 1))
        products = (own[:, :, :, None] * own[:, :, None]).sum(axis=4)
        return Channels(products[:, :, 0, 0], products[:, :, 1:, 0], products[:, :, 1:, 1:])

    def windows(self, precision: jax.Array, kicks: jax.Array | None) -> Windows:
        """Windows as the filter takes them; ``precision`` is σ⁻², (channel, particle)."""

        def weighed(x):
            """Sum over channels of (window, channel, …, trajectory, particle)."""
            shape = (len(precision), *[1] * (x.ndim - 3), precision.shape[1])
            return (precision.reshape(shape) * x).sum(axis=1)

        squares, slopes, information = (weighed(x) for x in self.channels)
        transitions = self.ends[:, :, -self.gaps.shape[1] :]
        return Windows(squares, slopes, information, self.gaps, transitions, kicks)

    def sensitivity(self, precision: jax.Array) -> Sensitivity:
        """What the parameters' tangents add."""
        size = self.gaps.shape[1]
        own = jnp.moveaxis(self.rows[1:], 3, 0)
        parameters = own[:, :-size]
        weighed = precision[:, None, None] * own
        products = (weighed[:, :, None] * parameters[:, None]).sum(axis=(3, 4))
        return Sensitivity(
            mixed=products[:, -size:], information=products[:, :-size], ends=self.ends[:, :, :-size]
        )
