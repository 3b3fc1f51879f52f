"""Emcee: the affine-invariant ensemble sampler (Goodman and Weare, 2010), all walkers at once.

``moves: mixed`` takes differential evolution in its place (ter Braak, Statistics and Computing 16,
2006): x' = x + 2.38/√(2d) (z1 − z2) with z1 and z2 of the other half. One move in five is a snooker
move, the share that emcee's documentation recommends.
"""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from pydantic import Field

from pdsim.inference.chains import Chains, ChainSettings, ChainState, Moves
from pdsim.inference.estimator import Done, Info, affordable, summarise_each
from pdsim.inference.target import Target
from pdsim.likelihood.problem import Problem

# emcee takes differences of log densities: what does not exist is very unlikely, not −∞.
_NOTHING = -1e300


class Settings(ChainSettings):
    """Affine-invariant ensemble: one walker for each particle, or two for each dimension."""

    moves: Literal["stretch", "mixed"] = Field(
        "stretch",
        description="stretch moves, or differential evolution with one snooker move in five, for "
        "narrow and curved ridges",
    )
    stretch: float = Field(2.0, gt=1, description="a of the stretch moves")


class Ensemble(NamedTuple):
    """The walkers.

    Attributes:
        z: (walker, dimension).
        log_density: (walker,).
        evaluation: (walker, 2), log likelihood and largest defect.
    """

    z: np.ndarray
    log_density: np.ndarray
    evaluation: np.ndarray


@jax.jit
def _evaluate(target: Target, z: jax.Array):
    value, evaluation = target.log_density(z)
    return jnp.where(jnp.isfinite(value), value, _NOTHING), *evaluation


def _evaluated(target: Target, z: np.ndarray) -> np.ndarray:
    """Log density, log likelihood and largest defect of each walker, (walker, 3)."""
    return np.stack([np.asarray(part) for part in _evaluate(target, jnp.asarray(z))], axis=1)


def _moves(settings: Settings):
    import emcee

    if settings.moves == "stretch":
        return emcee.moves.StretchMove(a=settings.stretch)
    from pdsim.inference.snooker import SnookerMove

    return [(emcee.moves.DEMove(), 0.8), (SnookerMove(), 0.2)]


@dataclass(frozen=True)
class Emcee(Chains):
    """Moves of a part of the ensemble by what the other walkers say of the density.

    The ensemble needs two walkers for each dimension, so with shooting variables it may be larger
    than the number of particles asked for, and does fewer iterations in return.
    """

    settings: Settings
    uses_gradients: ClassVar[bool] = False
    cheaper: ClassVar[str] = (
        "choose single shooting or fewer windows, for the ensemble needs two walkers for each "
        "parameter and start variable"
    )

    def walkers(self, problem: Problem) -> int:
        least = 2 * self.target(problem).dimension + 2
        return max(self.particle_count + self.particle_count % 2, least)

    def init(self, problem: Problem, seed: int) -> ChainState:
        target = self.target(problem)
        z = target.starts(self.walkers(problem), seed)
        values = _evaluated(target, z)
        return ChainState(Ensemble(z, values[:, 0], values[:, 1:]), self.trace(problem, z))

    def advance(
        self, problem: Problem, state: ChainState, *, seed: int, done: Done, until: int, capacity
    ) -> tuple[ChainState, Info]:
        import emcee

        del capacity
        ensemble = state.sampler
        count, dimension = np.shape(ensemble.z)
        target = self.target(problem)
        sampler = emcee.EnsembleSampler(
            count,
            dimension,
            partial(_evaluated, target),
            moves=_moves(self.settings),
            vectorize=True,
        )
        source = np.random.SeedSequence([seed, done.iterations])
        start = emcee.State(
            np.asarray(ensemble.z),
            log_prob=np.asarray(ensemble.log_density),
            blobs=np.asarray(ensemble.evaluation),
            random_state=np.random.RandomState(source.generate_state(8)).get_state(),
        )
        iterations = affordable(done, until, self.cost(problem))
        results = [
            Ensemble(result.coords.copy(), result.log_prob.copy(), result.blobs.copy())
            for result in sampler.sample(
                start, iterations=iterations, store=False, skip_initial_state_check=True
            )
        ]
        every = Ensemble(*(np.stack(field) for field in zip(*results, strict=True)))
        before = np.concatenate([start.coords[None], every.z[:-1]])
        moved = (every.z != before).any(axis=2).mean(axis=1)
        info = summarise_each(
            every.log_density > _NOTHING,
            *np.moveaxis(every.evaluation, 2, 0),
            evaluations=count,
            acceptance=moved,
        )
        moves = Moves(every.z, np.ones(len(every.z), bool))
        trace = state.trace.extend(moves, self.per_chain(problem))
        return ChainState(results[-1], trace), info


ESTIMATOR = Emcee
