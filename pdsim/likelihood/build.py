"""From config and trajectories to the problem of one shooting setting."""

import numpy as np
import xarray as xr

from pdsim.likelihood.config import LikelihoodConfig
from pdsim.likelihood.marginal import MarginalProblem
from pdsim.likelihood.marginal_data import marginal_problem
from pdsim.likelihood.noise import channel_noise, noise_model
from pdsim.likelihood.shooting import ShootingProblem, shooting_problem
from pdsim.recordings.trajectories import select
from pdsim.systems.simulator import Simulator


def build_problem(
    simulator: Simulator,
    likelihood: LikelihoodConfig,
    trajectories: xr.Dataset,
    shooting: str,
    precision: str,
) -> ShootingProblem | MarginalProblem:
    """Build the problem of the training trajectories."""
    if shooting == "marginal":
        train = select(trajectories, "train")
        return marginal_problem(
            simulator,
            train,
            noise_model(likelihood.marginal, simulator, train),
            start_deviation=likelihood.marginal.start,
            window_count=likelihood.window_count,
            combination=likelihood.combination,
            iterations=likelihood.marginal.iterations,
            dtype=np.dtype(precision),
        )
    return shooting_problem(
        simulator,
        select(trajectories, "train"),
        channel_noise(likelihood, trajectories),
        window_count=likelihood.window_count if shooting == "multiple" else 1,
        combination=likelihood.combination,
        dtype=np.dtype(precision),
    )
