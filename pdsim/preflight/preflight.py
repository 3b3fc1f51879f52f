"""Step against noise, sensitivities and open directions of one experiment's recordings."""

import numpy as np
import xarray as xr

from pdsim.likelihood.config import LikelihoodConfig
from pdsim.likelihood.noise import channel_noise
from pdsim.preflight.findings import Findings
from pdsim.preflight.information import PIECE, information
from pdsim.preflight.pieces import MOST, pieces
from pdsim.preflight.step_error import can_be, step_error
from pdsim.preflight.words import open_directions
from pdsim.recordings.pace import suspicion
from pdsim.recordings.smoothing import white_noise
from pdsim.runtime.errors import PdsimError
from pdsim.systems.simulator import Simulator
from pdsim.systems.system import POSITIONS

# Points of the prior, at most.
_POINTS = 8
# Steps of slopes, each as long as the state, that are looked at; a long chain has few points.
_WORK = 1e7

UNKNOWN = "not known: from estimated states within the recordings the model cannot go on"


def preflight(
    simulator: Simulator, likelihood: LikelihoodConfig, train: xr.Dataset, frames: int
) -> Findings:
    """Look at a model and the trajectories that it is to learn from.

    Args:
        likelihood: a noise that it states by channel counts where more than that is not seen.
        frames: the most that a run simulates from one start.

    Raises:
        PdsimError: no position was measured, or no roll-out is finite.
    """
    columns, noise = measured_positions(train)
    if likelihood.noise is not None:
        # A recording may be exact, and the model none the worse for it.
        noise = np.maximum(noise, channel_noise(likelihood, train)[columns])
    points = spread_points(simulator, int(train.sizes["state"]))
    cut = pieces(train, frames)
    doubt = suspicion(float(train.attrs["frame_time"]))
    step = step_error(
        simulator,
        cut.starts,
        cut.inputs,
        float(train.attrs["frame_time"]),
        columns,
        noise,
        points,
    )
    matrices = information(simulator, train, columns, noise, points)
    finite = np.isfinite(matrices).all(axis=(1, 2))
    possible = can_be(simulator, points)
    if not finite.any():
        if not np.isfinite(step.ratio):
            raise PdsimError(
                f"{doubt}simulator.parameters: at no point of the limits a roll-out is finite; "
                "narrow them"
            )
        # As of closed chains, whose estimated states do not close.
        return Findings(step.ratio, {}, (UNKNOWN,), 0.0, doubt=doubt)
    matrices, points = matrices[finite], points[finite]
    alone = np.median(np.diagonal(matrices, axis1=1, axis2=2), axis=0)
    deviations = np.minimum(1 / np.sqrt(np.maximum(alone, 1e-300)), 1.0)
    return Findings(
        step.ratio,
        dict(zip(simulator.space.names, deviations.tolist(), strict=True)),
        tuple(open_directions(simulator.space, points, matrices)),
        float((possible & ~finite).mean()),
        float(1 - possible.mean()),
        doubt,
    )


def spread_points(simulator: Simulator, states: int) -> np.ndarray:
    """Unit coordinates all over the limits, (point, M), the centre first.

    Args:
        states: length of the state; the larger, the fewer points.
    """
    dimension = simulator.space.dimension
    work = simulator.substeps * (states + dimension) * states * PIECE * MOST
    count = int(np.clip(_WORK // work, 1, _POINTS))
    # The first of Sobol's points is a corner.
    return simulator.space.sobol(count + 1)[1:]


def measured_positions(train: xr.Dataset) -> tuple[list[int], np.ndarray]:
    """Channels of positions that were measured, and the white noise of each."""
    observed = train["observed"].values
    seen = np.isfinite(observed).any(axis=(0, 1)) & ~train["channel_derived"].values
    kinds = np.isin(train["channel_kind"].values, POSITIONS)
    columns = [int(i) for i in np.flatnonzero(seen & kinds)]
    if not columns:
        raise PdsimError("recording.channels: no position was measured, so nothing is compared")
    return columns, white_noise(observed[..., columns])
