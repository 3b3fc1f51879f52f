"""What varies between recordings, drawn for each recording of training given what it shows."""

import jax
import jax.numpy as jnp

from pdsim.likelihood.marginal import MarginalProblem
from pdsim.likelihood.problem import Position
from pdsim.xla.blocks import in_blocks

# Draws smoothed at a time: the moments of all windows are kept until the last.
_TOGETHER = 64


@in_blocks(lambda problem: _TOGETHER)
def own_values(problem: MarginalProblem, rows: tuple[jax.Array, jax.Array]) -> jax.Array:
    """Draw each recording's values of the parameters that vary.

    The filter's state at the last window, behind which they stand, has seen all of the recording:
    θ + υ with υ ~ N(υ̂, P_υ).

    Args:
        rows: unit coordinates of draws, noise included (draw, M + K), and standard normal numbers
            (draw, trajectory, V).

    Returns:
        (draw, trajectory, V), physical units.
    """
    coordinates, normal = rows
    space, count = problem.simulator.space, len(problem.system.state)
    nothing = jnp.zeros((len(coordinates), *problem.start_shooting().shape), coordinates.dtype)
    starts, filtered = problem.smoothed(Position(coordinates, nothing))
    mean = (starts + filtered.after.mean)[:, :, -1, count:]
    covariance = filtered.after.covariance[:, :, -1, count:, count:]
    values, vectors = jnp.linalg.eigh(covariance)
    root = vectors * jnp.sqrt(jnp.maximum(values, 0.0))[..., None, :]
    own = (mean + (root @ normal[..., None])[..., 0]) * problem.state_scale[count:]
    shared = jnp.broadcast_to(
        coordinates[:, None, : space.dimension], (*own.shape[:2], space.dimension)
    )
    columns = [space.names.index(parameter.name) for parameter in problem.noise.varied]
    return space.to_physical(problem.noise.shifted(space, shared, own))[..., jnp.array(columns)]
