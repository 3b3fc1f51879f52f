"""Root-mean-square position error from matched start states."""

import numpy as np

from pdsim.metrics.score import Score, undefined


def trajectory_rmse(observed: np.ndarray, simulated: np.ndarray) -> np.ndarray:
    """Root mean square over draws, time and channels, one per trajectory.

    Args:
        observed: (trajectory, time, channel), position channels only.
        simulated: (trajectory, draw, time, channel); roll-outs that are not finite are left out.

    Returns:
        (trajectory,) in the channels' unit; NaN where no roll-out is finite.
    """
    whole = np.isfinite(simulated).all(axis=(2, 3))
    square = np.where(whole[..., None, None], simulated - observed[:, None], 0.0) ** 2
    count = whole.sum(axis=1)
    total = np.nanmean(square, axis=(2, 3)).sum(axis=1)
    return np.sqrt(np.divide(total, count, out=np.full(len(total), np.nan), where=count > 0))


def rmse(observed: np.ndarray, simulated: np.ndarray) -> Score:
    """Median over trajectories of ``trajectory_rmse``."""
    values = trajectory_rmse(observed, simulated)
    if np.isnan(values).any():
        return undefined("no draw has a finite roll-out for some trajectory")
    return Score(float(np.median(values)))
