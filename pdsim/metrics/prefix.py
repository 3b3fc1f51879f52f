"""Predictions of held-out recordings after their first frames, against what came.

The band of observations holds sensor noise, process noise and the start's uncertainty: draws of a
right posterior cover its level. Only channels that were measured are compared.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import xarray as xr

from pdsim.likelihood.noise import channel_spread
from pdsim.metrics.energy_score import energy_score
from pdsim.metrics.metric import Evidence, Metric
from pdsim.metrics.rmse import geometric_mean, rmse_of_median
from pdsim.metrics.score import Score, undefined
from pdsim.recordings.trajectories import is_test

# Sets of recordings drawn with replacement.
_RESAMPLES = 4000


def band(draws: np.ndarray, level: float) -> np.ndarray:
    """Limits (2, …) of the central band of draws (draw, …).

    At places (n + 1) p among n ordered draws: one more draw of the same distribution falls between
    two of them with probability ``level`` however few there are.
    """
    tail = (1 - level) / 2
    return np.quantile(draws, [tail, 1 - tail], axis=0, method="weibull")


def band_coverage(observed: np.ndarray, simulated: np.ndarray, level: float) -> Score:
    """Share of the samples observed that are in the central band of the draws.

    Args:
        observed: (trajectory, time, channel), NaN where nothing counts.
        simulated: (trajectory, draw, time, channel); roll-outs that are not finite are left out.
    """
    shares = inside_by_recording(observed, simulated, level)
    if isinstance(shares, Score):
        return shares
    inside, count = shares.sum(axis=0)
    return Score(float(inside / count)) if count else undefined("nothing was observed")


def inside_by_recording(
    observed: np.ndarray, simulated: np.ndarray, level: float
) -> np.ndarray | Score:
    """Samples inside the central band and all samples of each trajectory, (trajectory, 2).

    An undefined score where a trajectory has no finite roll-out.

    Args:
        observed, simulated: as of ``band_coverage``.
    """
    found = []
    for y, draws in zip(observed, simulated, strict=True):
        kept = draws[np.isfinite(draws).all(axis=(1, 2))]
        if len(kept) == 0:
            return undefined("no draw has a finite roll-out for some trajectory")
        low, high = band(kept, level)
        seen = np.isfinite(y)
        found.append((((y >= low) & (y <= high))[seen].sum(), seen.sum()))
    return np.array(found)


def coverage_interval(
    observed: np.ndarray, simulated: np.ndarray, level: float, at: float
) -> Score:
    """Quantile ``at`` of the coverage, were the recordings others like these.

    Frames of a recording depend on one another, recordings do not: whole recordings are drawn with
    replacement (bootstrap; Efron, 1979), the same ones in every call.

    Args:
        observed, simulated: as of ``band_coverage``.
    """
    shares = inside_by_recording(observed, simulated, level)
    if isinstance(shares, Score):
        return shares
    shares = shares[shares[:, 1] > 0]
    if len(shares) < 3:
        return undefined("fewer than three recordings")
    drawn = np.random.default_rng(0).integers(len(shares), size=(_RESAMPLES, len(shares)))
    inside, count = shares[drawn].sum(axis=1).T
    return Score(float(np.quantile(inside / count, at)))


def crps(observed: np.ndarray, simulated: np.ndarray) -> Score:
    """Continuous ranked probability score, mean over samples: E|X − y| − ½ E|X − X'|.

    The energy score of each sample by itself (Gneiting and Raftery, 2007).

    Args:
        observed, simulated: as of ``band_coverage``, scaled channels.
    """
    total, count = 0.0, 0
    for y, draws in zip(observed, simulated, strict=True):
        kept = draws[np.isfinite(draws).all(axis=(1, 2))]
        n, seen = len(kept), np.isfinite(y)
        if n == 0:
            return undefined("no draw has a finite roll-out for some trajectory")
        x = np.sort(kept[:, seen], axis=0)
        # Of n² ordered pairs, the k-th smallest draw is the larger one in 2k − 1 − n more than not.
        spread = 2 * ((2 * np.arange(1, n + 1) - 1 - n) @ x) / n**2
        total += float((np.abs(x - y[seen]).mean(axis=0) - 0.5 * spread).sum())
        count += int(seen.sum())
    return Score(total / count) if count else undefined("nothing was observed")


def ranks(observed: np.ndarray, simulated: np.ndarray) -> np.ndarray:
    """Probability integral transform: place of each sample among the draws, over their number.

    (r + u)/(n + 1), with r of n draws below the sample and u uniform, is uniform on [0, 1] if the
    sample is one more draw of the same distribution. The u are the same in every call.

    Args:
        observed, simulated: as of ``band_coverage``.

    Returns:
        (trajectory, time, channel), NaN where nothing was observed or no roll-out is finite.
    """
    whole = np.isfinite(simulated).all(axis=(2, 3))
    below = (simulated < observed[:, None]) & whole[..., None, None]
    uniform = np.random.default_rng(0).uniform(size=observed.shape)
    count = whole.sum(axis=1)[:, None, None]
    place = (below.sum(axis=1) + uniform) / (count + 1)
    return np.where(np.isfinite(observed) & (count > 0), place, np.nan)


def thirds_of(data: xr.Dataset, prediction: xr.Dataset) -> np.ndarray:
    """Third of its recording's horizon (0, 1, 2) in which each frame is, (trajectory, frame).

    3 and more is beyond a recording's end.
    """
    horizon = data["length"].values[is_test(data)] - prediction.attrs["prefix"]
    return 3 * np.arange(prediction.sizes["time"]) // horizon[:, None]


def _came(data: xr.Dataset, prediction: xr.Dataset) -> np.ndarray:
    """What was observed of every channel beyond the prefix, (trajectory, frame, channel)."""
    first = int(prediction.attrs["prefix"])
    frames = slice(first, first + prediction.sizes["time"])
    return data["observed"].values[is_test(data), frames]


class Observations(NamedTuple):
    """Measured channels of held-out recordings beyond the prefix.

    Attributes:
        came: (trajectory, frame, measured).
        predicted: (trajectory, draw, frame, measured), with sensor noise.
        spread: (measured,) of each channel.
    """

    came: np.ndarray
    predicted: np.ndarray
    spread: np.ndarray

    @classmethod
    def of(cls, data: xr.Dataset, prediction: xr.Dataset) -> "Observations":
        names = data["channel"].values.tolist()
        columns = [names.index(name) for name in prediction["measured"].values]
        predicted = prediction["predicted_observation"].values.astype(np.float64)
        return cls(_came(data, prediction)[..., columns], predicted, channel_spread(data)[columns])

    @property
    def scaled(self) -> tuple[np.ndarray, np.ndarray]:
        """What came and what was predicted, over the spread."""
        return self.came / self.spread, self.predicted / self.spread


def _coverage(
    evidence: Evidence, prediction: xr.Dataset, level: float, third: int | None = None
) -> Score:
    came, predicted, _ = Observations.of(evidence.data, prediction)
    if third is not None:
        inside = thirds_of(evidence.data, prediction) == third
        came = np.where(inside[..., None], came, np.nan)
    return band_coverage(came, predicted, level)


def _interval(evidence: Evidence, prediction: xr.Dataset, at: float) -> Score:
    came, predicted, _ = Observations.of(evidence.data, prediction)
    return coverage_interval(came, predicted, 0.9, at)


def _error(
    evidence: Evidence, prediction: xr.Dataset, middle: Callable[..., np.ndarray] = np.median
) -> Score:
    position, scale = evidence.position, evidence.error_scale
    predicted = prediction["predicted"].values[..., position].astype(np.float64)
    came = _came(evidence.data, prediction)[..., position]
    return rmse_of_median(came / scale, predicted / scale, middle)


def _crps(evidence: Evidence, prediction: xr.Dataset) -> Score:
    return crps(*Observations.of(evidence.data, prediction).scaled)


def _energy(evidence: Evidence, prediction: xr.Dataset) -> Score:
    return energy_score(*Observations.of(evidence.data, prediction).scaled)


def _lost(evidence: Evidence, prediction: xr.Dataset) -> Score:
    """Predictions that are not finite."""
    del evidence
    whole = np.isfinite(prediction["predicted"].values).all(axis=(2, 3))
    return Score(float((~whole).sum()))


def _entry(key: str, heading: str, compute: Callable[..., Score], best: str = "") -> Metric:
    """A metric of predictions, which only experiments with a section ``prediction`` have."""

    def where_predicted(evidence: Evidence) -> Score | None:
        prediction = evidence.prediction
        return None if prediction is None else compute(evidence, prediction)

    return Metric(f"prefix_{key}", heading, where_predicted, best)


METRICS = (
    _entry("crps", "CRPS from the prefix [-]", _crps, "low"),
    _entry("energy_score", "energy score from the prefix [-]", _energy, "low"),
    _entry("rmse_median", "RMSE of the median from the prefix [{unit}]", _error, "low"),
    _entry("rmse_geometric", "", partial(_error, middle=geometric_mean)),
    _entry(
        "coverage_50", "coverage of 50 % band from the prefix [-]", partial(_coverage, level=0.5)
    ),
    _entry(
        "coverage_90", "coverage of 90 % band from the prefix [-]", partial(_coverage, level=0.9)
    ),
    *(
        _entry(f"coverage_90_{name}", "", partial(_coverage, level=0.9, third=third))
        for third, name in enumerate(("first", "second", "third"))
    ),
    *(
        _entry(f"coverage_90_{name}", "", partial(_interval, at=at))
        for name, at in (("low", 0.025), ("high", 0.975))
    ),
    _entry("lost_rollouts", "", _lost),
)
