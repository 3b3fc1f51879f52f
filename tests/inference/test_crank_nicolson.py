"""Crank–Nicolson chains: heavy tails, many dimensions, slopes that are wrong."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from inference.targets import GaussianProblem, build, gaussian
from scipy import stats

from pdsim.inference.runner import run


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Heavy(GaussianProblem):
    """Independent t distributions with three degrees of freedom, linearised as Gaussians.

    The information is far too large, as that of a fit may be: the t's deviation is √3 times that of
    the Gaussian with its curvature, and twice that of the one that it is said to be here.
    """

    def evaluate(self, position):
        square = (position.parameters - self.mean) ** 2 * jnp.diag(self.precision)
        return -2 * jnp.log1p(square / 3).sum(axis=1), position.shooting


@pytest.mark.parametrize("narrow", [1.0, 4.0])
def test_tails_heavier_than_the_fit_s_are_found(narrow):
    """Quantiles of each parameter are the t's, whatever the Gaussian that steps are about."""
    scale = 0.02
    given = gaussian([0.5, 0.5, 0.5], scale**2 * np.eye(3))
    problem = Heavy(given.mean, given.precision, given.space)
    if narrow != 1.0:
        problem = Narrow(given.mean, given.precision, given.space)
    e = build("crank_nicolson", particles=1200, iterations=100)
    result = run(e, problem, seed=0, chunk_size=200)
    assert np.max(e.convergence(problem, result.state)["r_hat"]) < 1.02
    x = np.asarray(e.settled(result.state))[..., :3]
    u = 1 / (1 + np.exp(-x))
    found = np.quantile((u - 0.5) / scale, [0.02, 0.1, 0.5, 0.9, 0.98], axis=(0, 1))
    expected = stats.t(3).ppf([0.02, 0.1, 0.5, 0.9, 0.98])
    np.testing.assert_allclose(found, expected[:, None] + 0 * found, rtol=0.12, atol=0.08)


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Narrow(Heavy):
    """The same with residuals, and slopes, four times as large."""

    def linearise(self, position):
        linear = super().linearise(position)
        return linear._replace(
            residuals=4 * linear.residuals, residual_parameters=4 * linear.residual_parameters
        )


def test_steps_stay_long_in_many_dimensions():
    """Thirty correlated parameters, at an acceptance of 0.3 or more and steps above 0.6."""
    count = 30
    random = np.random.default_rng(0)
    a = random.normal(size=(count, count))
    covariance = 0.02**2 * (a @ a.T / count + 0.2 * np.eye(count))
    problem = gaussian(np.full(count, 0.5), covariance)
    e = build("crank_nicolson", particles=1200, iterations=50)
    result = run(e, problem, seed=0, chunk_size=200)
    convergence = e.convergence(problem, result.state)
    assert np.max(convergence["r_hat"]) < 1.02
    assert result.history["step_size"][-1] > 0.6
    u = np.asarray(jax.nn.sigmoid(e.settled(result.state))).reshape(-1, count)
    np.testing.assert_allclose(u.std(axis=0), np.sqrt(np.diag(covariance)), rtol=0.12)
    np.testing.assert_allclose(u.mean(axis=0), 0.5, atol=0.15 * 0.02)
