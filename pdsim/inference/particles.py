"""Particles that move by Adam."""

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import jax
import jax.numpy as jnp

from pdsim.inference.divergence import LastFinite, bring_back, keep_rows
from pdsim.likelihood.problem import Position, Problem

if TYPE_CHECKING:
    import optax


class Particles(NamedTuple):
    """Positions and the optimiser that moves them.

    Attributes:
        position: where the particles stand.
        last: the last position of each particle with a finite roll-out and gradient.
        diverging: whether the last evaluation was not finite, (particle,).
        moments: Adam's moments.
        iteration: how many iterations were done.
    """

    position: Position
    last: LastFinite
    diverging: jax.Array
    moments: "optax.ScaleByAdamState"
    iteration: jax.Array


@cache
def _adam() -> "optax.GradientTransformation":
    import optax

    return optax.scale_by_adam()


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
    return Particles(
        position,
        LastFinite.start(position),
        jnp.zeros(count, bool),
        _adam().init(position),
        jnp.array(0),
    )


def decayed(start: float, factor: float, share):
    """What falls (or grows) geometrically from ``start`` to ``start · factor``.

    Args:
        share: of the way, 0 to 1.
    """
    return start * factor**share


def move(state: Particles, ascent: Position, finite: jax.Array, step_size: jax.Array) -> Particles:
    """Take one Adam step up ``ascent``; bring diverging particles back.

    The moments of a particle whose roll-out was not finite stay as they were: nothing of it reaches
    the others or its own future.

    Args:
        ascent: direction to move in; ignored where not ``finite``, but must itself be finite.
        finite: (particle,) whether the evaluation at ``state.position`` was finite.
    """
    steps, moments = _adam().update(ascent, state.moments)
    moved = jax.tree.map(lambda x, s: x + step_size * s, state.position, steps)
    last = state.last.remember(state.position, finite)
    return Particles(
        position=keep_rows(finite, moved, bring_back(state.position, finite, last)),
        last=last,
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
