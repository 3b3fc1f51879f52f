"""Motions, and positions of particles, of problems of shooting windows."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from whole import slope

from pdsim.likelihood.problem import Position
from pdsim.systems.misfit import squared_error
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


def error_of_one(system, prepared, start, inputs, observed, *, first_time=0.0, **timing):
    """Squared error and end state of one window of one recording, of vectors (S,)."""
    inputs, observed = jax.tree.map(lambda x: jnp.asarray(x)[:, None, None], (inputs, observed))
    total, end = squared_error(
        system,
        jax.tree.map(lambda x: jnp.asarray(x)[None], prepared),
        jnp.asarray(start)[None, None, None],
        inputs,
        observed,
        first_time=jnp.full(1, first_time),
        **timing,
    )
    return total[0, 0, 0], end[0, 0, 0]


def at(problem, physical, shooting=None):
    """Particles at physical values, with windows where they begin or where they are said to be."""
    unit = problem.space.to_coordinates(jnp.atleast_2d(jnp.asarray(physical)))
    guess = problem.start_shooting() if shooting is None else shooting
    return Position(unit, jnp.broadcast_to(guess, (len(unit), *guess.shape)))


def loose(p, unit, rng):
    """A position whose windows do not meet."""
    shooting = jnp.broadcast_to(p.start_shooting(), (len(unit), *p.start_shooting().shape))
    return Position(unit, shooting + 0.02 * rng.normal(size=shooting.shape))


def linearisation_is_reverse_mode(p, position, rng):
    """Values, and tangents of residuals and gaps against the gradients of the adjoint sweep."""
    linear = p.linearise(position)
    value, defects = p.evaluate(position)
    np.testing.assert_allclose(linear.log_likelihood, value, rtol=1e-10)
    np.testing.assert_allclose(linear.defects, defects, atol=1e-10)
    gradient = slope(lambda q: p.evaluate(q)[0].sum(), position)
    weighted = linear.weights[:, :, None, None] * linear.residuals
    found = -jnp.einsum("pnwk,pnwki->pi", weighted, linear.residual_parameters)
    np.testing.assert_allclose(found, gradient.parameters, rtol=1e-8)
    if position.shooting.shape[2] == 0:  # single shooting
        return
    found = -jnp.einsum("pnwk,pnwka->pnwa", weighted[:, :, 1:], linear.residual_start)
    scale = np.abs(gradient.shooting).max()
    np.testing.assert_allclose(found, gradient.shooting, atol=1e-9 * scale)
    # The defects against random cotangents.
    cotangent = jnp.asarray(rng.normal(size=defects.shape))
    gradient = slope(lambda q: (p.evaluate(q)[1] * cotangent).sum(), position)
    found = -jnp.einsum("pnwa,pnwai->pi", cotangent, linear.end_parameters)
    np.testing.assert_allclose(found, gradient.parameters, rtol=1e-8, atol=1e-10)
    found = cotangent.at[:, :, :-1].add(
        -jnp.einsum("pnwa,pnwab->pnwb", cotangent[:, :, 1:], linear.end_start)
    )
    np.testing.assert_allclose(found, gradient.shooting, atol=1e-9)
