"""A Kalman filter that takes one frame after another: the oracle of marginal shooting."""

import numpy as np
from scipy.linalg import block_diag


def kalman(observed, move, start, covariance, sigma, q, rho, *, length, frames=None, kick=None):
    """Filter a recording whose windows are pushed at their ends.

    Args:
        observed: (frame, channel), the first state variables; NaN where nothing was seen.
        move: frame → transition (S, S) and shift (S,) that lead to it.
        start, covariance: of frame 0, which is not observed.
        sigma: of each channel.
        q, rho: deviations of the push (S,), and its correlation with that of the window before.
        length: frames of a window.
        frames: how many are seen; default: all.
        kick: how a push moves the state, (S, S); default: as it is.

    Returns:
        log p, and the state's means (frame, S) and covariances (frame, S, S) from frame 1 on.
    """
    size, count = len(start), len(observed) if frames is None else frames
    stationary, nothing = np.diag(q) ** 2, np.zeros((size, size))
    # The state, and behind it the push that it gets where a window ends.
    kick = np.eye(size) if kick is None else kick
    at_end = np.block([[np.eye(size), kick], [nothing, rho * np.eye(size)]])
    fresh = block_diag(nothing, (1 - rho**2) * stationary)
    mean, covariance = np.append(start, np.zeros(size)), block_diag(covariance, stationary)
    total, means, covariances = 0.0, [], []
    for frame in range(1, len(observed)):
        transition, shift = move(frame)
        step = block_diag(transition, np.eye(size))
        mean = step @ mean + np.append(shift, np.zeros(size))
        covariance = step @ covariance @ step.T
        for channel, deviation in enumerate(sigma):
            seen = observed[frame, channel]
            if frame < count and np.isfinite(seen):
                spread = covariance[channel, channel] + deviation**2
                miss = seen - mean[channel]
                total -= 0.5 * (miss**2 / spread + np.log(2 * np.pi * spread))
                gain = covariance[:, channel] / spread
                mean = mean + gain * miss
                covariance = covariance - np.outer(gain, covariance[channel])
        means.append(mean[:size])
        covariances.append(covariance[:size, :size])
        if frame % length == 0:
            mean, covariance = at_end @ mean, at_end @ covariance @ at_end.T + fresh
    return total, np.array(means), np.array(covariances)
