"""Stein variational gradient descent (Liu and Wang, 2016; Eq. 1)."""

from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp
from pydantic import Field

from pdsim.inference.divergence import all_finite
from pdsim.inference.estimator import Info, Stepwise, summarise
from pdsim.inference.gradients import value_and_gradient
from pdsim.inference.particles import Particles, decayed, limit_score, move, start
from pdsim.inference.stein import stein_direction
from pdsim.likelihood.problem import Position, Problem
from pdsim.settings.section import Positive, Section


class Settings(Section):
    """Stein variational gradient descent with Adam (Eq. 1)."""

    step_size: Positive = Field(0.03, description="Adam's step at the start, in unit-box units")
    step_decay: float = Field(
        0.1, gt=0, le=1, description="step size at the end over that at the start (geometric)"
    )
    gradient_limit: Positive | None = Field(
        None, description="longest score of one particle, in unit-box units; none: no limit"
    )


@dataclass(frozen=True)
class Svgd(Stepwise):
    """SVGD in the unit box: Adam up φ, then projection onto the limits.

    The limits make the prior's density jump to zero; projection keeps every particle where the
    simulator is defined, at the price of particles on the faces when the posterior leans on them.
    """

    settings: Settings
    sample_kind: ClassVar[str] = "particles"
    uses_gradients: ClassVar[bool] = True

    def init(self, problem: Problem, seed: int) -> Particles:
        return start(problem, self.particle_count, seed)

    def step(self, key: jax.Array, problem: Problem, state: Particles) -> tuple[Particles, Info]:
        del key
        x, shooting = state.position
        value, (score, _), log_likelihood = value_and_gradient(
            _log_posterior, problem, state.position
        )
        finite = all_finite(value, score)
        score = limit_score(jnp.where(finite[:, None], score, 0.0), self.settings.gradient_limit)
        phi, bandwidth = stein_direction(x, score, finite)
        step_size = decayed(
            self.settings.step_size,
            self.settings.step_decay,
            state.iteration / self.iteration_count,
        )
        state = move(state, Position(phi, jnp.zeros_like(shooting)), finite, step_size)
        inside = jnp.clip(state.position.parameters, 0.0, 1.0)
        state = state._replace(position=state.position._replace(parameters=inside))
        info = summarise(
            finite,
            log_likelihood,
            jnp.zeros_like(log_likelihood),
            evaluations=self.particle_count,
            step_size=step_size,
            bandwidth=bandwidth,
        )
        return state, info

    def draws(self, problem: Problem, state: Particles) -> Position:
        del problem
        return state.position

    def diverging(self, problem: Problem, state: Particles) -> jax.Array:
        del problem
        return state.diverging


def _log_posterior(problem: Problem, position: Position) -> tuple[jax.Array, jax.Array]:
    log_likelihood, _ = problem.evaluate(position)
    return log_likelihood + problem.space.log_prior(position.parameters), log_likelihood


ESTIMATOR = Svgd
# With the windows of multiple shooting it is csvgd.
SHOOTINGS = ("single", "marginal")
INSTEAD = "is csvgd; write method: csvgd"
