"""Draws of a conditioned density within the limits."""

from typing import NamedTuple

import jax
import numpy as np

from pdsim.inference.bayessim.mixture import Mixture


class Draws(NamedTuple):
    """Draws and how they came about.

    Attributes:
        coordinates: (draw, M), inside the box.
        outside: how far each was outside before it was moved to the limits; 0 for those accepted.
        rejected: draws thrown away.
    """

    coordinates: np.ndarray
    outside: np.ndarray
    rejected: int


def draw_inside(density: Mixture, count: int, max_tries: int, seed: int) -> Draws:
    """Draw from the first input's mixture, rejecting what lies outside the unit box.

    After ``max_tries · count`` draws those still missing are taken from outside and moved to the
    nearest limits, so that a density that misses the box is seen and not waited for.
    """
    key = jax.random.key(seed)
    accepted = np.empty((0, density.mean.shape[-1]))
    rejected = 0
    batch = np.asarray(density.sample(key, count)[0], float)
    for attempt in range(1, max_tries + 1):
        inside = ((batch >= 0) & (batch <= 1)).all(axis=1)
        accepted = np.concatenate([accepted, batch[inside]])
        rejected += int((~inside).sum())
        if len(accepted) >= count or attempt == max_tries:
            break
        batch = np.asarray(density.sample(jax.random.fold_in(key, attempt), count)[0], float)
    missing = max(count - len(accepted), 0)
    strays = batch[~((batch >= 0) & (batch <= 1)).all(axis=1)][:missing]
    moved = np.clip(strays, 0.0, 1.0)
    outside = np.concatenate(
        [np.zeros(count - missing), np.abs(strays - moved).max(axis=1, initial=0.0)]
    )
    return Draws(np.concatenate([accepted[:count], moved]), outside, rejected)
