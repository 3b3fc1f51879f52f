"""Problems with closed-form posteriors, for the conformance test of every estimator."""

from dataclasses import dataclass, field

import jax
import jax.numpy as jnp
import numpy as np

from pdsim.likelihood.problem import Position
from pdsim.parameters import Parameter, ParameterSpace


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class GaussianProblem:
    """A Gaussian over the unit box, mean (M,) and covariance (M, M)."""

    mean: jax.Array
    precision: jax.Array
    space: ParameterSpace = field(metadata={"static": True})
    rollout_count: int = field(default=1, metadata={"static": True})

    def start_shooting(self):
        return jnp.zeros((1, 0, 1))

    def evaluate(self, position: Position):
        z = position.parameters - self.mean
        return -0.5 * jnp.einsum("ni,ij,nj->n", z, self.precision, z), position.shooting

    def joined(self, parameters):
        shooting = jnp.zeros((len(parameters), 1, 0, 1))
        return self.evaluate(Position(parameters, shooting))[0], shooting


def gaussian(mean, covariance) -> GaussianProblem:
    space = ParameterSpace(tuple(Parameter(f"p{i}", 0.0, 1.0, "-") for i in range(len(mean))))
    return GaussianProblem(jnp.asarray(mean), jnp.asarray(np.linalg.inv(covariance)), space)


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

    def start_shooting(self):
        return self.measured[1:][None, :, None]

    def evaluate(self, position: Position):
        x, s = position.parameters[:, 0], position.shooting[:, 0, :, 0]
        states = jnp.concatenate([x[:, None], s], axis=1)
        log_likelihood = -0.5 * (((states - self.measured) / self.sigma) ** 2).sum(axis=1)
        defects = states[:, 1:] - states[:, :-1]
        return log_likelihood, defects[:, None, :, None]

    def joined(self, parameters):
        shooting = jnp.broadcast_to(
            parameters[:, :, None, None], (len(parameters), 1, len(self.measured) - 1, 1)
        )
        return self.evaluate(Position(parameters, shooting))[0], shooting

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
