"""From config and trajectories to the problem of one shooting setting."""

import numpy as np
import xarray as xr

from pdsim.likelihood.config import LikelihoodConfig
from pdsim.likelihood.noise import channel_noise
from pdsim.likelihood.shooting import ShootingProblem, shooting_problem
from pdsim.systems.simulator import build_simulator
from pdsim.systems.config import SimulatorConfig
from pdsim.trajectories import select


def build_problem(
    simulator: SimulatorConfig,
    likelihood: LikelihoodConfig,
    trajectories: xr.Dataset,
    shooting: str,
    precision: str,
) -> ShootingProblem:
    """Build the problem of the training trajectories."""
    system, space = build_simulator(simulator)
    train = select(trajectories, "train")
    return shooting_problem(
        system,
        space,
        train["observed"].values,
        train["smoothed"].values,
        channel_noise(likelihood, trajectories),
        window_count=likelihood.window_count if shooting == "multiple" else 1,
        combination=likelihood.combination,
        frame_time=trajectories.attrs["frame_time"],
        substeps=simulator.substeps,
        dtype=np.dtype(precision),
    )
