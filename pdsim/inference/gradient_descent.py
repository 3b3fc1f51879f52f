"""Constrained SVGD's particles descend by gradients: Algorithm 1.

With φ the Stein direction (Eq. 1) of the windows' likelihood, in a kernel of positions,

    θ̇ = φ(θ) − (λ_lim + c g_lim) ∂g_lim/∂θ − (λ_def + c g_def) ∂g_def/∂θ
    λ̇_lim = g_lim,   λ̇_def = g_def
    ṡ = −∂L/∂s

Adam takes the steps of θ and s, plain steps those of λ. The kernel averages φ over the particles;
the constraints pull on each particle alone, and that has a price: the first window, whose score is
averaged, counts less than the others, of which only the pull of the gaps tells, and this pull has
no repulsion of matching size. On six windows that measure one number the mean of the posterior is
off by a third of its standard deviation, and that comes out 2.8 times too small
(tests/inference/test_closed_form.py).

Inside the limits g_lim = 0, so a multiplier that rose while a particle was outside stays, and goes
on pushing inwards. Steps that are too long throw particles out of the box and so distort the
posterior: of a Gaussian inside the box the covariance was right after 1000 and 2000 iterations with
a step size of 0.01, but after 2000 with 0.03 it was up to 1.7 times too large.

- Algorithm 1 prints ṡ = g_def, with which a particle would never use the observations to place its
  windows: the shooting variables descend the Lagrangian of Eq. 8, as θ does.
- The defect constraint is the vector g = d/σ_def, one multiplier per component, and not
  ‖d‖²/σ_def². The square has no gradient where it is satisfied, so its multiplier, which only ever
  grows, never settles; the vector's multiplier converges to the force that closes the gap.
- Roll-outs are simulated at clamp(θ), never outside the limits. There the likelihood has no slope
  along a violated limit, and the limit constraint alone brings θ back.
"""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from pdsim.inference.csvgd_settings import Settings
from pdsim.inference.divergence import all_finite, keep_rows
from pdsim.inference.estimator import Info, Stepwise, largest_defect, summarise
from pdsim.inference.gradients import by_blocks
from pdsim.inference.mdmm import Constraint, limit_violation, tightened
from pdsim.inference.particles import Particles, decayed, limit_score, move, start
from pdsim.inference.stein import stein_direction
from pdsim.likelihood.problem import Position, Problem


class State(NamedTuple):
    """Particles and their multipliers.

    Attributes:
        particles: positions and optimiser.
        defect_multiplier: λ_def, shaped as the shooting variables.
        limit_multiplier: λ_lim, (particle, M).
    """

    particles: Particles
    defect_multiplier: jax.Array
    limit_multiplier: jax.Array


def _slopes(damping: float, problem: Problem, sigma: jax.Array, rows: tuple[Position, jax.Array]):
    """Evaluate particles with what drives them.

    Args:
        rows: positions, and multipliers of the defects.

    Returns:
        Log posterior, defects and log likelihood; the first one's slope, and what closes the gaps,
        −(λ + c g)/σ times the slope of the defects, as positions.
    """
    position, multiplier = rows

    def evaluate(position: Position):
        inside = position._replace(parameters=jnp.clip(position.parameters, 0.0, 1.0))
        log_likelihood, defects = problem.evaluate(inside)
        log_posterior = log_likelihood + problem.space.log_prior(inside.parameters)
        return (log_posterior, defects), log_likelihood

    (value, defects), pullback, log_likelihood = jax.vjp(evaluate, position, has_aux=True)
    # Sums over the particles: each one's slope and pull are its own.
    (score,) = pullback((jnp.ones_like(value), jnp.zeros_like(defects)))
    force = Constraint(defects, sigma, multiplier).force(damping)
    (pull,) = pullback((jnp.zeros_like(value), -force))
    return value, defects, log_likelihood, score, pull


@dataclass(frozen=True)
class GradientDescent(Stepwise):
    """Constrained SVGD by Adam's steps; with one window only the limits are constraints."""

    settings: Settings
    sample_kind: ClassVar[str] = "particles"
    uses_gradients: ClassVar[bool] = True

    def init(self, problem: Problem, seed: int) -> State:
        particles = start(problem, self.particle_count, seed)
        x, shooting = particles.position
        return State(particles, jnp.zeros_like(shooting), jnp.zeros_like(x))

    def step(self, key: jax.Array, problem: Problem, state: State) -> tuple[State, Info]:
        del key
        settings, particles = self.settings, state.particles
        damping, limit_scale = settings.damping, settings.limit_scale
        # The settings give both a value with this descent.
        assert damping is not None and limit_scale is not None
        x = particles.position.parameters
        progress = self.progress(problem, particles.iteration)
        sigma = tightened(settings.defect_deviation, settings.tightening, progress).astype(x.dtype)
        step_size = decayed(settings.step_size, settings.step_decay, progress).astype(x.dtype)

        value, defects, log_likelihood, (score, drive), (pull, pull_shooting) = by_blocks(
            partial(_slopes, damping)
        )(problem, sigma, (particles.position, state.defect_multiplier))
        gaps = Constraint(defects, sigma, state.defect_multiplier)
        limits = Constraint(limit_violation(x), limit_scale, state.limit_multiplier)
        finite = all_finite(value, defects, score, drive, pull, pull_shooting)

        score = limit_score(jnp.where(finite[:, None], score, 0.0), settings.gradient_limit)
        phi, bandwidth = stein_direction(x, score, finite)
        # ∂g_lim/∂θ is −1/σ_lim outside the limits, so its term enters with a plus.
        ascent = Position(phi + pull + limits.force(damping), drive + pull_shooting)
        ascent = keep_rows(finite, ascent, jax.tree.map(jnp.zeros_like, ascent))
        moved = State(
            move(particles, ascent, finite, step_size),
            gaps.ascended(settings.multiplier_step, finite),
            limits.ascended(settings.multiplier_step, finite),
        )
        info = summarise(
            finite,
            log_likelihood,
            largest_defect(defects),
            evaluations=self.cost(problem),
            step_size=step_size,
            bandwidth=bandwidth,
            defect_deviation=sigma,
            defect_multiplier=largest_defect(moved.defect_multiplier).max(),
            limit_violation=jnp.abs(limits.violation).max(),
        )
        return moved, info

    def draws(self, problem: Problem, state: State) -> Position:
        """Return the particles, on the limit where they stand beyond it."""
        del problem
        x, shooting = state.particles.position
        return Position(jnp.clip(x, 0.0, 1.0), shooting)

    def diverging(self, problem: Problem, state: State) -> jax.Array:
        del problem
        return state.particles.diverging
