"""Constrained SVGD's particles descend by steps of Gauss and Newton.

Residuals and defects are linear to first order around a particle; the shooting variables are
eliminated from the linear system (``profile``), the parameters take a damped Newton step up the
Stein direction, and the multipliers of the defects ascend, λ̇ = g. A step is taken if the Lagrangian
(Eq. 8) there is no worse than it was, else the particle stays and trusts its linear model less.

- The score in φ is that of the profile, with the shooting variables following the parameters. With
  their partial score, the pull of the gaps on θ, which each particle feels alone, outweighs the
  first window's score, which the kernel averages.
- The kernel compares what particles predict, in units of the noise, beside their parameters, in
  units of the prior. Parameters that free motion does not identify let a posterior fill a thin
  curved sheet of the box; in a kernel of positions a hundred particles on it never meet, and each
  stays at its own optimum.
- Limits are kept by leaving out, in each step, the parameters that are at a limit and would leave
  the box (an active set): the multiplier of an active limit is eliminated as well.

A tangent roll-out counts as a roll-out in the budget.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from pdsim.inference.csvgd_settings import Settings
from pdsim.inference.divergence import all_finite, bring_back, keep_rows
from pdsim.inference.estimator import Info, Stepwise, largest_defect, summarise
from pdsim.inference.levenberg_marquardt import (
    damped_step,
    next_damping,
    prior_precision,
    prior_slope,
    room_ahead,
    start_damping,
)
from pdsim.inference.mdmm import tightened
from pdsim.inference.particles import decayed, sobol_particles
from pdsim.inference.profile import lagrangian, profile
from pdsim.inference.stein import stein_direction_of_features
from pdsim.likelihood.problem import Position, Problem

# A parameter this near to a limit counts as on it if going there would gain no more than this many
# nats; a step leaves this share of the way to a limit.
_FACE, _FACE_GAIN = 1e-3, 0.1
_LEFT = 0.1
# Precision of a uniform density over the unit interval; regularises what the data leave open.
_BOX_PRECISION = 12.0


class State(NamedTuple):
    """Particles, their multipliers, and how far each trusts its linear model.

    Attributes:
        position: of the particles.
        force: λ/σ_def, shaped as the shooting variables; constant while σ_def tightens.
        damping: Levenberg and Marquardt's, (particle,).
        diverging: whether the last roll-out tried was not finite, (particle,).
        iteration: how many were done.
    """

    position: Position
    force: jax.Array
    damping: jax.Array
    diverging: jax.Array
    iteration: jax.Array


@dataclass(frozen=True)
class GaussNewton(Stepwise):
    """Constrained SVGD by Gauss–Newton steps; with one window only the limits are constraints."""

    settings: Settings
    sample_kind: ClassVar[str] = "particles"
    # Derivatives are tangent roll-outs, which count as roll-outs.
    uses_gradients: ClassVar[bool] = False
    cheaper: ClassVar[str] = (
        "choose descent: gradient, for a Gauss–Newton step rolls out a tangent for each parameter "
        "and start variable"
    )

    def cost(self, problem: Problem) -> int:
        """The roll-out, a tangent for each parameter and start variable, and the one tried."""
        return self.particle_count * (2 + problem.tangent_count)

    def init(self, problem: Problem, seed: int) -> State:
        position = sobol_particles(problem, self.particle_count, seed)
        count, dtype = self.particle_count, position.shooting.dtype
        return State(
            position,
            jnp.zeros_like(position.shooting),
            start_damping(count, dtype),
            jnp.zeros(count, bool),
            jnp.array(0),
        )

    def step(self, key: jax.Array, problem: Problem, state: State) -> tuple[State, Info]:
        del key
        settings, space = self.settings, problem.space
        position, force = state.position, state.force
        x, shooting = position
        m = space.dimension
        progress = self.progress(problem, state.iteration)
        sigma = tightened(settings.defect_deviation, settings.tightening, progress).astype(x.dtype)
        linear = problem.linearise(position)
        form = profile(linear, force, sigma, state.damping)
        # Slopes that are not finite make nothing finite of these, which are fewer to look at.
        finite = all_finite(linear.log_likelihood, form.slope, form.information, form.response)
        linear, form = keep_rows(
            finite, (linear, form), jax.tree.map(jnp.zeros_like, (linear, form))
        )

        # To the recordings' quadratic form comes the prior's; to their features, the box.
        centre = jnp.full((1, m), 0.5, x.dtype)
        precision = prior_precision(space, centre, least=_BOX_PRECISION)[0]
        score = prior_slope(space, x) - form.slope
        information = form.information + precision
        # As in the likelihood, n trajectories count n times in a product, once in a mixture.
        shorter = jnp.sqrt(linear.weights.mean())
        root = jnp.linalg.cholesky(precision).T
        phi, bandwidth = stein_direction_of_features(
            jnp.concatenate([shorter * form.features, x @ root.T], axis=1),
            jnp.concatenate(
                [
                    shorter * form.feature_slopes,
                    jnp.broadcast_to(root, (len(x), m, m)),
                ],
                axis=1,
            ),
            score,
            finite,
            # Mean squared distance of two draws from a Gaussian in its own metric.
            widest=2.0 * m,
        )
        step_size = decayed(settings.step_size, settings.step_decay, progress).astype(x.dtype)
        # Nobody steps onto a face: particles that meet there would share a coordinate for ever.
        lowest, highest = (1 - _LEFT) * jnp.stack([-x, 1 - x]) / step_size
        ahead = room_ahead(x, phi)
        change = step_size * damped_step(
            phi,
            information,
            state.damping,
            held=(ahead <= _FACE) & (ahead * jnp.abs(phi) <= _FACE_GAIN),
            lowest=lowest,
            highest=highest,
        )
        tried = Position(x + change, shooting)
        moved = form.shift + jnp.einsum("pnai,pi->pna", form.response, tried.parameters - x)
        tried = tried._replace(shooting=shooting + moved.reshape(shooting.shape))
        log_likelihood, defects = problem.evaluate(tried)
        before = form.lagrangian - space.log_prior(x)
        after = lagrangian(log_likelihood, defects, force, sigma) - space.log_prior(
            tried.parameters
        )
        # Typical points of an M-dimensional Gaussian differ by nats of the order of M.
        taken = finite & all_finite(after, defects) & (after < before + m)
        raised = force + settings.multiplier_step * defects / sigma**2
        position = keep_rows(taken, tried, position)
        new = State(
            bring_back(position, finite),
            keep_rows(taken, raised, force),
            jnp.where(finite, next_damping(state.damping, taken), state.damping),
            ~(finite & jnp.isfinite(after)),
            state.iteration + 1,
        )
        info = summarise(
            finite,
            linear.log_likelihood,
            largest_defect(linear.defects),
            evaluations=self.cost(problem),
            step_size=step_size,
            bandwidth=bandwidth,
            acceptance=taken.mean(dtype=x.dtype),
            defect_deviation=sigma,
        )
        return new, info

    def draws(self, problem: Problem, state: State) -> Position:
        del problem
        return state.position

    def diverging(self, problem: Problem, state: State) -> jax.Array:
        del problem
        return state.diverging
