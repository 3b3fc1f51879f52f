"""How much of the error comes from the start state: fit it, and look at what remains."""

from collections.abc import Callable

import numpy as np

from pdsim.recordings.trajectories import prolonged


def fit_start_states(
    simulate: Callable[[int, np.ndarray], np.ndarray],
    starts: np.ndarray,
    observed: np.ndarray,
    scale: np.ndarray,
    position: np.ndarray,
    frames: np.ndarray,
    known: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Fit each trajectory's start state to its recording, the parameters held fixed.

    Levenberg–Marquardt from the smoothed start state, on growing shares of the window: fitted over
    the whole of a chaotic window at once it would stop in the nearest local minimum.

    Args:
        simulate: trajectory number and start states (n, state) → channels (n, frame, channel).
        starts: (trajectory, state).
        observed: (trajectory, time, channel).
        scale: (channel,) size of one unit of residual.
        position: (channel,) which are angles or positions.
        frames: (trajectory,) length of each; what ``simulate`` returns.
        known: (trajectory,) whether the start is known exactly: it stays as it is, for to fit it
            would only hide other errors.

    Returns:
        Fitted start states (trajectory, state), and the trajectories they give
        (trajectory, time, channel), the last frame of each repeated to the end.
    """
    # Imported here: most who import this module fit nothing.
    from scipy.optimize import least_squares

    # Velocities that are differenced positions add noise only.
    weight = np.where(position, 1 / scale, 0.1 / scale)
    size = np.maximum(np.abs(starts).mean(axis=0), 1.0)
    fitted, results = [], []
    for number, (start, recording) in enumerate(zip(starts, observed, strict=True)):
        recording = recording[: frames[number]]
        seen = np.isfinite(recording)
        target, weights = np.where(seen, recording, 0.0), np.where(seen, weight, 0.0)

        def residuals(x, length, number=number, target=target, weights=weights):
            simulated = simulate(number, (x * size)[None])[0, :length]
            error = np.where(weights[:length] > 0, simulated - target[:length], 0.0)
            value = np.nan_to_num(error * weights[:length], nan=1e3)
            return np.clip(value, -1e3, 1e3).ravel()

        def jacobian(x, length, number=number, weights=weights):
            step = 1e-6
            around = np.concatenate([x + step * np.eye(len(x)), x - step * np.eye(len(x))])
            simulated = simulate(number, around * size)[:, :length] * weights[:length]
            ahead, behind = simulated[: len(x)], simulated[len(x) :]
            slope = np.nan_to_num((ahead - behind) / (2 * step))
            return slope.reshape(len(x), -1).T

        x = start / size
        for share in () if known[number] else (0.25, 0.5, 0.75, 1.0):
            length = max(int(share * len(recording)), 2)
            x = least_squares(residuals, x, jacobian, args=(length,), max_nfev=20).x
        fitted.append(x * size)
        results.append(prolonged(simulate(number, (x * size)[None])[0], observed.shape[1]))
    return np.stack(fitted), np.stack(results)
