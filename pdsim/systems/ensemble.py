"""Roll-outs of many parameters from many start states, as arrays."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from pdsim.systems.rollout import rollout
from pdsim.systems.simulator import Simulator
from pdsim.trajectories import prolonged


@partial(jax.jit, static_argnames=("simulator", "frames", "frame_time"))
def _roll(simulator: Simulator, coordinates, start, inputs, frames: int, frame_time: float):
    system, space, substeps = simulator

    def one(coordinates, start, inputs):
        channels, _ = rollout(
            system,
            system.prepare(space.system_parameters(coordinates)),
            system.unpack(start),
            tuple(inputs[:, i] for i in range(len(system.inputs))),
            frames=frames,
            frame_time=frame_time,
            substeps=substeps,
        )
        return jnp.stack(channels, axis=-1)

    return jax.vmap(one)(coordinates, start, inputs)


def simulate_each(
    simulator: Simulator,
    coordinates: np.ndarray,
    starts: np.ndarray,
    inputs: np.ndarray,
    *,
    frame_time: float,
    precision: str,
) -> np.ndarray:
    """Simulate parameters each from a start state of its own, (n, frame, channel).

    Args:
        coordinates: (n, M) unit coordinates.
        starts: (n, S).
        inputs: (n, frame, I), I may be 0; entry k acts from frame k to k + 1.
        frame_time: [s].
        precision: "float64" or "float32".
    """
    arrays = (np.asarray(x, precision) for x in (coordinates, starts, inputs))
    return np.asarray(_roll(simulator, *arrays, inputs.shape[1], frame_time))


def roll_out(
    simulator: Simulator,
    draws: np.ndarray,
    starts: np.ndarray,
    inputs: np.ndarray,
    *,
    frame_time: float,
    precision: str,
    frames: np.ndarray | None = None,
) -> np.ndarray:
    """Simulate each draw from each start state, (start, draw, frame, channel).

    Args:
        draws: (draw, M) physical values.
        starts: (start, S).
        inputs: (start, frame, I), see ``simulate_each``.
        frames: (start,) how many are wanted, where not all; the last one stands for the rest.
    """
    coordinates = np.asarray(simulator.space.to_coordinates(draws))
    count, most = len(coordinates), inputs.shape[1]
    wanted = np.full(len(starts), most) if frames is None else frames

    def copies(x: np.ndarray) -> np.ndarray:
        return np.broadcast_to(x, (count, *x.shape))

    return np.stack(
        [
            prolonged(
                simulate_each(
                    simulator,
                    coordinates,
                    copies(start),
                    copies(drive[:end]),
                    frame_time=frame_time,
                    precision=precision,
                ),
                most,
            )
            for start, drive, end in zip(starts, inputs, wanted, strict=True)
        ]
    )


def first_frame(simulator: Simulator, coordinates: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """What the start states themselves show, (n, channel); arguments as in ``simulate_each``."""
    system, space, _ = simulator

    def one(coordinates, start):
        prepared = system.prepare(space.system_parameters(coordinates))
        return jnp.stack(system.observe(system.unpack(start), prepared))

    return np.asarray(jax.vmap(one)(jnp.asarray(coordinates), jnp.asarray(starts)))
