"""The No-U-Turn sampler with chains that start from fits and adapt together.

Fits and starts are those of ``fitted_chains``; the mean covariance of the fits is the first mass
matrix. The warm-up has one step size, by dual averaging of the chains' mean acceptance, and one
mass matrix, from the draws of all chains in windows of growing length; in the end the step size is
tuned alone, and then both are held. An iteration is a leapfrog step of each chain (``tree``).
During the warm-up chains that have a draw wait until all have one, so that each counts for as much
in what is adapted; afterwards only those wait that are far ahead (``tree.LEAD``).

Slopes need not be those of the density for the draws to be right: a leapfrog step with any slope
keeps volume and can be reversed, and the density itself decides what is accepted.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from pdsim.inference import tree
from pdsim.inference.chains import Moves, choose
from pdsim.inference.divergence import keep_rows
from pdsim.inference.estimator import Info, summarise
from pdsim.inference.fitted_chains import (
    FIRST_WINDOW,
    FittedChains,
    Gaussian,
    Moments,
)
from pdsim.inference.nuts_settings import Settings
from pdsim.inference.tree import Point, Tree
from pdsim.likelihood.problem import Problem
from pdsim.xla.cores import over_cores

if TYPE_CHECKING:
    from blackjax.adaptation.step_size import DualAveragingAdaptationState


_STEP_SIZE = 0.5
# Share of the warm-up, its last, in which the mass matrix stays and the step size is tuned to it.
_TUNING = 0.1
# Weight of the shrinkage of an estimated mass matrix, in draws, and what it shrinks to (Stan's).
_SHRINKAGE, _SHRUNK_TO = 5.0, 1e-3


class Sampler(NamedTuple):
    """The chains and what they share.

    Attributes:
        draw: where each chain is, chains in front.
        trees: from there to the next.
        moved: which chains got there in the last iteration, (chain,).
        draws: how many each has, (chain,).
        rates: acceptance of each chain's last tree, (chain,).
        dual_averaging: of the step size.
        moments: of the draws since the last change of the mass matrix.
        root: Cholesky factor of the inverse mass matrix in use, (dimension, dimension).
        window: draws of all chains after which the mass matrix changes.
        spent: evaluations since the fit.
    """

    draw: Point
    trees: Tree
    moved: jax.Array
    draws: jax.Array
    rates: jax.Array
    dual_averaging: "DualAveragingAdaptationState"
    moments: Moments
    root: jax.Array
    window: jax.Array
    spent: jax.Array


@dataclass(frozen=True)
class PooledNuts(FittedChains):
    """Chains from fits, adapted together."""

    settings: Settings
    uses_gradients: ClassVar[bool] = True
    cheaper: ClassVar[str] = "lower chain_count or doublings"
    most_fit_iterations: ClassVar[int | None] = 40

    def cost(self, problem: Problem) -> int:
        return max(self.walkers(problem), self.fit_cost(problem))

    def least_budget(self, problem: Problem) -> int:
        return max(self.walkers(problem) * 2**self.settings.doublings, self.fit_cost(problem))

    def recorded(self, state: Sampler) -> Moves:
        return Moves(state.draw.z, ~self.adapting(state), state.moved)

    def _dual_averaging(self):
        from blackjax.adaptation.step_size import dual_averaging_adaptation

        return dual_averaging_adaptation(self.settings.target_acceptance)

    def _planted(self, keys: jax.Array, draw: Point, step_size: jax.Array) -> Tree:
        doublings = self.settings.doublings
        return jax.vmap(lambda key, point: tree.plant(key, point, step_size, doublings))(keys, draw)

    def begin(self, problem: Problem, z: jax.Array, about: Gaussian) -> Sampler:
        draw, inverse_mass = tree.evaluated(self.target(problem), z), about.covariance
        if not self.settings.dense_mass:
            inverse_mass = jnp.diag(jnp.diagonal(inverse_mass))
        count, dimension = z.shape
        dual = self._tuned_from(jnp.asarray(_STEP_SIZE, z.dtype))
        # Momenta are alike in every run; positions are not.
        keys = jax.random.split(jax.random.key(0), count)
        return Sampler(
            draw,
            self._planted(keys, draw, jnp.exp(dual.log_step_size)),
            jnp.zeros(count, bool),
            jnp.zeros(count, int),
            jnp.zeros(count, z.dtype),
            dual,
            Moments.none(dimension, z.dtype),
            jnp.linalg.cholesky(inverse_mass),
            jnp.array(FIRST_WINDOW * count),
            jnp.array(0),
        )

    def lost(self, sampler: Sampler) -> jax.Array:
        return ~jnp.isfinite(sampler.draw.value)

    def step(self, key: jax.Array, problem: Problem, state: Sampler) -> tuple[Sampler, Info]:
        for_leaf, for_tree = jax.random.split(key)
        chains = self.settings.chain_count

        @over_cores
        def grow(problem, root, rows):
            keys, trees = rows
            return tree.grow(keys, trees, root, self.target(problem))

        keys = jax.random.split(for_leaf, chains)
        adapting, least = self.adapting(state), state.draws.min()
        waiting = state.draws > least + jnp.where(adapting, 0, tree.LEAD)
        grown, ended = grow(problem, state.root, (keys, state.trees))
        grown = keep_rows(waiting, state.trees, grown)
        moved = ended & ~waiting
        draw = keep_rows(moved, grown.proposal, state.draw)
        draws = state.draws + moved
        every = adapting & (draws.min() > least)
        evaluations = (~waiting).sum()
        spent = state.spent + evaluations.astype(state.spent.dtype)
        rates = jnp.where(moved, grown.rate, state.rates)
        dual, moments, root, window = choose(
            every,
            self._adapted(state, draw, rates.mean(), spent),
            (state.dual_averaging, state.moments, state.root, state.window),
        )
        step_size = jnp.exp(jnp.where(adapting, dual.log_step_size, dual.log_step_size_avg))
        # In the warm-up trees that wait have not begun, and do so with what was adapted meanwhile.
        planted = self._planted(jax.random.split(for_tree, chains), draw, step_size)
        trees = keep_rows(moved | every, planted, grown)
        report = summarise(
            jnp.isfinite(draw.value),
            *draw.seen,
            evaluations=evaluations,
            step_size=step_size,
            acceptance=(grown.acceptance - state.trees.acceptance).sum() / evaluations,
        )
        new = Sampler(draw, trees, moved, draws, rates, dual, moments, root, window, spent)
        return new, report

    def _adapted(self, state: Sampler, draw: Point, rate: jax.Array, spent: jax.Array):
        """Step size, moments, root and window behind draws of all chains."""
        _, dual_update, dual_final = self._dual_averaging()
        dual = dual_update(state.dual_averaging, rate)
        moments = state.moments.extended(draw.z)
        budget = self.settings.warmup * self.particle_count * self.iteration_count
        full = (moments.total >= state.window) & (spent < (1 - _TUNING) * budget)
        root = jax.lax.cond(full, self._root, lambda _: state.root, moments)
        nothing = Moments.none(draw.z.shape[1], draw.z.dtype)
        changed = (self._tuned_from(dual_final(dual)), nothing, 2 * state.window)
        dual, moments, window = choose(full, changed, (dual, moments, state.window))
        return dual, moments, root, window

    def _tuned_from(self, step_size: jax.Array) -> "DualAveragingAdaptationState":
        """A new average; its own start is 1, which would be held, were there no update."""
        dual_init, _, _ = self._dual_averaging()
        return dual_init(step_size)._replace(log_step_size_avg=jnp.log(step_size))

    def _root(self, moments: Moments) -> jax.Array:
        """Of the draws' covariance, shrunk towards a small multiple of the unit matrix."""
        covariance = moments.covariance
        if not self.settings.dense_mass:
            covariance = jnp.diag(jnp.diagonal(covariance))
        share = moments.total / (moments.total + _SHRINKAGE)
        identity = jnp.eye(len(covariance), dtype=covariance.dtype)
        return jnp.linalg.cholesky(share * covariance + (1 - share) * _SHRUNK_TO * identity)
