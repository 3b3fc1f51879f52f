"""Motions, and positions of particles, of problems of shooting windows."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from pdsim.likelihood.problem import Position
from pdsim.systems.rollout import rollout

RATE, FRAMES = 500.0, 101


def simulate(system, parameters, start, inputs=(), frames=FRAMES):
    """States (frame, state) of a system that shows all of them."""
    roll = jax.jit(partial(rollout, system, frames=frames - 1, frame_time=1 / RATE))
    channels, _ = roll(
        system.prepare(parameters),
        tuple(map(jnp.asarray, start)),
        tuple(jnp.asarray(column)[: frames - 1] for column in np.transpose(inputs)),
    )
    return np.concatenate([np.asarray(start)[None], np.stack(channels, axis=1)])


def at(problem, physical, shooting=None):
    """Particles at physical values, with windows where they begin or where they are said to be."""
    unit = problem.space.to_coordinates(jnp.atleast_2d(jnp.asarray(physical)))
    guess = problem.start_shooting() if shooting is None else shooting
    return Position(unit, jnp.broadcast_to(guess, (len(unit), *guess.shape)))


def loose(p, unit, rng):
    """A position whose windows do not meet."""
    shooting = jnp.broadcast_to(p.start_shooting(), (len(unit), *p.start_shooting().shape))
    return Position(unit, shooting + 0.02 * rng.normal(size=shooting.shape))
