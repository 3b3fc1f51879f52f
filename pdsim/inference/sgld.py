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
from blackjax.sgmcmc import sgld

from pdsim.inference.chains import ChainState, SteppedChains
from pdsim.inference.estimator import Info, summarise
from pdsim.inference.particles import all_finite, decayed
from pdsim.likelihood.problem import Problem
from pdsim.config.runs import SgldConfig


class Walk(NamedTuple):
    """Where the chains stand.

    Attributes:
        z: (chain, dimension), finite.
        last_finite: the last position of each chain with a finite density and gradient.
        ever_finite: whether there was one, (chain,).
        square: V, (chain, dimension).
        iteration: how many were done.
    """

    z: jax.Array
    last_finite: jax.Array
    ever_finite: jax.Array
    square: jax.Array
    iteration: jax.Array


@dataclass(frozen=True)
class Sgld(SteppedChains):
    """Chains side by side, each with its own preconditioner.

    A chain that stands where the density is not finite goes back to where it was last finite; one
    that never was goes half-way to the mean of the others.
    """

    settings: SgldConfig
    uses_gradients: ClassVar[bool] = True

    def cost(self, problem: Problem) -> int:
        return self.walkers(problem)

    def init(self, problem: Problem, seed: int) -> ChainState:
        start = self.target(problem).starts(self.settings.chain_count, seed)
        z = jnp.asarray(start, problem.start_shooting().dtype)
        return ChainState(
            Walk(z, z, jnp.zeros(len(z), bool), jnp.zeros_like(z), jnp.array(0)),
            self.trace(problem, z),
        )

    def recorded(self, state: Walk) -> jax.Array:
        return state.z

    def step(self, key: jax.Array, problem: Problem, state: Walk) -> tuple[Walk, Info]:
        settings, target = self.settings, self.target(problem)
        value, pullback, evaluation = jax.vjp(target.log_density, state.z, has_aux=True)
        (gradient,) = pullback(jnp.ones_like(value))
        finite = all_finite(value, gradient)
        gradient = jnp.where(finite[:, None], gradient, 0.0)
        iteration = state.iteration + 1
        share = 1 / (1 + settings.averaging * state.iteration)
        square = (1 - share) * state.square + share * gradient**2
        scale = 1 / jnp.sqrt(jnp.maximum(square, 1.0))
        step_size = decayed(
            settings.step_size,
            settings.step_decay,
            state.iteration,
            self.particle_count * self.iteration_count // settings.chain_count,
        )
        root = jnp.sqrt(scale)
        z = root * sgld.build_kernel()(
            key, state.z / root, lambda *_: root * gradient, None, step_size
        )
        last_finite = jnp.where(finite[:, None], state.z, state.last_finite)
        ever_finite = state.ever_finite | finite
        known = jnp.where(ever_finite[:, None], last_finite, 0.0)
        mean = known.sum(axis=0) / jnp.maximum(ever_finite.sum(), 1)
        back = jnp.where(ever_finite[:, None], last_finite, (state.z + mean) / 2)
        z = jnp.where(finite[:, None], z, back)
        info = summarise(finite, *evaluation, evaluations=len(state.z), step_size=step_size)
        return Walk(z, last_finite, ever_finite, square, iteration), info


ESTIMATOR = Sgld
