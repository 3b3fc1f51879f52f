"""Every estimator, and problems with closed-form posteriors for their conformance test."""

from dataclasses import dataclass, field

import jax
import jax.numpy as jnp
import numpy as np
from tiers import slow as in_slow_tier

from pdsim.inference import load_estimator
from pdsim.inference.runs import WorkConfig
from pdsim.likelihood.problem import Linearisation, Position
from pdsim.parameters.space import Parameter, ParameterSpace
from pdsim.registry import NAMES, load

# What is tested: every method of the registry, and the other way through those that have two.
VARIANTS = {
    "csvgd_particles": ("csvgd", {"reweighting": 0.0}),
    "csvgd_gradient": ("csvgd", {"descent": "gradient"}),
    "emcee_mixed": ("emcee", {"moves": "mixed"}),
    "nuts_separate": ("nuts", {"adaptation": "separate"}),
}
# Those that return a point, which no test of a posterior's width applies to (test_point.py).
POINTS = ("steepest_descent", "gauss_newton")
ESTIMATORS = (*(name for name in NAMES["inference"] if name not in POINTS), *VARIANTS)
# Those that end before their budget does, once further iterations would change nothing.
CONVERGING = ("least_squares",)


def cases(names, slow):
    """Names as cases of a test, some of which wait for the slow tier."""
    return [in_slow_tier(n) if n in slow else n for n in names]


def build(name, *, particles, iterations, settings=None):
    """Build one of ``ESTIMATORS`` with a budget."""
    method, own = VARIANTS.get(name, (name, {}))
    model = load("inference", method).Settings
    budget = WorkConfig(particle_count=particles, iteration_count=iterations)
    return load_estimator(method, model.model_validate(own | (settings or {})), budget)


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class GaussianProblem:
    """A Gaussian over the unit box, mean (M,) and covariance (M, M)."""

    mean: jax.Array
    precision: jax.Array
    space: ParameterSpace = field(metadata={"static": True})
    rollout_count: int = field(default=1, metadata={"static": True})
    gradient_block: int | None = field(default=None, metadata={"static": True})

    @property
    def tangent_count(self):
        return self.space.dimension + self.start_shooting().shape[1]

    def start_shooting(self):
        return jnp.zeros((1, 0, 1))

    def evaluate(self, position: Position):
        z = position.parameters - self.mean
        return -0.5 * jnp.einsum("ni,ij,nj->n", z, self.precision, z), position.shooting

    def linearise(self, position: Position):
        """One window, whose residuals are Rᵀ(x − mean) with R Rᵀ the precision."""
        value, defects = self.evaluate(position)
        count, m = position.parameters.shape
        root = jnp.linalg.cholesky(self.precision).T
        return Linearisation(
            log_likelihood=value,
            weights=jnp.ones((count, 1)),
            residuals=((position.parameters - self.mean) @ root.T)[:, None, None],
            residual_parameters=jnp.broadcast_to(root, (count, 1, 1, m, m)),
            residual_start=jnp.zeros((count, 1, 0, m, 1)),
            defects=defects,
            end_parameters=jnp.zeros((count, 1, 0, 1, m)),
            end_start=jnp.zeros((count, 1, 0, 1, 1)),
        )


def gaussian(mean, covariance, joint=None) -> GaussianProblem:
    parameters = tuple(Parameter(f"p{i}", 0.0, 1.0, "-") for i in range(len(mean)))
    space = ParameterSpace(parameters, joint=joint)
    return GaussianProblem(jnp.asarray(mean), jnp.asarray(np.linalg.inv(covariance)), space)


def correlated(count: int, scale: float) -> np.ndarray:
    """A covariance of so many parameters, drawn at random; deviations are about the scale."""
    a = np.random.default_rng(0).normal(size=(count, count))
    return scale**2 * (a @ a.T / count + 0.2 * np.eye(count))


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class ChainProblem:
    """A constant x measured in W windows: the smallest problem with shooting variables.

    Window w's start s_w should equal x (s_0 = x is the parameter); each window measures its own
    start with noise σ. With the gaps closed the posterior of x is N(mean(y), σ²/W).
    """

    measured: jax.Array
    sigma: jax.Array
    space: ParameterSpace = field(metadata={"static": True})
    rollout_count: int = field(default=1, metadata={"static": True})
    gradient_block: int | None = field(default=None, metadata={"static": True})

    @property
    def tangent_count(self):
        return self.space.dimension + self.start_shooting().shape[1]

    def start_shooting(self):
        return self.measured[1:][None, :, None]

    def evaluate(self, position: Position):
        x, s = position.parameters[:, 0], position.shooting[:, 0, :, 0]
        states = jnp.concatenate([x[:, None], s], axis=1)
        log_likelihood = -0.5 * (((states - self.measured) / self.sigma) ** 2).sum(axis=1)
        defects = states[:, 1:] - states[:, :-1]
        return log_likelihood, defects[:, None, :, None]

    def linearise(self, position: Position):
        value, defects = self.evaluate(position)
        x, s = position.parameters, position.shooting[:, 0, :, 0]
        count, windows = len(x), len(self.measured)
        residuals = (jnp.concatenate([x, s], axis=1) - self.measured) / self.sigma
        first = (jnp.arange(windows) == 0).astype(x.dtype)
        ones = jnp.ones((count, 1, windows - 1, 1, 1))
        return Linearisation(
            log_likelihood=value,
            weights=jnp.ones((count, 1)),
            residuals=residuals[:, None, :, None],
            residual_parameters=jnp.broadcast_to(
                (first / self.sigma)[None, None, :, None, None], (count, 1, windows, 1, 1)
            ),
            residual_start=ones / self.sigma,
            defects=defects,
            end_parameters=jnp.broadcast_to(first[:-1, None, None], ones.shape),
            end_start=ones[:, :, 1:],
        )

    def gaussian_posterior(self, defect_deviation: float) -> tuple[float, float]:
        """Mean and standard deviation of x when each gap is a Gaussian term (Eq. 5).

        All is linear, so the joint density of x and the starts is Gaussian: its precision is
        1/σ² on the diagonal plus DᵀD/σ_def² with D the differences of neighbours.
        """
        count = len(self.measured)
        differences = np.diff(np.eye(count), axis=0)
        precision = np.eye(count) / float(self.sigma) ** 2
        precision += differences.T @ differences / defect_deviation**2
        covariance = np.linalg.inv(precision)
        mean = covariance @ np.asarray(self.measured) / float(self.sigma) ** 2
        return float(mean[0]), float(np.sqrt(covariance[0, 0]))
