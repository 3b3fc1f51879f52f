"""Cross-entropy method: a Gaussian mixture fitted to the best of its own samples, again and again.

The mixture q minimises the cross-entropy to the posterior p (Rubinstein and Kroese, 2004, ch. 2),
which by importance sampling is a maximum-likelihood fit to samples with weights w = p/q. As long
as q is far from p a few samples would carry all the weight; so the weights are flattened to w^β
with the largest β ≤ 1 that leaves an effective sample size of ``elite_share`` of the samples. This
β takes the place of the hard elite quantile, with which the mixture shrinks to a point at the
mode; at β = 1 the fit is the posterior's, within the family of mixtures.

Samples of the last few iterations are fitted together, weighted as draws of the mixture of all
their proposals (Cornuet et al., 2012). The fit goes on from the last one by a few steps of
expectation maximisation (Dempster, Laird and Rubin, 1977).
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from pydantic import Field

from pdsim.inference.estimator import Done, Independent, Info, affordable, summarise_each
from pdsim.inference.importance import flattened, log_sum
from pdsim.inference.target import SamplerSettings, Target
from pdsim.likelihood.problem import Position, Problem

# Smallest variance of a component, in squared logits.
_FLOOR = 1e-10
# A full covariance needs this many effective samples for each dimension.
_SAMPLES_PER_DIMENSION = 10
# Steps of a fit at most, and what a mean log density must gain for another.
_STEPS, _GAIN = 5, 1e-3


class Settings(SamplerSettings):
    """Cross-entropy method with a Gaussian mixture."""

    component_count: int = Field(3, ge=1, le=1000, description="Gaussians in the mixture")
    elite_share: float = Field(
        0.1, gt=0, lt=1, description="smallest effective share of the samples that may be fitted"
    )
    memory: int = Field(
        5, ge=1, le=10_000, description="iterations whose samples are fitted together"
    )


class Mixture(NamedTuple):
    """Gaussians with full (component, D, D) or diagonal (component, D) covariances.

    Several mixtures have an axis of them in front of every attribute.

    Attributes:
        log_weight: (component,).
        mean: (component, D).
        covariance: see above.
    """

    log_weight: np.ndarray
    mean: np.ndarray
    covariance: np.ndarray

    def sample(self, count: int, random: np.random.Generator) -> np.ndarray:
        """Draw (count, D)."""
        component = random.choice(len(self.mean), count, p=np.exp(self.log_weight))
        noise = random.normal(size=(count, self.mean.shape[1]))
        if not self.full:
            return self.mean[component] + np.sqrt(self.covariance[component]) * noise
        factor = np.linalg.cholesky(self.covariance)[component]
        return self.mean[component] + np.einsum("nij,nj->ni", factor, noise)

    @property
    def full(self) -> bool:
        """Whether covariances are matrices."""
        return self.covariance.ndim > self.mean.ndim

    def log_densities(self, z: np.ndarray) -> np.ndarray:
        """Weighted log density of each component at (n, D), (component, n)."""
        difference = z - self.mean[..., None, :]
        if self.full:
            inverse = np.linalg.inv(np.linalg.cholesky(self.covariance))
            log_determinant = -2 * np.log(np.diagonal(inverse, axis1=-2, axis2=-1)).sum(axis=-1)
            white = difference @ np.swapaxes(inverse, -1, -2)
        else:
            log_determinant = np.log(self.covariance).sum(axis=-1)
            white = difference / np.sqrt(self.covariance)[..., None, :]
        constant = z.shape[1] * np.log(2 * np.pi) + log_determinant
        square = np.einsum("...i,...i->...", white, white)
        return (self.log_weight - 0.5 * constant)[..., None] - 0.5 * square


def fitted(start: Mixture, sample: np.ndarray) -> Mixture:
    """Continue a mixture by expectation maximisation on a sample (n, D)."""
    mixture, before = start, -np.inf
    for _ in range(_STEPS):
        terms = mixture.log_densities(sample)
        total = log_sum(terms, axis=0)
        share = np.exp(terms - total)
        # A component that has lost all its samples stays a Gaussian, at no place.
        count = share.sum(axis=1) + 10 * np.finfo(float).eps
        mean = share @ sample / count[:, None]
        difference = sample - mean[:, None]
        if mixture.full:
            weighted = np.swapaxes(share[..., None] * difference, 1, 2)
            covariance = weighted @ difference / count[:, None, None]
            covariance = covariance + _FLOOR * np.eye(sample.shape[1])
        else:
            covariance = np.einsum("kn,kni->ki", share, difference**2) / count[:, None] + _FLOOR
        weight = np.maximum(count / count.sum(), 1e-6)
        mixture = Mixture(np.log(weight / weight.sum()), mean, covariance)
        if abs(total.mean() - before) < _GAIN:
            break
        before = total.mean()
    return mixture


class State(NamedTuple):
    """The mixture, its latest samples, and those remembered.

    Attributes:
        proposal: mixture the next samples are drawn from.
        z: (sample, D), latest.
        finite: (sample,), of the latest.
        past_z: samples, (iteration, sample, D).
        past_value: their log densities, (iteration, sample).
        past_proposal: mixtures they came from, iterations in front.
    """

    proposal: Mixture
    z: np.ndarray
    finite: np.ndarray
    past_z: np.ndarray
    past_value: np.ndarray
    past_proposal: Mixture


@jax.jit
def _evaluate(target: Target, z: jax.Array):
    return target.log_density(z)


@dataclass(frozen=True)
class Cem(Independent):
    """The draws are the latest samples, those of the mixture that was fitted last."""

    settings: Settings
    sample_kind: ClassVar[str] = "iid"
    uses_gradients: ClassVar[bool] = False

    def target(self, problem: Problem) -> Target:
        """Return the density fitted."""
        return Target(problem, self.settings.defect_deviation)

    def init(self, problem: Problem, seed: int) -> State:
        """Spread samples over the box as any other method; the first proposal is their spread."""
        z = self.target(problem).starts(self.particle_count, seed)
        count = self.settings.component_count
        covariance = np.cov(z, rowvar=False).reshape(z.shape[1], -1) + 1e-6 * np.eye(z.shape[1])
        if not self._full(z.shape[1]):
            covariance = np.diag(covariance).copy()
        proposal = Mixture(
            np.full(count, -np.log(count)),
            np.tile(z.mean(axis=0), (count, 1)),
            np.tile(covariance, (count,) + (1,) * covariance.ndim),
        )
        return State(
            proposal,
            z,
            np.ones(len(z), bool),
            np.empty((0, *z.shape)),
            np.empty((0, len(z))),
            Mixture(*(np.empty((0, *part.shape)) for part in proposal)),
        )

    def _full(self, dimension: int) -> bool:
        effective = self.settings.elite_share * self.settings.memory * self.particle_count
        return effective >= _SAMPLES_PER_DIMENSION * dimension

    def advance(
        self, problem: Problem, state: State, *, seed: int, done: Done, until: int, capacity: int
    ) -> tuple[State, Info]:
        from threadpoolctl import threadpool_limits

        del capacity
        reports = []
        # Matrices of a few numbers: threads would wait for each other longer than they compute.
        with threadpool_limits(1, user_api="blas"):
            for number in range(affordable(done, until, self.cost(problem))):
                random = np.random.default_rng([seed, done.iterations + number])
                state, report = self._iterate(problem, state, random, done.iterations + number)
                reports.append(report)
        *evaluated, power = (np.stack(rows) for rows in zip(*reports, strict=True))
        return state, summarise_each(*evaluated, evaluations=self.cost(problem), step_size=power)

    def _iterate(self, problem, state: State, random, number: int) -> tuple[State, tuple]:
        memory = self.settings.memory
        z = state.z if number == 0 else state.proposal.sample(self.particle_count, random)
        value, evaluation = (
            jax.tree.map(np.asarray, part)
            for part in _evaluate(self.target(problem), jnp.asarray(z))
        )
        finite = np.isfinite(value)
        past_z = np.concatenate([state.past_z, z[None]])[-memory:]
        past_value = np.concatenate([state.past_value, value[None]])[-memory:]
        past = Mixture(
            *(
                np.concatenate([old, new[None]])[-memory:]
                for old, new in zip(state.past_proposal, state.proposal, strict=True)
            )
        )
        proposal, power = state.proposal, np.nan
        if np.isfinite(past_value).any():
            points = past_z.reshape(-1, z.shape[1])
            terms = past.log_densities(points)
            log_q = log_sum(terms.reshape(-1, len(points)), axis=0)
            least = self.settings.elite_share * len(points)
            weights, power = flattened(past_value.ravel() - log_q, least)
            proposal = self._fit(points, weights, state.proposal, random)
        return State(proposal, z, finite, past_z, past_value, past), (finite, *evaluation, power)

    def _fit(self, points, weights, start: Mixture, random) -> Mixture:
        """Fit the mixture to weighted points, by systematic resampling."""
        positions = (np.arange(len(points)) + random.uniform()) / len(points)
        chosen = np.searchsorted(np.cumsum(weights), positions * weights.sum())
        sample = points[np.minimum(chosen, len(points) - 1)]
        return fitted(start._replace(mean=self._apart(start, sample, random)), sample)

    @staticmethod
    def _apart(start: Mixture, sample: np.ndarray, random) -> np.ndarray:
        """Move means that coincide to points of the sample: equal components would stay equal."""
        mean = start.mean.copy()
        for i in range(1, len(mean)):
            if (np.abs(mean[:i] - mean[i]).max(axis=1) < 1e-12).any():
                mean[i] = sample[random.integers(len(sample))]
        return mean

    def draws(self, problem: Problem, state: State) -> Position:
        return self.target(problem).position(jnp.asarray(state.z))

    def diverging(self, problem: Problem, state: State) -> jax.Array:
        del problem
        return jnp.asarray(~state.finite)


ESTIMATOR = Cem
