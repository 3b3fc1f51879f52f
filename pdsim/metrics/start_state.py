"""How much of the error comes from the start state: fit it, and look at what remains."""

from collections.abc import Callable

import numpy as np
from scipy.optimize import least_squares


def fit_start_states(
    simulate: Callable[[np.ndarray], np.ndarray],
    starts: np.ndarray,
    observed: np.ndarray,
    scale: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Fit each trajectory's start state to its recording, the parameters held fixed.

    Levenberg–Marquardt from the smoothed start state, on growing shares of the window: fitted over
    the whole of a chaotic window at once it would stop in the nearest local minimum.

    Args:
        simulate: start states (n, state) → channels (time, n, channel).
        starts: (trajectory, state).
        observed: (trajectory, time, channel).
        scale: (channel,) size of one unit of residual.

    Returns:
        Fitted start states (trajectory, state), and the trajectories they give
        (trajectory, time, channel).
    """
    frames = observed.shape[1]
    # Velocities are differenced positions and add noise only.
    weight = np.where(np.arange(len(scale)) < len(scale) // 2, 1 / scale, 0.1 / scale)
    size = np.maximum(np.abs(starts).mean(axis=0), 1.0)
    fitted, results = [], []
    for start, recording in zip(starts, observed, strict=True):

        def residuals(x, length, recording=recording):
            simulated = np.asarray(simulate((x * size)[None]))[:length, 0]
            value = np.nan_to_num((simulated - recording[:length]) * weight, nan=1e3)
            return np.clip(value, -1e3, 1e3).ravel()

        def jacobian(x, length):
            step = 1e-6
            around = np.concatenate([x + step * np.eye(len(x)), x - step * np.eye(len(x))])
            simulated = np.asarray(simulate(around * size))[:length] * weight
            ahead, behind = simulated[:, : len(x)], simulated[:, len(x) :]
            slope = np.nan_to_num((ahead - behind) / (2 * step))
            return np.moveaxis(slope, 1, -1).reshape(-1, len(x))

        x = start / size
        for share in (0.25, 0.5, 0.75, 1.0):
            length = max(int(share * frames), 2)
            x = least_squares(residuals, x, jacobian, args=(length,), max_nfev=20).x
        fitted.append(x * size)
        results.append(np.asarray(simulate((x * size)[None]))[:, 0])
    return np.stack(fitted), np.stack(results)
