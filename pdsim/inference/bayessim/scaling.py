"""Standardisation of input statistics by the training set."""

from typing import NamedTuple

import numpy as np

# Standardised inputs end here: a few simulations are orders of magnitude beyond the others.
_LIMIT = 10.0


class Scaling(NamedTuple):
    """Median and half the central 68 % of each feature, (features,).

    Mean and standard deviation would be those of the few wildest simulations.
    """

    centre: np.ndarray
    width: np.ndarray

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Standardise (n, features), float32."""
        return np.clip((x - self.centre) / self.width, -_LIMIT, _LIMIT).astype(np.float32)


def scaling(x: np.ndarray) -> Scaling:
    """Return the scaling of training statistics (n, features); constant features become 0."""
    low, centre, high = np.quantile(x, [0.16, 0.5, 0.84], axis=0)
    width = (high - low) / 2
    return Scaling(centre, np.where(width > 0, width, np.inf))
