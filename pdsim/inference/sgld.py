"""Langevin dynamics with decreasing step (Welling and Teh, 2011), preconditioned (Li et al., 2016).

With g the gradient of the log density, V its mean square over about the last tenth of the chain
and G = 1/√V,

    z ← z + ε G g + √(2 ε G) ξ,   ξ ~ N(0, 1)

which is the plain step in the coordinates z/√G. All data are used at each step, so the only noise
is ξ and the chain's law approaches the posterior as ε decreases.

The window of V grows with the chain, so that G settles: with a window of 100 iterations the
variance of a Gaussian came out a third too large, since G follows g. Without G the stiffest
direction of a posterior, thousands of times narrower than others, would dictate the step of all. V
is not let below 1, so that a direction in which nothing was measured yet keeps the unit step of its
logit.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from pydantic import Field

from pdsim.inference.chains import ChainSettings, ChainState, Moves, SteppedChains
from pdsim.inference.divergence import LastFinite, all_finite, bring_back, keep_rows
from pdsim.inference.estimator import Info, summarise
from pdsim.inference.gradients import value_and_gradient
from pdsim.inference.particles import decayed
from pdsim.likelihood.problem import Problem
from pdsim.settings.section import Count, Positive


class Settings(ChainSettings):
    """Langevin dynamics with decreasing step and preconditioning."""

    chain_count: Count = Field(20, description="chains side by side; 1 starts at the centre")
    step_size: Positive = Field(0.03, description="step at the start, in preconditioned logits")
    step_decay: float = Field(
        0.1, gt=0, le=1, description="step size at the end over that at the start (geometric)"
    )
    averaging: float = Field(
        0.1,
        gt=0,
        le=1,
        description="share of the chain over which the preconditioner's mean square gradient goes",
    )


class Walk(NamedTuple):
    """Where the chains stand.

    Attributes:
        z: (chain, dimension), finite.
        last: the last position of each chain with a finite density and gradient.
        square: V, (chain, dimension).
        iteration: how many were done.
    """

    z: jax.Array
    last: LastFinite
    square: jax.Array
    iteration: jax.Array


@dataclass(frozen=True)
class Sgld(SteppedChains):
    """Chains side by side, each with its own preconditioner.

    A chain that stands where the density is not finite goes back to where it was last finite, all
    the way, as one whose move was refused; one that never was goes half-way to the mean of the
    others.
    """

    settings: Settings
    uses_gradients: ClassVar[bool] = True
    cheaper: ClassVar[str] = "lower chain_count"

    def init(self, problem: Problem, seed: int) -> ChainState:
        start = self.target(problem).starts(self.settings.chain_count, seed)
        z = jnp.asarray(start, problem.start_shooting().dtype)
        return ChainState(
            Walk(z, LastFinite.start(z), jnp.zeros_like(z), jnp.array(0)),
            self.trace(problem, z),
        )

    def recorded(self, state: Walk) -> Moves:
        return Moves(state.z, jnp.array(True))

    def step(self, key: jax.Array, problem: Problem, state: Walk) -> tuple[Walk, Info]:
        from blackjax.sgmcmc import sgld

        settings, target = self.settings, self.target(problem)
        value, gradient, evaluation = value_and_gradient(type(target).log_density, target, state.z)
        finite = all_finite(value, gradient)
        gradient = jnp.where(finite[:, None], gradient, 0.0)
        iteration = state.iteration + 1
        share = 1 / (1 + settings.averaging * state.iteration)
        square = (1 - share) * state.square + share * gradient**2
        scale = 1 / jnp.sqrt(jnp.maximum(square, 1.0))
        step_size = decayed(
            settings.step_size,
            settings.step_decay,
            state.iteration / (self.particle_count * self.iteration_count // settings.chain_count),
        )
        root = jnp.sqrt(scale)
        z = root * sgld.build_kernel()(
            key, state.z / root, lambda *_: root * gradient, None, step_size
        )
        last = state.last.remember(state.z, finite)
        back = keep_rows(last.ever, last.position, bring_back(state.z, finite, last))
        z = keep_rows(finite, z, back)
        info = summarise(finite, *evaluation, evaluations=len(state.z), step_size=step_size)
        return Walk(z, last, square, iteration), info


ESTIMATOR = Sgld
