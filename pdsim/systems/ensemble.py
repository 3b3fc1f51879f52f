"""Roll-outs of many parameters from many start states, as arrays."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from pdsim.systems.rollout import rollout
from pdsim.systems.simulator import Simulator

# Numbers that one call of a compiled program returns at most: 128 MB in float64, of which XLA holds
# about two copies.
_CHUNK = 2**24


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
    count, frames, _ = inputs.shape
    found = np.empty((count, frames, len(simulator.system.channels)), precision)
    _fill(found, simulator, (coordinates, starts, inputs), frame_time)
    return found


def _fill(found: np.ndarray, simulator: Simulator, arrays: tuple, frame_time: float) -> None:
    """Write roll-outs, (n, frame, channel), chunk by chunk: memory beyond them does not grow."""
    count, frames, channels = found.shape
    # Even shares, so that the last one has few copies.
    parts = -(-count // max(_CHUNK // max(frames * channels, 1), 1))
    size = -(-count // max(parts, 1))
    for begin in range(0, count, max(size, 1)):
        # The last chunk is filled up with copies: one shape is one compiled program.
        rows = np.minimum(np.arange(begin, begin + size), count - 1)
        some = (np.asarray(x[rows], found.dtype) for x in arrays)
        part = np.asarray(_roll(simulator, *some, frames, frame_time))
        found[begin : begin + size] = part[: count - begin]


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

    found = np.empty((len(starts), count, most, len(simulator.system.channels)), precision)
    for number, (start, drive, end) in enumerate(zip(starts, inputs, wanted, strict=True)):
        shown = found[number, :, :end]
        _fill(shown, simulator, (coordinates, copies(start), copies(drive[:end])), frame_time)
        found[number, :, end:] = shown[:, -1:]
    return found


def first_frame(simulator: Simulator, coordinates: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """What the start states themselves show, (n, channel); arguments as in ``simulate_each``."""
    system, space, _ = simulator

    def one(coordinates, start):
        prepared = system.prepare(space.system_parameters(coordinates))
        return jnp.stack(system.observe(system.unpack(start), prepared))

    return np.asarray(jax.vmap(one)(jnp.asarray(coordinates), jnp.asarray(starts)))
