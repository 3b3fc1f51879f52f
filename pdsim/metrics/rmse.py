"""Root-mean-square position error from matched start states."""

from collections.abc import Callable

import numpy as np

from pdsim.metrics.metric import Evidence, Metric
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


def geometric_mean(values: np.ndarray) -> np.ndarray:
    """exp(mean(log x)): two runs' are in the ratio that their values are in, in the mean."""
    with np.errstate(divide="ignore"):
        return np.exp(np.log(values).mean())


def rmse(
    observed: np.ndarray, simulated: np.ndarray, middle: Callable[..., np.ndarray] = np.median
) -> Score:
    """Median (or another middle) over trajectories of ``trajectory_rmse``."""
    values = trajectory_rmse(observed, simulated)
    if np.isnan(values).any():
        return undefined("no draw has a finite roll-out for some trajectory")
    return Score(float(middle(values)))


def rmse_of_median(
    observed: np.ndarray, simulated: np.ndarray, middle: Callable[..., np.ndarray] = np.median
) -> Score:
    """Median (or another middle) over trajectories of the error of the predictive median.

    The prediction is the median over the draws, frame by frame and channel by channel. Draws that
    scatter about the truth do not add to its error, as they do to that of all draws.

    Args:
        observed, simulated: as of ``trajectory_rmse``.
        middle: of the trajectories' errors.
    """
    whole = np.isfinite(simulated).all(axis=(2, 3), keepdims=True)
    if not whole.any(axis=1).all():
        return undefined("no draw has a finite roll-out for some trajectory")
    predicted = np.nanmedian(np.where(whole, simulated, np.nan), axis=1, keepdims=True)
    return rmse(observed, predicted, middle)


def _of(
    evidence: Evidence, simulated: np.ndarray, chosen: np.ndarray, error: Callable = rmse
) -> Score:
    """An error of the chosen trajectories' position channels."""
    position, scale = evidence.position, evidence.error_scale
    observed = evidence.observed[chosen][..., position] / scale
    return error(observed, simulated[chosen][..., position] / scale)


def _fitted(evidence: Evidence, chosen: np.ndarray) -> Score | None:
    if evidence.fitted is None:
        return None
    return _of(evidence, evidence.fitted[:, None], chosen)


METRICS = (
    Metric(
        "rmse_median",
        "RMSE of the median, held-out [{unit}]",
        lambda e: _of(e, e.simulated, e.test, rmse_of_median),
        "low",
        held_out=True,
    ),
    Metric(
        "rmse",
        "RMSE held-out [{unit}]",
        lambda e: _of(e, e.simulated, e.test),
        "low",
        held_out=True,
    ),
    Metric(
        "rmse_train",
        "RMSE training [{unit}]",
        lambda e: None if e.fitted is None else _of(e, e.simulated, ~e.test),
        "low",
    ),
    Metric("rmse_fitted_start", "", lambda e: _fitted(e, e.test), held_out=True),
    Metric("rmse_train_fitted_start", "", lambda e: _fitted(e, ~e.test)),
)
