"""Chains that start from fits: what samplers share that adapt all their chains together.

1. Fit: least squares from Sobol points. A fit that ended far below the best is replaced by a better
   one. Without a share of the budget for it chains start from those points.
2. Start: each chain draws from the Gaussian of its fit, whose covariance, in logits, is the inverse
   of Gauss and Newton's information.
3. Warm-up, a share of the budget, and sampling with held what was adapted: the sampler's own.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pdsim.inference.chains import ChainState, SteppedChains
from pdsim.inference.estimator import Done, Info, iterate
from pdsim.inference.least_squares import LeastSquares
from pdsim.inference.least_squares import Settings as FitSettings
from pdsim.inference.least_squares import State as FitState
from pdsim.inference.target import covariance_in_logits
from pdsim.likelihood.problem import Problem

# Draws of each chain in the first window of an adaptation; each further one is twice as long.
FIRST_WINDOW = 25
# A fit this many nats below the best is no start: its chain would stay where hardly anything is.
_BELOW = 5.0
# How near to a limit a chain may start.
_MARGIN = 0.01


class Moments(NamedTuple):
    """Running mean and sum of squares of all chains' draws in a window."""

    total: jax.Array
    mean: jax.Array
    squares: jax.Array

    @classmethod
    def none(cls, dimension: int, dtype) -> "Moments":
        """Of no draws."""
        nothing = jnp.zeros(dimension, dtype)
        return cls(jnp.zeros((), dtype), nothing, jnp.outer(nothing, nothing))

    def extended(self, z: jax.Array) -> "Moments":
        """With positions (chain, dimension)."""
        total = self.total + len(z)
        mean, deviation = z.mean(axis=0), z - z.mean(axis=0)
        apart = mean - self.mean
        squares = self.squares + deviation.T @ deviation
        squares = squares + jnp.outer(apart, apart) * self.total * len(z) / total
        return Moments(total, self.mean + apart * len(z) / total, squares)

    @property
    def covariance(self) -> jax.Array:
        """Of the draws, (dimension, dimension)."""
        return self.squares / jnp.maximum(self.total - 1, 1)


class Gaussian(NamedTuple):
    """Of the best fit its centre (dimension,), of all good ones the mean covariance."""

    centre: jax.Array
    covariance: jax.Array


class Phases(NamedTuple):
    """The fit, and the chains; these mean nothing until the fit has ended."""

    fit: FitState
    sampler: Any


@dataclass(frozen=True)
class FittedChains(SteppedChains):
    """Chains from fits; a sampler adds ``begin``, ``lost``, ``step``, ``recorded`` and ``cost``.

    The sampler's state has ``spent``, the evaluations since the fit, and its settings ``fit``,
    ``warmup`` and ``chain_count``.
    """

    settings: Any
    # Iterations of a fit, at most; None: as many as its share of the budget pays for.
    most_fit_iterations: ClassVar[int | None] = None

    def begin(self, problem: Problem, z: jax.Array, about: Gaussian) -> Any:
        """Return the sampler's state with chains at z, (chain, dimension)."""
        raise NotImplementedError

    def lost(self, sampler: Any) -> jax.Array:
        """Chains that stand where there is no density, (chain,)."""
        raise NotImplementedError

    @property
    def fit_count(self) -> int:
        """Starts of the fit."""
        return self.settings.chain_count

    @property
    def fitter(self) -> LeastSquares:
        """Least squares from as many starts as there are fits."""
        settings = FitSettings(
            start_count=self.fit_count, defect_deviation=self.settings.defect_deviation
        )
        return LeastSquares(
            settings=settings,
            particle_count=self.particle_count,
            iteration_count=self.iteration_count,
        )

    def fit_iterations(self, problem: Problem) -> int:
        """Of the fit, at most."""
        budget = self.settings.fit * self.particle_count * self.iteration_count
        affordable = int(budget / self.fitter.cost(problem))
        return min(self.most_fit_iterations or affordable, affordable)

    def fit_cost(self, problem: Problem) -> int:
        """Evaluations of an iteration of the fit; 0 without one."""
        return self.fitter.cost(problem) if self.fit_iterations(problem) else 0

    def init(self, problem: Problem, seed: int) -> ChainState:
        fit = self.fitter.init(problem, seed)
        fits = self._logits(problem, fit)
        z = fits[np.arange(self.settings.chain_count) % len(fits)]
        identity = jnp.eye(z.shape[1], dtype=z.dtype)
        sampler = self.begin(problem, z, Gaussian(z[0], identity))
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
        sampler, (info, moves) = iterate(self, problem, sampler, done=done, **options)
        trace = state.trace.extend(moves, self.per_chain(problem))
        return ChainState(Phases(fit, sampler), trace), info

    def adapting(self, state: Any) -> jax.Array:
        """Whether the warm-up goes on."""
        budget = self.particle_count * self.iteration_count
        return state.spent < self.settings.warmup * budget

    def _logits(self, problem: Problem, fit: FitState) -> jax.Array:
        """Fitted positions as the vectors of the target, away from the limits, (fit, dim)."""
        target = self.target(problem)
        x = jnp.clip(fit.position.parameters, _MARGIN, 1 - _MARGIN)
        offset = (fit.position.shooting - problem.start_shooting()) / target.defect_deviation
        return jnp.concatenate([jnp.log(x) - jnp.log1p(-x), offset.reshape(len(x), -1)], axis=1)

    def _start(self, problem: Problem, fit: FitState, seed: int) -> Any:
        """Chains at draws from the Gaussians of their fits."""
        z, objective = self._logits(problem, fit), fit.model.objective
        order = jnp.argsort(objective)
        good = objective <= objective.min() + _BELOW
        number = jnp.arange(self.settings.chain_count)
        own = number % len(z)
        chosen = jnp.where(good[own], own, order[number % jnp.maximum(good.sum(), 1)])
        centre = z[order[0]]
        z, information = z[chosen], fit.model.information[chosen]
        covariance = jax.vmap(covariance_in_logits)(z, information)
        noise = jax.random.normal(jax.random.key(seed), z.shape, z.dtype)
        root = jnp.linalg.cholesky(covariance)
        starts = z + jnp.einsum("cij,cj->ci", root, noise)
        about = Gaussian(centre, covariance.mean(axis=0))
        sampler = self.begin(problem, starts, about)
        lost = self.lost(sampler)
        if bool(lost.any()):
            starts = jnp.where(lost[:, None], z, starts)
            sampler = self.begin(problem, starts, about)
        return sampler
