"""The No-U-Turn sampler with chains that start from fits and adapt together.

1. Fit: least squares from as many Sobol points as there are chains. A fit that ended far below the
   best is replaced by a better one.
2. Start: each chain draws from the Gaussian of its fit, whose covariance, in logits, is the inverse
   of Gauss and Newton's information; the mean of these is the first mass matrix.
3. Warm-up, a share of the budget: one step size, by dual averaging of the chains' mean acceptance,
   and one mass matrix, from the draws of all chains in windows of growing length.
4. Sampling, with both held.

Slopes need not be those of the density for the draws to be right: a leapfrog step with any slope
keeps volume and can be reversed, and the density itself decides what is accepted.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pdsim.inference.chains import ChainState, SteppedChains
from pdsim.inference.estimator import Done, Info, iterate, summarise
from pdsim.inference.least_squares import LeastSquares
from pdsim.inference.least_squares import Settings as FitSettings
from pdsim.inference.least_squares import State as FitState
from pdsim.inference.target import Target, covariance_in_logits
from pdsim.likelihood.problem import Problem
from pdsim.runtime.cores import over_cores

if TYPE_CHECKING:
    from blackjax.adaptation.step_size import DualAveragingAdaptationState
    from blackjax.mcmc.hmc import HMCState

    from pdsim.inference.nuts import Settings

# Iterations of the first window of the mass matrix; each further one is twice as long.
_WINDOW = 25
# Iterations of a fit, at most.
_FIT_ITERATIONS = 40
# A fit this many nats below the best is no start: its chain would stay where hardly anything is.
_BELOW = 5.0
# How near to a limit a chain may start.
_MARGIN = 0.01
_STEP_SIZE = 0.5
# Weight of the shrinkage of an estimated mass matrix, in draws, and what it shrinks to (Stan's).
_SHRINKAGE, _SHRUNK_TO = 5.0, 1e-3


class Moments(NamedTuple):
    """Running mean and sum of squares of all chains' draws in a window."""

    total: jax.Array
    mean: jax.Array
    squares: jax.Array


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


class Phases(NamedTuple):
    """The fit, and the chains; these mean nothing until the fit has ended."""

    fit: FitState
    sampler: Sampler


@dataclass(frozen=True)
class PooledNuts(SteppedChains):
    """Chains from fits, adapted together."""

    settings: "Settings"
    uses_gradients: ClassVar[bool] = True
    cheaper: ClassVar[str] = "lower chain_count or doublings"

    @property
    def fitter(self) -> LeastSquares:
        """Least squares with a start for each chain."""
        settings = FitSettings(
            start_count=self.settings.chain_count,
            defect_deviation=self.settings.defect_deviation,
        )
        return LeastSquares(
            settings=settings,
            particle_count=self.particle_count,
            iteration_count=self.iteration_count,
        )

    def fit_iterations(self, problem: Problem) -> int:
        budget = self.settings.fit * self.particle_count * self.iteration_count
        return min(_FIT_ITERATIONS, int(budget / self.fitter.cost(problem)))

    def cost(self, problem: Problem) -> int:
        # The steps of a full tree, and one more evaluation for the report.
        tree = self.walkers(problem) * 2**self.settings.doublings
        fits = self.fitter.cost(problem) if self.fit_iterations(problem) else 0
        return max(tree, fits)

    def init(self, problem: Problem, seed: int) -> ChainState:
        fit = self.fitter.init(problem, seed)
        z = self._logits(problem, fit)
        sampler = self._begin(problem, z, jnp.eye(z.shape[1], dtype=z.dtype))
        return ChainState(Phases(fit, sampler), self.trace(problem, z))

    def advance(
        self, problem: Problem, state: ChainState, *, seed: int, done: Done, until: int, capacity
    ) -> tuple[ChainState, Info]:
        fit, sampler = state.sampler
        options = {"seed": seed, "until": until, "capacity": capacity}
        last = self.fit_iterations(problem)
        # A fit may end before its iterations do: every start is then at its optimum.
        if done.iterations < last and not self.fitter.finished(problem, fit):
            ends = last * self.fitter.cost(problem)
            fit, (info, _) = iterate(
                self.fitter, problem, fit, done=done, **options | {"until": min(until, ends)}
            )
            fitted = done.iterations + len(info.evaluations) == last
            if fitted or self.fitter.finished(problem, fit):
                sampler = self._start(problem, fit, seed)
            return ChainState(Phases(fit, sampler), state.trace), info._replace(own={})
        sampler, (info, (z, warm)) = iterate(self, problem, sampler, done=done, **options)
        trace = state.trace.extend(
            np.asarray(z), self.per_chain(problem), skip=int(np.asarray(warm).sum())
        )
        return ChainState(Phases(fit, sampler), trace), info

    def recorded(self, state: Sampler) -> tuple[jax.Array, jax.Array]:
        """Positions, and whether the iteration that led there adapted."""
        return state.chain.position, self._adapting(state)

    def _adapting(self, state: Sampler) -> jax.Array:
        budget = self.particle_count * self.iteration_count
        return state.spent < self.settings.warmup * budget

    def _log_density(self, problem: Problem):
        target = self.target(problem)
        return lambda z: target.log_density(z[None])[0][0]

    def _dual_averaging(self):
        from blackjax.adaptation.step_size import dual_averaging_adaptation

        return dual_averaging_adaptation(self.settings.target_acceptance)

    def _logits(self, problem: Problem, fit: FitState) -> jax.Array:
        """Fitted positions as the vectors of the target, away from the limits, (chain, dim)."""
        target = self.target(problem)
        x = jnp.clip(fit.position.parameters, _MARGIN, 1 - _MARGIN)
        offset = (fit.position.shooting - problem.start_shooting()) / target.defect_deviation
        return jnp.concatenate([jnp.log(x) - jnp.log1p(-x), offset.reshape(len(x), -1)], axis=1)

    def _start(self, problem: Problem, fit: FitState, seed: int) -> Sampler:
        """Chains at draws from the Gaussians of their fits."""
        z, objective = self._logits(problem, fit), fit.model.objective
        order = jnp.argsort(objective)
        good = objective <= objective.min() + _BELOW
        number = jnp.arange(len(z))
        chosen = jnp.where(good, number, order[number % jnp.maximum(good.sum(), 1)])
        z, information = z[chosen], fit.model.information[chosen]
        covariance = jax.vmap(covariance_in_logits)(z, information)
        noise = jax.random.normal(jax.random.key(seed), z.shape, z.dtype)
        root = jnp.linalg.cholesky(covariance)
        starts = z + jnp.einsum("cij,cj->ci", root, noise)
        sampler = self._begin(problem, starts, covariance.mean(axis=0))
        lost = ~jnp.isfinite(sampler.chain.logdensity)
        if bool(lost.any()):
            starts = jnp.where(lost[:, None], z, starts)
            sampler = self._begin(problem, starts, covariance.mean(axis=0))
        return sampler

    def _begin(self, problem: Problem, z: jax.Array, inverse_mass: jax.Array) -> Sampler:
        chain = _evaluated(self.target(problem), z)
        if not self.settings.dense_mass:
            inverse_mass = jnp.diag(jnp.diagonal(inverse_mass))
        dual_init, _, _ = self._dual_averaging()
        sampler = Sampler(
            chain,
            dual_init(jnp.asarray(_STEP_SIZE, z.dtype)),
            _no_moments(z.shape[1], z.dtype),
            inverse_mass,
            jnp.array(0),
            jnp.array(_WINDOW),
            jnp.array(0),
        )
        # Types as after an iteration: weak ones would compile the whole loop a second time.
        return jax.tree.map(lambda x: jnp.asarray(x, jnp.result_type(x)), sampler)

    def step(self, key: jax.Array, problem: Problem, state: Sampler) -> tuple[Sampler, Info]:
        from blackjax.mcmc import nuts

        dual_init, dual_update, dual_final = self._dual_averaging()
        kernel = nuts.build_kernel()
        adapting, dual = self._adapting(state), state.dual_averaging
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
        moments = _extended(state.moments, chain.position)
        ended = state.iteration + 1 >= state.window_end
        changed = (
            dual_init(dual_final(dual)),
            _no_moments(*_shape_of(state)),
            self._mass(moments),
            state.iteration + 1 + 2 * moments.total.astype(int) // self.settings.chain_count,
        )
        kept = (dual, moments, state.inverse_mass, state.window_end)
        adapted = _choose(ended, changed, kept)
        held = (state.dual_averaging, state.moments, state.inverse_mass, state.window_end)
        dual, moments, inverse_mass, window_end = _choose(adapting, adapted, held)
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
        covariance = moments.squares / jnp.maximum(moments.total - 1, 1)
        if not self.settings.dense_mass:
            covariance = jnp.diag(jnp.diagonal(covariance))
        share = moments.total / (moments.total + _SHRINKAGE)
        identity = jnp.eye(len(covariance), dtype=covariance.dtype)
        return share * covariance + (1 - share) * _SHRUNK_TO * identity


@jax.jit
def _evaluated(target: Target, z: jax.Array) -> "HMCState":
    from blackjax.mcmc import nuts

    return jax.vmap(lambda z: nuts.init(z, lambda z: target.log_density(z[None])[0][0]))(z)


def _no_moments(dimension: int, dtype) -> Moments:
    return Moments(
        jnp.zeros((), dtype), jnp.zeros(dimension, dtype), jnp.zeros((dimension, dimension), dtype)
    )


def _shape_of(state: Sampler) -> tuple[int, jnp.dtype]:
    return state.chain.position.shape[1], state.chain.position.dtype


def _extended(moments: Moments, z: jax.Array) -> Moments:
    """Take in positions (chain, dimension)."""
    total = moments.total + len(z)
    mean, deviation = z.mean(axis=0), z - z.mean(axis=0)
    apart = mean - moments.mean
    squares = moments.squares + deviation.T @ deviation
    squares = squares + jnp.outer(apart, apart) * moments.total * len(z) / total
    return Moments(total, moments.mean + apart * len(z) / total, squares)


def _choose(condition, yes, no):
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), yes, no)
