"""What the training recordings could tell of the parameters, were the model exact.

A recording is cut into pieces, each with a start of its own that nobody knows. With J the slopes of
a piece's roll-out in the unit coordinates θ and S those in its start, both over the noise, what is
left of J once the start is fitted is

    R = J − S S⁺ J        F = Σ RᵀR

the Gauss–Newton matrix: 1/√λ of an eigenvalue λ is the deviation that remains along its direction,
in widths of the box. A model that is not exact tells less; what is open here stays open.
"""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from pdsim.preflight.pieces import pieces
from pdsim.systems.rollout import rollout
from pdsim.systems.simulator import Simulator

# Frames of a piece, at most.
PIECE = 60


def information(
    simulator: Simulator,
    train: xr.Dataset,
    columns: Sequence[int],
    noise: np.ndarray,
    points: np.ndarray,
) -> np.ndarray:
    """Return F of each point, (point, M, M); NaN where a roll-out is not finite.

    Args:
        train: training trajectories.
        columns: channels that are compared.
        noise: of these (column,).
        points: unit coordinates (point, M).
    """
    system, space, substeps = simulator
    form = system.forward_mode()
    cut = pieces(train, PIECE)
    starts, drives = jnp.asarray(cut.starts), jnp.asarray(cut.inputs)
    scale = jnp.asarray(np.nanstd(train["states"].values, axis=(0, 1)) + 1e-12)

    def piece(coordinates, start, drive):
        def shown(coordinates, offset):
            channels, _ = rollout(
                form,
                form.prepare(space.system_parameters(coordinates)),
                form.unpack(start + scale * offset),
                tuple(drive.T),
                frames=drive.shape[0],
                frame_time=float(train.attrs["frame_time"]),
                substeps=substeps,
            )
            return (jnp.stack([channels[i] for i in columns], axis=1) / noise).reshape(-1)

        slopes, of_start = jax.jacfwd(shown, argnums=(0, 1))(coordinates, jnp.zeros_like(start))
        axes, _ = jnp.linalg.qr(of_start)
        left = slopes - axes @ (axes.T @ slopes)
        return left.T @ left

    each = jax.vmap(piece, in_axes=(None, 0, 0))

    @jax.jit
    def at(coordinates):
        return jax.vmap(lambda one: each(one, starts, drives).sum(axis=0) / cut.share)(coordinates)

    return np.asarray(at(jnp.asarray(points)))
