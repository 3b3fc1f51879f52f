"""Simulations that a density is not trained on: one half ends its training, one half judges it."""

import numpy as np


def kept_halves(held_out: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Split the simulations kept from the training in turns.

    Training stops where the first half's loss is lowest, which flatters the density on that half;
    its calibration is looked at on the other.

    Args:
        held_out: (sample,) whether it is kept from the training.

    Returns:
        (sample,) those that end the training, and (sample,) those of the calibration.
    """
    turn = np.cumsum(held_out) % 2 == 1
    return held_out & turn, held_out & ~turn
