"""The No-U-Turn sampler with chains that start from fits and adapt together.

Fits and starts are those of ``fitted_chains``; the mean covariance of the fits is the first mass
matrix. The warm-up has one step size, by dual averaging of the chains' mean acceptance, and one
mass matrix, from the draws of all chains in windows of growing length; then both are held.

Slopes need not be those of the density for the draws to be right: a leapfrog step with any slope
keeps volume and can be reversed, and the density itself decides what is accepted.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from pdsim.inference.chains import choose
from pdsim.inference.estimator import Info, summarise
from pdsim.inference.fitted_chains import (
    FIRST_WINDOW,
    FittedChains,
    Gaussian,
    Moments,
)
from pdsim.inference.target import Target
from pdsim.likelihood.problem import Problem
from pdsim.runtime.cores import over_cores

if TYPE_CHECKING:
    from blackjax.adaptation.step_size import DualAveragingAdaptationState
    from blackjax.mcmc.hmc import HMCState

    from pdsim.inference.nuts import Settings

_STEP_SIZE = 0.5
# Weight of the shrinkage of an estimated mass matrix, in draws, and what it shrinks to (Stan's).
_SHRINKAGE, _SHRUNK_TO = 5.0, 1e-3


class Sampler(NamedTuple):
    """The chains and what they share.

    Attributes:
        chain: positions, log densities, gradients, chains in front.
        dual_averaging: of the step size.
        moments: of the draws since the last change of the mass matrix.
        inverse_mass: in use, (dimension, dimension).
        iteration: how many were done since the fit.
        window_end: iteration at which the mass matrix changes.
        spent: evaluations since the fit.
    """

    chain: "HMCState"
    dual_averaging: "DualAveragingAdaptationState"
    moments: Moments
    inverse_mass: jax.Array
    iteration: jax.Array
    window_end: jax.Array
    spent: jax.Array


@dataclass(frozen=True)
class PooledNuts(FittedChains):
    """Chains from fits, adapted together."""

    settings: "Settings"
    uses_gradients: ClassVar[bool] = True
    cheaper: ClassVar[str] = "lower chain_count or doublings"
    most_fit_iterations: ClassVar[int | None] = 40

    def cost(self, problem: Problem) -> int:
        # The steps of a full tree, and one more evaluation for the report.
        tree = self.walkers(problem) * 2**self.settings.doublings
        return max(tree, self.fit_cost(problem))

    def recorded(self, state: Sampler) -> tuple[jax.Array, jax.Array]:
        """Positions, and whether the warm-up goes on behind them."""
        return state.chain.position, self.adapting(state)

    def _log_density(self, problem: Problem):
        target = self.target(problem)
        return lambda z: target.log_density(z[None])[0][0]

    def _dual_averaging(self):
        from blackjax.adaptation.step_size import dual_averaging_adaptation

        return dual_averaging_adaptation(self.settings.target_acceptance)

    def begin(self, problem: Problem, z: jax.Array, about: Gaussian) -> Sampler:
        chain, inverse_mass = _evaluated(self.target(problem), z), about.covariance
        if not self.settings.dense_mass:
            inverse_mass = jnp.diag(jnp.diagonal(inverse_mass))
        dual_init, _, _ = self._dual_averaging()
        return Sampler(
            chain,
            dual_init(jnp.asarray(_STEP_SIZE, z.dtype)),
            Moments.none(z.shape[1], z.dtype),
            inverse_mass,
            jnp.array(0),
            jnp.array(FIRST_WINDOW),
            jnp.array(0),
        )

    def lost(self, sampler: Sampler) -> jax.Array:
        return ~jnp.isfinite(sampler.chain.logdensity)

    def step(self, key: jax.Array, problem: Problem, state: Sampler) -> tuple[Sampler, Info]:
        from blackjax.mcmc import nuts

        dual_init, dual_update, dual_final = self._dual_averaging()
        kernel = nuts.build_kernel()
        adapting, dual = self.adapting(state), state.dual_averaging
        step_size = jnp.exp(jnp.where(adapting, dual.log_step_size, dual.log_step_size_avg))
        keys = jax.random.split(key, self.settings.chain_count)

        @over_cores
        def advance(problem, step_size, inverse_mass, rows):
            log_density, doublings = self._log_density(problem), self.settings.doublings
            return jax.vmap(
                lambda key, chain: kernel(
                    key, chain, log_density, step_size, inverse_mass, doublings
                )
            )(*rows)

        chain, info = advance(problem, step_size, state.inverse_mass, (keys, state.chain))
        rate = jnp.nan_to_num(info.acceptance_rate)
        dual = dual_update(dual, rate.mean())
        moments = state.moments.extended(chain.position)
        ended = state.iteration + 1 >= state.window_end
        changed = (
            dual_init(dual_final(dual)),
            Moments.none(*_shape_of(state)),
            self._mass(moments),
            state.iteration + 1 + 2 * moments.total.astype(int) // self.settings.chain_count,
        )
        kept = (dual, moments, state.inverse_mass, state.window_end)
        adapted = choose(ended, changed, kept)
        held = (state.dual_averaging, state.moments, state.inverse_mass, state.window_end)
        dual, moments, inverse_mass, window_end = choose(adapting, adapted, held)
        _, evaluation = self.target(problem).log_density(chain.position)
        evaluations = info.num_integration_steps.sum() + self.settings.chain_count
        report = summarise(
            jnp.isfinite(chain.logdensity),
            *evaluation,
            evaluations=evaluations,
            step_size=step_size,
            acceptance=rate.mean(),
        )
        new = Sampler(
            chain,
            dual,
            moments,
            inverse_mass,
            state.iteration + 1,
            window_end,
            state.spent + evaluations.astype(state.spent.dtype),
        )
        return new, report

    def _mass(self, moments: Moments) -> jax.Array:
        """Covariance of the draws, shrunk towards a small multiple of the unit matrix."""
        covariance = moments.covariance
        if not self.settings.dense_mass:
            covariance = jnp.diag(jnp.diagonal(covariance))
        share = moments.total / (moments.total + _SHRINKAGE)
        identity = jnp.eye(len(covariance), dtype=covariance.dtype)
        return share * covariance + (1 - share) * _SHRUNK_TO * identity


@jax.jit
def _evaluated(target: Target, z: jax.Array) -> "HMCState":
    from blackjax.mcmc import nuts

    return jax.vmap(lambda z: nuts.init(z, lambda z: target.log_density(z[None])[0][0]))(z)


def _shape_of(state: Sampler) -> tuple[int, jnp.dtype]:
    return state.chain.position.shape[1], state.chain.position.dtype
