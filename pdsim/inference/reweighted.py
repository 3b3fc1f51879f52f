"""Constrained SVGD whose particles become a proposal: draws from the posterior, with a diagnostic.

Particles of a Stein method are spread by a kernel, not drawn: with finitely many of them in more
than a few dimensions their spread is not the posterior's. Here they are a start.

1. Descent: the particles move, with a share of the budget.
2. First proposal: at each particle a Student's t in logits, with the inverse of Gauss and Newton's
   information there as its scale.
3. Rounds: half of the samples of each later round come from a t with the mean and the covariance
   of all samples so far, weighted; the other half from the first proposal.
4. Draws: samples of all rounds in proportion to their Pareto-smoothed weights; k̂ is told.

This needs a density over the parameters alone: with shooting variables, which constraints bind to
the parameters, the particles stay as they are.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pdsim.inference import importance
from pdsim.inference.csvgd_settings import Settings
from pdsim.inference.estimator import Done, Independent, Info, affordable, summarise
from pdsim.inference.importance import Mixture
from pdsim.inference.levenberg_marquardt import prior_precision
from pdsim.inference.particle_newton import GaussNewton
from pdsim.inference.target import Target, covariance_in_logits
from pdsim.likelihood.problem import Position, Problem

# Rounds, and the share of the samples of later ones that come from the fitted component.
_ROUNDS, _FITTED = 5, 0.5
# A covariance is fitted to at least so many effective samples for each dimension.
_SAMPLES_PER_DIMENSION = 5
# What is added to it, of the mean covariance of the first proposal.
_LEAST_COVARIANCE = 0.01
# How near to a limit a proposal may be centred.
_MARGIN = 0.01


class Samples(NamedTuple):
    """Weighted samples so far, and where they came from.

    Attributes:
        z: (sample, D).
        value: log density, (sample,); −∞ where there is none.
        log_first: log density of the first proposal there, (sample,).
        drawn: samples of each round, (round,).
        first: the particles' proposal.
        fits: the component fitted for each round but the first.
    """

    z: np.ndarray
    value: np.ndarray
    log_first: np.ndarray
    drawn: np.ndarray
    first: Mixture
    fits: Mixture

    @classmethod
    def start(cls, dimension: int) -> "Samples":
        """No samples, and no proposals."""
        nothing, none = np.empty((0, dimension)), np.empty(0)
        no_mixture = Mixture(none, nothing, np.empty((0, dimension, dimension)))
        return cls(nothing, none, none, np.empty(0, int), no_mixture, no_mixture)

    @property
    def log_weight(self) -> np.ndarray:
        """Log density over that of the mixture of all proposals, (sample,)."""
        drawn = np.asarray(self.drawn) / np.sum(self.drawn)
        fitted = _FITTED * drawn[1:]
        terms = [np.log(1 - fitted.sum()) + np.asarray(self.log_first)]
        for share, *component in zip(fitted, self.fits.mean, self.fits.root, strict=True):
            one = Mixture(np.zeros(1), *(np.asarray(x)[None] for x in component))
            terms.append(np.log(share) + one.log_density(np.asarray(self.z)))
        return np.asarray(self.value) - np.logaddexp.reduce(terms)


class State(NamedTuple):
    """The particles, and the samples that follow them."""

    particles: Any
    samples: Samples


@jax.jit
def _evaluate(target: Target, z: jax.Array):
    return target.log_density(z)


@dataclass(frozen=True)
class Reweighted(Independent):
    """Gauss–Newton particles, then importance sampling."""

    settings: Settings
    sample_kind: ClassVar[str] = "particles"
    uses_gradients: ClassVar[bool] = False
    cheaper: ClassVar[str] = GaussNewton.cheaper

    def descent(self, problem: Problem) -> GaussNewton:
        """The first part, with its share of the budget; all of it if nothing can be weighed."""
        share = 1 - self.settings.reweighting if _reweightable(problem) else 1.0
        iterations = max(round(share * self.iteration_count), 1)
        return GaussNewton(self.settings, self.particle_count, iterations)

    def target(self, problem: Problem) -> Target:
        """Return the density that samples are weighted by."""
        return Target(problem, self.settings.defect_deviation[-1])

    def cost(self, problem: Problem) -> int:
        return self.descent(problem).cost(problem)

    def init(self, problem: Problem, seed: int) -> State:
        dimension = self.target(problem).dimension
        return State(self.descent(problem).init(problem, seed), Samples.start(dimension))

    def advance(
        self, problem: Problem, state: State, *, seed: int, done: Done, until: int, capacity: int
    ) -> tuple[State, Info]:
        descent, cost = self.descent(problem), self.cost(problem)
        last = max(descent.particle_count * descent.iteration_count, cost)
        if done.evaluations + cost <= last:
            particles, info = descent.advance(
                problem,
                state.particles,
                seed=seed,
                done=done,
                until=min(until, last),
                capacity=capacity,
            )
            if _reweightable(problem):
                unknown = jnp.full_like(info.log_likelihood, jnp.nan)
                info = info._replace(own=info.own | {"effective": unknown})
            return State(particles, state.samples), info
        samples, rows = state.samples, []
        for number in range(done.iterations, done.iterations + affordable(done, until, cost)):
            random = np.random.default_rng([seed, number])
            samples, row = self._sample(problem, state.particles.position, samples, random)
            rows.append(row)
        return State(state.particles, samples), jax.tree.map(lambda *x: jnp.stack(x), *rows)

    def _sample(
        self, problem: Problem, position: Position, samples: Samples, random
    ) -> tuple[Samples, Info]:
        """Draw and weigh as many samples as an iteration of the descent costs."""
        target, cost, spent = self.target(problem), self.cost(problem), 0
        taken, rounds = len(samples.z), len(samples.drawn)
        a_round = self.settings.reweighting * self.particle_count * self.iteration_count / _ROUNDS
        if rounds == 0:
            samples = samples._replace(first=_first_proposal(problem, target, position))
            spent = len(position.parameters) * (1 + problem.tangent_count)
        begins = rounds == 0 or (rounds < _ROUNDS and taken >= rounds * a_round)
        if begins and rounds > 0:
            fits = _appended(samples.fits, _fitted(samples))
            samples = samples._replace(fits=fits)
        if begins:
            samples = samples._replace(drawn=np.append(samples.drawn, 0))
        first = Mixture(*(np.asarray(x) for x in samples.first))
        proposal = first
        if len(samples.fits.mean):
            latest = Mixture(*(np.asarray(x)[-1:] for x in samples.fits))
            proposal = first.joined(latest, _FITTED)
        z = proposal.sample(max(cost - spent, 1), random)
        value, evaluation = _evaluate(target, jnp.asarray(z, problem.start_shooting().dtype))
        drawn = np.array(samples.drawn)
        drawn[-1] += len(z)
        samples = samples._replace(
            z=np.concatenate([samples.z, z]),
            value=np.concatenate([samples.value, np.asarray(value, np.float64)]),
            log_first=np.concatenate([samples.log_first, first.log_density(z)]),
            drawn=drawn,
        )
        # Of these samples alone: the others' weights are looked at where a round begins.
        here = np.asarray(value, np.float64) - proposal.log_density(z)
        size = importance.effective_size(here) / len(z) if np.isfinite(here).any() else 0.0
        info = summarise(
            jnp.isfinite(value),
            *evaluation,
            evaluations=spent + len(z),
            defect_deviation=jnp.nan,
            effective=size,
        )
        return samples, info

    def draws(self, problem: Problem, state: State) -> Position:
        """Return the particles until there are samples, and then draws in proportion to weight."""
        if not _weighed(state):
            return self.descent(problem).draws(problem, state.particles)
        log_weight, _ = importance.smoothed(state.samples.log_weight)
        random = np.random.default_rng(len(log_weight))
        chosen = importance.resampled(log_weight, self.particle_count, random)
        dtype = problem.start_shooting().dtype
        return self.target(problem).position(
            jnp.asarray(np.asarray(state.samples.z)[chosen], dtype)
        )

    def diverging(self, problem: Problem, state: State) -> jax.Array:
        if not _weighed(state):
            return self.descent(problem).diverging(problem, state.particles)
        return jnp.zeros(self.particle_count, bool)

    def convergence(self, problem: Problem, state: State) -> dict[str, jax.Array]:
        """Return k̂ of the weights and their effective size, the same for every parameter."""
        if not _weighed(state):
            return {}
        log_weight, shape = importance.smoothed(state.samples.log_weight)
        every = jnp.ones(problem.space.dimension)
        return {
            "pareto_k": shape * every,
            "effective": importance.effective_size(log_weight) * every,
        }


def _weighed(state: State) -> bool:
    """Whether there are samples with a density."""
    return bool(np.isfinite(state.samples.value).any())


def _reweightable(problem: Problem) -> bool:
    """Whether there are no shooting variables."""
    return problem.start_shooting().shape[1] == 0


@jax.jit
def _expanded(problem: Problem, position: Position) -> jax.Array:
    """Gauss and Newton's information at particles, the prior's included, (particle, M, M)."""
    slopes = problem.linearise(position).residual_parameters
    slopes = slopes.reshape(len(slopes), -1, slopes.shape[-1])
    own = jnp.einsum("pki,pkj->pij", slopes, slopes)
    return own + prior_precision(problem.space, position.parameters)


def _first_proposal(problem: Problem, target: Target, position: Position) -> Mixture:
    x = jnp.clip(position.parameters, _MARGIN, 1 - _MARGIN)
    z = jnp.log(x) - jnp.log1p(-x)
    information = _expanded(problem, position._replace(parameters=x))
    known = jnp.isfinite(information).all(axis=(1, 2))
    covariance = jax.vmap(covariance_in_logits)(
        z, jnp.where(known[:, None, None], information, 0.0)
    )
    rows = np.flatnonzero(known)
    return importance.equal_mixture(
        np.asarray(z, np.float64)[rows], np.asarray(covariance, np.float64)[rows]
    )


def _fitted(samples: Samples) -> Mixture:
    """One component for all samples, with weights as even as the dimension asks for."""
    z = np.asarray(samples.z)
    least_size = _SAMPLES_PER_DIMENSION * z.shape[1]
    weight, _ = importance.flattened(samples.log_weight, least_size)
    roots = np.asarray(samples.first.root)
    least = _LEAST_COVARIANCE * np.einsum("kij,klj->il", roots, roots) / len(roots)
    return importance.fitted(z, weight, least)


def _appended(mixture: Mixture, other: Mixture) -> Mixture:
    return Mixture(*(np.concatenate(pair) for pair in zip(mixture, other, strict=True)))
