"""Particles that move by Adam, and what happens to those whose roll-outs diverge."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax

from pdsim.likelihood.problem import Position, Problem


class Particles(NamedTuple):
    """Positions and the optimiser that moves them.

    Attributes:
        position: where the particles stand.
        last_finite: the last position of each particle with a finite roll-out and gradient.
        ever_finite: whether there was one, (particle,).
        diverging: whether the last evaluation was not finite, (particle,).
        moments: Adam's moments.
        iteration: how many iterations were done.
    """

    position: Position
    last_finite: Position
    ever_finite: jax.Array
    diverging: jax.Array
    moments: optax.OptState
    iteration: jax.Array


_ADAM = optax.scale_by_adam()


def sobol_particles(problem: Problem, count: int, seed: int) -> Position:
    """Particles on the Sobol points, their windows started from the recording."""
    shooting = problem.start_shooting()
    return Position(
        jnp.asarray(problem.space.sobol(count, seed), shooting.dtype),
        jnp.broadcast_to(shooting, (count, *shooting.shape)),
    )


def start(problem: Problem, count: int, seed: int) -> Particles:
    """Sobol particles and an optimiser that has not moved them yet."""
    position = sobol_particles(problem, count, seed)
    nobody = jnp.zeros(count, bool)
    return Particles(position, position, nobody, nobody, _ADAM.init(position), jnp.array(0))


def _rows(mask: jax.Array, like: jax.Array) -> jax.Array:
    return mask.reshape(mask.shape + (1,) * (like.ndim - mask.ndim))


def keep_rows(mask: jax.Array, kept, other):
    """Choose per particle between two pytrees of arrays with particles in front."""
    return jax.tree.map(lambda a, b: jnp.where(_rows(mask, a), a, b), kept, other)


def decayed(step_size: float, decay: float, iteration: jax.Array, count: int) -> jax.Array:
    """Geometric decay from ``step_size`` to ``step_size · decay`` over ``count`` iterations."""
    return step_size * decay ** (iteration / count)


def all_finite(*trees) -> jax.Array:
    """Tell for each particle whether all its numbers are finite, (particle,)."""
    rows = [
        jnp.isfinite(leaf.reshape(leaf.shape[0], -1)).all(axis=1)
        for tree in trees
        for leaf in jax.tree.leaves(tree)
    ]
    return jnp.stack(rows).all(axis=0)


def halfway_to_finite(position: Position, finite: jax.Array) -> Position:
    """Bring each particle that is not finite half-way to the mean of those that are."""

    def bring(x):
        mean = jnp.where(_rows(finite, x), x, 0.0).sum(axis=0, keepdims=True)
        mean = mean / jnp.maximum(finite.sum(), 1)
        return jnp.where(_rows(finite, x), x, (x + mean) / 2)

    return jax.tree.map(bring, position)


def move(state: Particles, ascent: Position, finite: jax.Array, step_size: jax.Array) -> Particles:
    """Take one Adam step up ``ascent``; bring diverging particles back.

    A particle whose roll-out was not finite goes half-way back to its last finite position, or, if
    it never had one, half-way to the mean of those that have. Its moments stay as they were:
    nothing of it reaches the others or its own future.

    Args:
        ascent: direction to move in; ignored where not ``finite``, but must itself be finite.
        finite: (particle,) whether the evaluation at ``state.position`` was finite.
    """
    steps, moments = _ADAM.update(ascent, state.moments)
    moved = jax.tree.map(lambda x, s: x + step_size * s, state.position, steps)
    last_finite = keep_rows(finite, state.position, state.last_finite)
    ever_finite = state.ever_finite | finite
    mean = jax.tree.map(
        lambda x: (
            jnp.where(_rows(ever_finite, x), x, 0.0).sum(axis=0, keepdims=True)
            / jnp.maximum(ever_finite.sum(), 1)
        ),
        last_finite,
    )
    anchor = keep_rows(ever_finite, last_finite, mean)
    halfway = jax.tree.map(lambda x, y: (x + y) / 2, state.position, anchor)
    return Particles(
        position=keep_rows(finite, moved, halfway),
        last_finite=last_finite,
        ever_finite=ever_finite,
        diverging=~finite,
        moments=moments._replace(
            mu=keep_rows(finite, moments.mu, state.moments.mu),
            nu=keep_rows(finite, moments.nu, state.moments.nu),
        ),
        iteration=state.iteration + 1,
    )


def limit_score(score: jax.Array, longest: float | None) -> jax.Array:
    """Shorten each particle's score (particle, M) to at most ``longest``."""
    if longest is None:
        return score
    norm = jnp.linalg.norm(score, axis=-1, keepdims=True)
    return score * jnp.minimum(1.0, longest / jnp.maximum(norm, jnp.finfo(score.dtype).tiny))
