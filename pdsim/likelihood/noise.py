"""The standard deviations of the observation model (Eq. 2)."""

import warnings

import numpy as np
import xarray as xr

from pdsim.likelihood.config import LikelihoodConfig
from pdsim.runtime.errors import PdsimError
from pdsim.trajectories import select


def channel_spread(trajectories: xr.Dataset) -> np.ndarray:
    """Standard deviation of each channel over time, averaged over the training set, (channel,).

    1 for a channel that was never observed: nothing is compared with it.
    """
    observed = select(trajectories, "train")["observed"].values
    with warnings.catch_warnings():
        # A channel that was not observed has no spread, which is what is asked for below.
        warnings.simplefilter("ignore", RuntimeWarning)
        spread = np.nanmean(np.nanstd(observed, axis=1), axis=0)
    return np.where(np.isfinite(spread), spread, 1.0)


def channel_noise(likelihood: LikelihoodConfig, trajectories: xr.Dataset) -> np.ndarray:
    """Standard deviation of each channel's observations (channel,), in the channel's unit.

    Either stated by channel, or a fraction of the channel's spread in the training set: the
    noise then stands for model and start-state error as well, which grow with the motion.
    """
    if likelihood.noise is not None:
        # Only channels that are not observed have no entry.
        names = trajectories["channel"].values
        return np.array([likelihood.noise.get(str(name), 1.0) for name in names])
    assert likelihood.noise_relative is not None
    spread = channel_spread(trajectories)
    if (spread == 0).any():
        name = trajectories["channel"].values[spread == 0][0]
        raise PdsimError(
            f"likelihood.noise_relative: channel {name} does not move in the training recordings, "
            "so it has no spread to take a share of; give likelihood.noise by channel"
        )
    return likelihood.noise_relative * spread
