"""Which of several alike bodies is which: draws by the way they name them.

To swap alike bodies changes nothing of the motion, so a posterior that is complete has every
labeling in equal shares.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations

import numpy as np

from pdsim.parameters.space import ParameterSpace


def columns_of(pairs: Sequence[Sequence[str]], names: Sequence[str]) -> np.ndarray:
    """Where the bodies' coordinates are among the parameters' names, (body, 2)."""
    return np.array([[names.index(name) for name in pair] for pair in pairs])


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


def interchangeable(pairs: Sequence[Sequence[str]], space: ParameterSpace) -> bool:
    """Whether the modes that other namings of the bodies make are as likely.

    Not where limits or priors of the bodies differ, or one prior joins them.
    """
    joined = () if space.joint is None else space.joint.names
    for column in columns_of(pairs, space.names).T if pairs else ():
        kinds = {replace(space.parameters[i], name="", sets=(), label="") for i in column}
        if len(kinds) > 1 or any(space.names[i] in joined for i in column):
            return False
    return bool(pairs)


def every_labeling(
    coordinates: np.ndarray, pairs: Sequence[Sequence[str]], space: ParameterSpace, seed: int
) -> np.ndarray:
    """Draws of one mode with their bodies named anew: of all modes that are its mirror images.

    Every labeling is as frequent as the others, to within one draw. For bodies that are
    ``interchangeable``.

    Args:
        coordinates: unit coordinates (draw, M).
        pairs: parameters of each body.
        seed: of which draw has which labeling.
    """
    columns = columns_of(pairs, space.names)
    orders = np.array(list(permutations(range(len(pairs)))))
    random = np.random.default_rng(seed)
    chosen = random.permutation(np.resize(random.permutation(len(orders)), len(coordinates)))
    found = np.array(coordinates)
    found[:, columns] = np.take_along_axis(found[:, columns], orders[chosen][..., None], axis=1)
    return found


def named_alike(
    draws: np.ndarray,
    pairs: Sequence[Sequence[str]],
    names: Sequence[str],
    places: np.ndarray | None = None,
) -> np.ndarray:
    """Draws (draw, M) with the bodies of each named as those of the others, or of the truth.

    Each is named so that its bodies are nearest to the places of these names: the true ones or,
    where they are not known, first those of the first draw and then the means found with them.
    """
    if not pairs or not len(draws):
        return draws
    columns = columns_of(pairs, names)
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
