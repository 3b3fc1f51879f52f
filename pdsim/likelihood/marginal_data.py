"""From trajectories to the problem of marginal shooting: windows, gaps, starts and guesses."""

import jax.numpy as jnp
import numpy as np
import xarray as xr

from pdsim.likelihood.marginal import MarginalProblem
from pdsim.likelihood.momenta import sizes
from pdsim.likelihood.noise import NoiseModel, state_scale
from pdsim.likelihood.shooting import active_frames, by_column, guessed_states, subtracts
from pdsim.recordings.trajectories import inputs_of, window_length, windows
from pdsim.runtime.errors import PdsimError
from pdsim.systems.simulator import Simulator


def marginal_problem(
    simulator: Simulator,
    trajectories: xr.Dataset,
    noise: NoiseModel,
    *,
    start_deviation: float,
    window_count: int,
    combination: str,
    iterations: int,
    dtype=np.float64,
) -> MarginalProblem:
    """Build the problem from training trajectories.

    Args:
        trajectories: layout of ``pdsim.recordings.trajectories``.
        start_deviation: of the first state's prior, over that of its estimate.
        window_count: windows of the longest recording; process noise acts between them.
        combination: "sum" or "product".
        iterations: Gauss–Newton steps of an evaluation.
        dtype: of every array of the problem.

    Raises:
        PdsimError: states of this system cannot be subtracted.
    """
    if not subtracts(simulator.system):
        raise PdsimError(
            f"marginal shooting: states of {simulator.system.name} cannot be subtracted, so its "
            "windows cannot be linearised; choose single shooting"
        )
    return windowed_problem(
        simulator,
        trajectories,
        noise,
        length=window_length(trajectories.sizes["time"], window_count),
        start_deviation=start_deviation,
        combination=combination,
        iterations=iterations,
        dtype=dtype,
    )


def windowed_problem(
    simulator: Simulator,
    trajectories: xr.Dataset,
    noise: NoiseModel,
    *,
    length: int,
    start_deviation: float,
    combination: str,
    iterations: int,
    dtype=np.float64,
) -> MarginalProblem:
    """Build the problem of any trajectories, with windows of ``length`` frames.

    Arguments but ``length`` as of ``marginal_problem``.
    """
    observed = trajectories["observed"].values[..., list(noise.channels)]
    window_count = -(-(observed.shape[1] - 1) // length)
    targets = windows(observed[:, 1:], length, window_count, np.nan)
    seen = np.isfinite(targets)
    first = length * np.arange(window_count)
    frame_time = float(trajectories.attrs["frame_time"])
    scale = state_scale(trajectories)
    of_momenta = sizes(simulator, trajectories["start"].values) if noise.of_momenta else 1.0
    between = np.array([parameter.median for parameter in noise.varying])
    behind = len(between)
    covariance = start_deviation**2 * trajectories["start_covariance"].values
    return MarginalProblem(
        targets=by_column(np.nan_to_num(targets), dtype),
        seen=by_column(seen, dtype),
        counts=jnp.asarray(seen.sum(axis=(0, 2)), dtype),
        inputs=by_column(windows(inputs_of(trajectories), length, window_count, 0.0), dtype),
        first_time=jnp.asarray(first * frame_time, dtype),
        start=jnp.asarray(_widened(trajectories["start"].values, behind, 1), dtype),
        start_covariance=jnp.asarray(_widened(covariance, behind, 2), dtype),
        guesses=jnp.asarray(_widened(guessed_states(trajectories, first), behind, 1), dtype),
        active=active_frames(trajectories, length, window_count),
        state_scale=jnp.asarray(np.concatenate([scale, between]), dtype),
        noise_scale=jnp.asarray(np.concatenate([scale * of_momenta, between]), dtype),
        simulator=simulator,
        noise=noise,
        combination=combination,
        frame_time=frame_time,
        iterations=iterations,
    )


def _widened(values: np.ndarray, count: int, axes: int) -> np.ndarray:
    """With ``count`` zeros behind each of the last axes."""
    return np.pad(values, [(0, 0)] * (values.ndim - axes) + [(0, count)] * axes)
