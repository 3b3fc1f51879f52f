"""The No-U-Turn sampler with window adaptation of each chain alone, chains side by side.

Blackjax's kernel, dual averaging and mass-matrix estimate, driven step by step, so that a run can
be stopped, saved and resumed during its warm-up as well. The chains run in lockstep: an iteration
lasts as long as its longest tree, but only steps taken count as evaluations.
"""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from pdsim.inference.chains import ChainState, SteppedChains, choose
from pdsim.inference.divergence import bring_back
from pdsim.inference.estimator import Info, summarise
from pdsim.likelihood.problem import Problem
from pdsim.runtime.cores import over_cores

if TYPE_CHECKING:
    from blackjax.adaptation.mass_matrix import MassMatrixAdaptationState
    from blackjax.adaptation.step_size import DualAveragingAdaptationState
    from blackjax.mcmc.hmc import HMCState

    from pdsim.inference.nuts import Settings

# Fewer iterations than this adapt nothing that is worth having.
_LEAST_WARMUP = 20
# How often a chain may be moved before it starts.
_TRIES = 20


class Sampler(NamedTuple):
    """The chains and what they adapt; every leaf has chains in front, but the iteration.

    Attributes:
        chain: positions, log densities, gradients.
        dual_averaging: step size.
        mass: mass matrix and its running estimate.
        inverse_mass: what is in use.
        iteration: how many were done.
    """

    chain: "HMCState"
    dual_averaging: "DualAveragingAdaptationState"
    mass: "MassMatrixAdaptationState"
    inverse_mass: jax.Array
    iteration: jax.Array


@dataclass(frozen=True)
class SeparateNuts(SteppedChains):
    """Chains from Sobol points, or one from the centre of the box."""

    settings: "Settings"
    uses_gradients: ClassVar[bool] = True
    cheaper: ClassVar[str] = "lower chain_count or doublings"

    def cost(self, problem: Problem) -> int:
        # The steps of a full tree, and one more evaluation for the report.
        return self.walkers(problem) * 2**self.settings.doublings

    def discarded(self, problem: Problem) -> int:
        """Iterations that adapt: a share of those the budget allows if every tree is full."""
        affordable = self.particle_count * self.iteration_count // self.cost(problem)
        return max(int(self.settings.warmup * affordable), _LEAST_WARMUP)

    def _adaptations(self):
        from blackjax.adaptation.mass_matrix import mass_matrix_adaptation
        from blackjax.adaptation.step_size import dual_averaging_adaptation

        return (
            mass_matrix_adaptation(not self.settings.dense_mass),
            dual_averaging_adaptation(self.settings.target_acceptance),
        )

    def _log_density(self, problem: Problem):
        target = self.target(problem)

        def log_density(z):
            return target.log_density(z[None])[0][0]

        return log_density

    def init(self, problem: Problem, seed: int) -> ChainState:
        from blackjax.mcmc import nuts

        target = self.target(problem)
        start = target.starts(self.settings.chain_count, seed)
        z = jnp.asarray(start, problem.start_shooting().dtype)
        (mass_init, _, _), (dual_init, _, _) = self._adaptations()
        every = jnp.ones(len(z), z.dtype)
        mass = jax.vmap(lambda _: mass_init(target.dimension))(every)
        begin = jax.jit(jax.vmap(lambda z: nuts.init(z, self._log_density(problem))))
        chain = begin(z)
        for _ in range(_TRIES):
            finite = jnp.isfinite(chain.logdensity)
            if finite.all() or not finite.any():
                break
            # No move is ever accepted from where the density is 0.
            z = bring_back(z, finite)
            chain = begin(z)
        sampler = Sampler(
            chain,
            jax.vmap(dual_init)(0.1 * every),
            mass,
            mass.inverse_mass_matrix,
            jnp.array(0),
        )
        return ChainState(sampler, self.trace(problem, z))

    def recorded(self, state: Sampler) -> jax.Array:
        return state.chain.position

    def step(self, key: jax.Array, problem: Problem, state: Sampler) -> tuple[Sampler, Info]:
        from blackjax.adaptation.window_adaptation import build_schedule
        from blackjax.mcmc import nuts

        (_, mass_update, mass_final), (dual_init, dual_update, dual_final) = self._adaptations()
        warmup = self.discarded(problem)
        schedule = build_schedule(warmup)
        kernel = nuts.build_kernel()
        adapting = state.iteration < warmup
        stage, window_ends = schedule[jnp.minimum(state.iteration, warmup - 1)]

        def advance(log_density, when, key, chain, dual, mass, inverse_mass):
            adapting, stage, window_ends = when
            step_size = jnp.exp(jnp.where(adapting, dual.log_step_size, dual.log_step_size_avg))
            chain, info = kernel(
                key, chain, log_density, step_size, inverse_mass, self.settings.doublings
            )
            rate = jnp.nan_to_num(info.acceptance_rate)
            dual_next = dual_update(dual, rate)
            mass_next = choose(stage == 1, mass_update(mass, chain.position), mass)
            ended = mass_final(mass_next)
            new = (dual_next, mass_next, inverse_mass)
            at_end = (dual_init(dual_final(dual_next)), ended, ended.inverse_mass_matrix)
            new = choose(adapting, choose(window_ends, at_end, new), (dual, mass, inverse_mass))
            return chain, *new, info, step_size

        @over_cores
        def advance_all(problem, when, rows):
            return jax.vmap(partial(advance, self._log_density(problem), when))(*rows)

        keys = jax.random.split(key, self.settings.chain_count)
        rows = (keys, state.chain, state.dual_averaging, state.mass, state.inverse_mass)
        chain, dual, mass, inverse_mass, info, step_size = advance_all(
            problem, (adapting, stage, window_ends), rows
        )
        _, evaluation = self.target(problem).log_density(chain.position)
        report = summarise(
            jnp.isfinite(chain.logdensity),
            *evaluation,
            evaluations=info.num_integration_steps.sum() + self.settings.chain_count,
            step_size=jnp.median(step_size),
            acceptance=info.acceptance_rate.mean(),
        )
        return Sampler(chain, dual, mass, inverse_mass, state.iteration + 1), report
