"""Cross-entropy method: a Gaussian mixture fitted to the best of its own samples, again and again.

The mixture q minimises the cross-entropy to the posterior p (Rubinstein and Kroese, 2004, ch. 2),
which by importance sampling is a maximum-likelihood fit to samples with weights w = p/q. As long
as q is far from p a few samples would carry all the weight; so the weights are flattened to w^β
with the largest β ≤ 1 that leaves an effective sample size of ``elite_share`` of the samples. This
β takes the place of the hard elite quantile, with which the mixture shrinks to a point at the
mode; at β = 1 the fit is the posterior's, within the family of mixtures.

Samples of the last few iterations are fitted together, weighted as draws of the mixture of all
their proposals (Cornuet et al., 2012).
"""

import warnings
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from pydantic import Field

from pdsim.config.section import Count
from pdsim.inference.estimator import Done, Independent, Info, affordable, summarise
from pdsim.inference.importance import flattened, log_sum
from pdsim.inference.target import SamplerSettings, Target
from pdsim.likelihood.problem import Position, Problem

# Smallest variance of a component, in squared logits.
_FLOOR = 1e-10
# A full covariance needs this many effective samples for each dimension.
_SAMPLES_PER_DIMENSION = 10


class Settings(SamplerSettings):
    """Cross-entropy method with a Gaussian mixture."""

    component_count: Count = Field(3, description="Gaussians in the mixture")
    elite_share: float = Field(
        0.1, gt=0, lt=1, description="smallest effective share of the samples that may be fitted"
    )
    memory: Count = Field(5, description="iterations whose samples are fitted together")


class Mixture(NamedTuple):
    """Gaussians with full (component, D, D) or diagonal (component, D) covariances.

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
        if self.covariance.ndim == 2:
            return self.mean[component] + np.sqrt(self.covariance[component]) * noise
        factor = np.linalg.cholesky(self.covariance)[component]
        return self.mean[component] + np.einsum("nij,nj->ni", factor, noise)

    def log_density(self, z: np.ndarray) -> np.ndarray:
        """Log density at (n, D)."""
        terms = []
        for weight, mean, covariance in zip(*self, strict=True):
            if covariance.ndim == 1:
                log_determinant = np.log(covariance).sum()
                distance = ((z - mean) ** 2 / covariance).sum(axis=1)
            else:
                factor = np.linalg.cholesky(covariance)
                log_determinant = 2 * np.log(np.diag(factor)).sum()
                distance = (np.linalg.solve(factor, (z - mean).T) ** 2).sum(axis=0)
            constant = len(mean) * np.log(2 * np.pi) + log_determinant
            terms.append(weight - 0.5 * (distance + constant))
        return log_sum(terms, axis=0)


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


def _one_thread() -> AbstractContextManager:
    """BLAS with one thread, that of scikit-learn included."""
    import sklearn.mixture  # noqa: F401  What is not loaded yet is not held.
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1, user_api="blas")


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
        del capacity
        reports = []
        # Matrices of a few numbers: threads would wait for each other longer than they compute.
        with _one_thread():
            for number in range(affordable(done, until, self.cost(problem))):
                random = np.random.default_rng([seed, done.iterations + number])
                state, report = self._iterate(problem, state, random, done.iterations + number)
                reports.append(report)
        return state, jax.tree.map(lambda *rows: np.stack(rows), *reports)

    def _iterate(self, problem, state: State, random, number: int) -> tuple[State, Info]:
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
            proposals = [Mixture(*(part[i] for part in past)) for i in range(len(past_z))]
            log_q = log_sum([q.log_density(points) for q in proposals], axis=0)
            least = self.settings.elite_share * len(points)
            weights, power = flattened(past_value.ravel() - log_q, least)
            proposal = self._fit(points, weights, state.proposal, random)
        report = summarise(
            jnp.asarray(finite),
            *map(jnp.asarray, evaluation),
            evaluations=len(z),
            step_size=power,
        )
        return State(proposal, z, finite, past_z, past_value, past), report

    def _fit(self, points, weights, start: Mixture, random) -> Mixture:
        """Fit the mixture to weighted points, by systematic resampling."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.mixture import GaussianMixture

        positions = (np.arange(len(points)) + random.uniform()) / len(points)
        chosen = np.searchsorted(np.cumsum(weights), positions * weights.sum())
        sample = points[np.minimum(chosen, len(points) - 1)]
        full = start.covariance.ndim == 3
        precision = np.linalg.inv(start.covariance) if full else 1 / start.covariance
        if full:
            # Rounding leaves an inverse a little skew, which the library refuses.
            precision = (precision + np.swapaxes(precision, 1, 2)) / 2
        model = GaussianMixture(
            len(start.mean),
            covariance_type="full" if full else "diag",
            reg_covar=_FLOOR,
            max_iter=5,
            weights_init=np.exp(start.log_weight) / np.exp(start.log_weight).sum(),
            means_init=self._apart(start, sample, random),
            precisions_init=precision,
            random_state=0,
        )
        with warnings.catch_warnings():
            # A few steps of expectation maximisation each time; the next iteration goes on.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(sample)
        weight = np.maximum(model.weights_, 1e-6)
        return Mixture(np.log(weight / weight.sum()), model.means_, model.covariances_)

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
