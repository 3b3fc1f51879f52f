"""Distances between many long vectors, by matrix products."""

import numpy as np

# Of the vectors' squared lengths about their mean: a product loses four digits of a square below.
_CLOSE = 1e-4


def squared_distances(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Squared Euclidean distances (n, m) of rows of x (n, d) and y (m, d).

    By ‖x‖² + ‖y‖² − 2 x·y about the common mean; a distance much shorter than the vectors loses
    digits, and one below 10⁻⁷ of them is noise. Of one set with itself the product costs half.
    """
    centre, same = y.mean(axis=0), x is y
    y = y - centre
    x = y if same else x - centre
    square = (x * x).sum(axis=1)[:, None] + (y * y).sum(axis=1) - 2 * (x @ y.T)
    return np.maximum(square, 0.0)


def pair_distances(x: np.ndarray) -> np.ndarray:
    """Distances (n, n) of all pairs of rows of x (n, d), to full precision.

    Those of close pairs, equal ones among them, are taken again from their difference.
    """
    square = squared_distances(x, x)
    length = ((x - x.mean(axis=0)) ** 2).sum(axis=1)
    close = square < _CLOSE * (length[:, None] + length)
    found = np.sqrt(square)
    np.fill_diagonal(found, 0.0)
    np.fill_diagonal(close, False)
    for row in np.flatnonzero(close.any(axis=1)):
        near = close[row]
        found[row, near] = np.linalg.norm(x[near] - x[row], axis=1)
    return found


def nearest_distance(
    x: np.ndarray, y: np.ndarray, k: int, square: np.ndarray | None = None
) -> np.ndarray:
    """Distance of each row of x (n, d) to its k-th nearest row of y (m, d), to full precision.

    Of one set with itself, x is y, no row is its own neighbour.

    Args:
        k: 1 for the nearest.
        square: their ``squared_distances``, where they are known.
    """
    square, same = squared_distances(x, y) if square is None else square.copy(), x is y
    if same:
        np.fill_diagonal(square, np.inf)
    # A few more candidates than needed, so that rounding cannot hide the right one.
    count = min(k + 5, square.shape[1])
    near = np.argpartition(square, count - 1, axis=1)[:, :count]
    exact = np.stack([np.linalg.norm(x - y[near[:, i]], axis=1) for i in range(count)], axis=1)
    if same:
        exact[near == np.arange(len(x))[:, None]] = np.inf
    return np.partition(exact, k - 1, axis=1)[:, k - 1]
