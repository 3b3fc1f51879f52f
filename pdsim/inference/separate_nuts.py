"""The No-U-Turn sampler with window adaptation of each chain alone, chains side by side.

Blackjax's dual averaging, mass-matrix estimate and schedule of windows, driven step by step, so
that a run can be stopped, saved and resumed during its warm-up as well. An iteration is a leapfrog
step of each chain (``tree``) but of those that are far ahead; each counts its own draws, and ends
its warm-up by them.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from pdsim.inference import tree
from pdsim.inference.chains import ChainState, Moves, SteppedChains
from pdsim.inference.divergence import bring_back, keep_rows
from pdsim.inference.estimator import Info, summarise
from pdsim.inference.nuts_settings import Settings
from pdsim.inference.tree import Point, Tree
from pdsim.likelihood.problem import Problem
from pdsim.xla.cores import one_by_one, over_cores

if TYPE_CHECKING:
    from blackjax.adaptation.mass_matrix import MassMatrixAdaptationState
    from blackjax.adaptation.step_size import DualAveragingAdaptationState


# Fewer draws than this adapt nothing that is worth having.
_LEAST_WARMUP = 20
# How often a chain may be moved before it starts.
_TRIES = 20
_STEP_SIZE = 0.1


class Adaptation(NamedTuple):
    """What each chain adapts for itself, chains in front.

    Attributes:
        dual_averaging: of the step size.
        mass: running estimate of the mass matrix.
        root: Cholesky factor of the inverse mass matrix in use, (chain, dimension, dimension).
        draws: how many the chain has.
    """

    dual_averaging: "DualAveragingAdaptationState"
    mass: "MassMatrixAdaptationState"
    root: jax.Array
    draws: jax.Array


class Sampler(NamedTuple):
    """The chains; every leaf has chains in front.

    Attributes:
        draw: where each is.
        trees: from there to the next.
        moved: whether the chain got there in the last iteration.
        warm: whether that draw is of the warm-up.
        adaptation: of each.
    """

    draw: Point
    trees: Tree
    moved: jax.Array
    warm: jax.Array
    adaptation: Adaptation


@dataclass(frozen=True)
class SeparateNuts(SteppedChains):
    """Chains from Sobol points, or one from the centre of the box."""

    settings: Settings
    uses_gradients: ClassVar[bool] = True
    cheaper: ClassVar[str] = "lower chain_count or doublings"

    def least_budget(self, problem: Problem) -> int:
        return self.walkers(problem) * 2**self.settings.doublings

    def warmup(self, problem: Problem) -> int:
        """Draws of a chain that adapt: a share of those affordable if every tree is full."""
        affordable = self.particle_count * self.iteration_count // self.least_budget(problem)
        return max(int(self.settings.warmup * affordable), _LEAST_WARMUP)

    def _adaptations(self):
        from blackjax.adaptation.mass_matrix import mass_matrix_adaptation
        from blackjax.adaptation.step_size import dual_averaging_adaptation

        return (
            mass_matrix_adaptation(not self.settings.dense_mass),
            dual_averaging_adaptation(self.settings.target_acceptance),
        )

    def _planted(self, keys: jax.Array, draw: Point, step_size: jax.Array) -> Tree:
        return jax.vmap(tree.plant, (0, 0, 0, None))(keys, draw, step_size, self.settings.doublings)

    def init(self, problem: Problem, seed: int) -> ChainState:
        target = self.target(problem)
        start = target.starts(self.settings.chain_count, seed)
        z = jnp.asarray(start, problem.start_shooting().dtype)
        draw = tree.evaluated(target, z)
        for _ in range(_TRIES):
            finite = jnp.isfinite(draw.value)
            if finite.all() or not finite.any():
                break
            # No move is ever accepted from where the density is 0.
            z = bring_back(z, finite)
            draw = tree.evaluated(target, z)
        (mass_init, _, _), (dual_init, _, _) = self._adaptations()
        chains, dimension = z.shape
        step_size = jnp.full(chains, _STEP_SIZE, z.dtype)
        identity = jnp.eye(dimension, dtype=z.dtype)
        adaptation = Adaptation(
            jax.vmap(dual_init)(step_size),
            jax.vmap(lambda _: mass_init(dimension))(step_size),
            jnp.broadcast_to(identity, (chains, dimension, dimension)),
            jnp.zeros(chains, int),
        )
        keys = jax.random.split(jax.random.key(seed), chains)
        nobody = jnp.zeros(chains, bool)
        trees = self._planted(keys, draw, step_size)
        sampler = Sampler(draw, trees, nobody, ~nobody, adaptation)
        return ChainState(sampler, self.trace(problem, z))

    def recorded(self, state: Sampler) -> Moves:
        return Moves(state.draw.z, ~state.warm, state.moved)

    def step(self, key: jax.Array, problem: Problem, state: Sampler) -> tuple[Sampler, Info]:
        chains, draws = self.settings.chain_count, state.adaptation.draws
        waiting = draws > draws.min() + tree.LEAD

        @over_cores
        def advance(problem, rows):
            keys, waiting, state = rows
            pairs = jax.vmap(jax.random.split)(keys)
            for_leaf, for_tree = pairs[:, 0], pairs[:, 1]
            root = state.adaptation.root
            grown, ended = tree.grow(for_leaf, state.trees, root, self.target(problem))
            grown, ended = keep_rows(waiting, state.trees, grown), ended & ~waiting
            draw = keep_rows(ended, grown.proposal, state.draw)
            warm = state.adaptation.draws < self.warmup(problem)
            adaptation = self._adapted(problem, state.adaptation, draw, grown.rate, ended)
            dual = adaptation.dual_averaging
            adapting = adaptation.draws < self.warmup(problem)
            step_size = jnp.exp(jnp.where(adapting, dual.log_step_size, dual.log_step_size_avg))
            trees = keep_rows(ended, self._planted(for_tree, draw, step_size), grown)
            accepted = grown.acceptance - state.trees.acceptance
            return Sampler(draw, trees, ended, warm, adaptation), step_size, accepted

        new, step_size, accepted = advance(problem, (jax.random.split(key, chains), waiting, state))
        evaluations = (~waiting).sum()
        report = summarise(
            jnp.isfinite(new.draw.value),
            *new.draw.seen,
            evaluations=evaluations,
            step_size=jnp.median(step_size),
            acceptance=accepted.sum() / evaluations,
        )
        return new, report

    def _adapted(self, problem: Problem, old: Adaptation, draw: Point, rates, ended) -> Adaptation:
        """Behind the trees that have ended, as long as their chains' warm-up goes on."""
        from blackjax.adaptation.window_adaptation import build_schedule

        (_, mass_update, mass_final), (dual_init, dual_update, dual_final) = self._adaptations()
        warmup = self.warmup(problem)
        stage, window_ends = build_schedule(warmup)[jnp.minimum(old.draws, warmup - 1)].T
        learns = ended & (old.draws < warmup)
        dual = jax.vmap(dual_update)(old.dual_averaging, rates)
        mass = keep_rows(stage == 1, jax.vmap(mass_update)(old.mass, draw.z), old.mass)
        full = learns & window_ends.astype(bool)
        final = jax.vmap(mass_final)(mass)
        root = jax.lax.cond(full.any(), self._roots, lambda _: old.root, final.inverse_mass_matrix)
        restarted = Adaptation(
            jax.vmap(dual_init)(jax.vmap(dual_final)(dual)), final, root, old.draws
        )
        new = keep_rows(full, restarted, Adaptation(dual, mass, old.root, old.draws))
        return keep_rows(learns, new, old)._replace(draws=old.draws + ended)

    def _roots(self, inverse_mass: jax.Array) -> jax.Array:
        """Cholesky factors, (chain, dimension, dimension)."""
        if self.settings.dense_mass:
            return one_by_one(jnp.linalg.cholesky)(inverse_mass)
        return jax.vmap(jnp.diag)(jnp.sqrt(inverse_mass))
