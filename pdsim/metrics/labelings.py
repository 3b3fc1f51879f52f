"""Which of several alike bodies is which: draws by the way they name them.

To swap alike bodies changes nothing of the motion, so a posterior that is complete has every
labeling in equal shares.
"""

from itertools import permutations

import numpy as np


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


def remark(shares: np.ndarray) -> str:
    """Say how the draws are spread over the labelings."""
    percent = " / ".join(f"{100 * share:.0f}" for share in shares) + " %"
    lost = int((shares == 0).sum())
    return f"labelings {percent}" + (f", {lost} lost" if lost else "")
