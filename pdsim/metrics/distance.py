"""Distances between many long vectors, by matrix products."""

import numpy as np


def squared_distances(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Squared Euclidean distances (n, m) of rows of x (n, d) and y (m, d).

    By ‖x‖² + ‖y‖² − 2 x·y about the common mean; a distance much shorter than the vectors loses
    digits, and one below 10⁻⁷ of them is noise.
    """
    centre = y.mean(axis=0)
    x, y = x - centre, y - centre
    square = (x * x).sum(axis=1)[:, None] + (y * y).sum(axis=1) - 2 * (x @ y.T)
    return np.maximum(square, 0.0)


def nearest_distance(x: np.ndarray, y: np.ndarray, k: int, *, same: bool = False) -> np.ndarray:
    """Distance of each row of x (n, d) to its k-th nearest row of y (m, d), to full precision.

    Args:
        k: 1 for the nearest.
        same: x and y are one set, and no row is its own neighbour.
    """
    square = squared_distances(x, y)
    if same:
        np.fill_diagonal(square, np.inf)
    # A few more candidates than needed, so that rounding cannot hide the right one.
    count = min(k + 5, square.shape[1])
    near = np.argpartition(square, count - 1, axis=1)[:, :count]
    exact = np.stack([np.linalg.norm(x - y[near[:, i]], axis=1) for i in range(count)], axis=1)
    if same:
        exact[near == np.arange(len(x))[:, None]] = np.inf
    return np.partition(exact, k - 1, axis=1)[:, k - 1]
