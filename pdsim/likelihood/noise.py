"""The standard deviations of the observation model (Eq. 2)."""

import numpy as np
import xarray as xr

from pdsim.likelihood.config import LikelihoodConfig
from pdsim.trajectories import select


def channel_spread(trajectories: xr.Dataset) -> np.ndarray:
    """Standard deviation of each channel over time, averaged over the training set, (channel,)."""
    observed = select(trajectories, "train")["observed"].values
    return np.nanmean(np.nanstd(observed, axis=1), axis=0)


def channel_noise(likelihood: LikelihoodConfig, trajectories: xr.Dataset) -> np.ndarray:
    """Standard deviation of each channel's observations (channel,), in the channel's unit.

    Either stated by channel, or a fraction of the channel's spread in the training set: the
    noise then stands for model and start-state error as well, which grow with the motion.
    """
    if likelihood.noise is not None:
        names = trajectories["channel"].values
        return np.array([likelihood.noise[str(name)] for name in names])
    assert likelihood.noise_relative is not None
    return likelihood.noise_relative * channel_spread(trajectories)
