"""Which of several alike bodies is which: draws by the way they name them.

To swap alike bodies changes nothing of the motion, so a posterior that is complete has every
labeling in equal shares.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations

import jax
import numpy as np
import xarray as xr

from pdsim.parameters import ParameterSpace
from pdsim.trajectories import known_truth


def labelings(draws: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Share of draws for each way to name the bodies, (permutation,).

    A draw is of the permutation of the places that it is nearest to.

    Args:
        draws: (draw, body, 2).
        places: (body, 2) to compare with: the truth.

    Returns:
        One share for each of ``itertools.permutations(range(body))``.
    """
    orders = list(permutations(range(len(places))))
    distance = [((draws - places[list(order)]) ** 2).sum(axis=(1, 2)) for order in orders]
    counts = np.bincount(np.argmin(distance, axis=0), minlength=len(orders))
    return counts / max(len(draws), 1)


def true_places(
    trajectories: xr.Dataset, space: ParameterSpace, pairs: Sequence[Sequence[str]]
) -> np.ndarray | None:
    """Where the bodies are, (body, 2), whether or not other true parameters are known."""
    if not pairs:
        return None
    places = [space.parameters[space.names.index(name)] for pair in pairs for name in pair]
    truth = known_truth(trajectories, ParameterSpace(tuple(places)))
    return None if truth is None else truth.reshape(len(pairs), 2)


def every_labeling(
    coordinates: jax.Array, pairs: Sequence[Sequence[str]], space: ParameterSpace, seed: int
) -> jax.Array:
    """Draws of one mode with their bodies named anew: of all modes that are its mirror images.

    Every labeling is as frequent as the others, to within one draw. Where limits or priors of the
    bodies differ, or one prior joins them, the modes need not be alike, and draws stay as they are.

    Args:
        coordinates: unit coordinates (draw, M).
        pairs: parameters of each body.
        seed: of which draw has which labeling.
    """
    if not pairs:
        return coordinates
    columns = np.array([[space.names.index(name) for name in pair] for pair in pairs])
    joined = () if space.joint is None else space.joint.names
    for column in columns.T:
        kinds = {replace(space.parameters[i], name="", sets=(), label="") for i in column}
        if len(kinds) > 1 or any(space.names[i] in joined for i in column):
            return coordinates
    orders = np.array(list(permutations(range(len(pairs)))))
    random = np.random.default_rng(seed)
    chosen = random.permutation(np.resize(random.permutation(len(orders)), len(coordinates)))
    bodies = np.asarray(coordinates)[:, columns]
    return coordinates.at[:, columns].set(
        np.take_along_axis(bodies, orders[chosen][..., None], axis=1)
    )


def named_alike(
    draws: np.ndarray,
    pairs: Sequence[Sequence[str]],
    space: ParameterSpace,
    places: np.ndarray | None = None,
) -> np.ndarray:
    """Draws (draw, M) with the bodies of each named as those of the others, or of the truth.

    Each is named so that its bodies are nearest to the places of these names: the true ones or,
    where they are not known, first those of the first draw and then the means found with them.
    """
    if not pairs or not len(draws):
        return draws
    columns = np.array([[space.names.index(name) for name in pair] for pair in pairs])
    bodies = draws[:, columns]
    orders = np.array(list(permutations(range(len(pairs)))))
    every = bodies[:, orders]

    def nearest(near: np.ndarray) -> np.ndarray:
        chosen = ((every - near) ** 2).sum(axis=(2, 3)).argmin(axis=1)
        return every[np.arange(len(draws)), chosen]

    found = draws.copy()
    found[:, columns] = (
        nearest(nearest(bodies[0]).mean(axis=0)) if places is None else nearest(places)
    )
    return found


def remark(shares: np.ndarray) -> str:
    """Say how the draws are spread over the labelings."""
    percent = " / ".join(f"{100 * share:.0f}" for share in shares) + " %"
    lost = int((shares == 0).sum())
    return f"labelings {percent}" + (f", {lost} lost" if lost else "")
