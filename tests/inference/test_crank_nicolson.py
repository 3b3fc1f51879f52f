"""Crank–Nicolson chains: heavy tails, many dimensions, slopes that are wrong."""

from dataclasses import dataclass, field

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from inference.targets import GaussianProblem, build, correlated, gaussian
from pydantic import ValidationError
from scipy import stats

from pdsim.inference.crank_nicolson import Settings
from pdsim.inference.fitted_chains import Gaussian
from pdsim.inference.runner import run


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Heavy(GaussianProblem):
    """Independent t distributions with three degrees of freedom, linearised as narrower Gaussians.

    Their information is 16 times the given one, and 12 times the t's curvature.
    """

    # To JAX trees of classes with the same fields are equal, and may share programs.
    freedom: int = field(default=3, metadata={"static": True})

    def evaluate(self, position):
        square = (position.parameters - self.mean) ** 2 * jnp.diag(self.precision)
        return -2 * jnp.log1p(square / self.freedom).sum(axis=1), position.shooting

    def linearise(self, position):
        linear = super().linearise(position)
        return linear._replace(
            residuals=4 * linear.residuals, residual_parameters=4 * linear.residual_parameters
        )


SCALE = 0.02
GAUSSIAN = gaussian([0.5, 0.5, 0.5], SCALE**2 * np.eye(3))
HEAVY = Heavy(GAUSSIAN.mean, GAUSSIAN.precision, GAUSSIAN.space)


def test_tails_heavier_than_the_fit_s_are_found():
    """Quantiles of each parameter are the t's, though steps begin about a narrow Gaussian."""
    e = build("crank_nicolson", particles=1200, iterations=100)
    result = run(e, HEAVY, seed=0, chunk_size=200)
    assert np.max(e.convergence(HEAVY, result.state)["r_hat"]) < 1.02
    u = 1 / (1 + np.exp(-np.asarray(e.settled(result.state))))
    found = np.quantile((u - 0.5) / SCALE, [0.02, 0.1, 0.5, 0.9, 0.98], axis=(0, 1))
    expected = stats.t(3).ppf([0.02, 0.1, 0.5, 0.9, 0.98])
    np.testing.assert_allclose(found, expected[:, None] + 0 * found, rtol=0.12, atol=0.08)


def test_steps_leave_the_posterior_as_it_is():
    """Many chains that start as draws from it are draws from it after any number of steps."""
    chains = 6000
    settings = {"chain_count": chains, "fit": 0.0, "warmup": 1e-9}
    e = build("crank_nicolson", particles=chains, iterations=100, settings=settings)
    random = np.random.default_rng(0)
    u = 0.5 + SCALE * stats.t(3).rvs(size=(chains, 3), random_state=random)
    inside = ((u > 0) & (u < 1)).all(axis=1)
    u = np.where(inside[:, None], u, 0.5)
    z = jnp.asarray(np.log(u / (1 - u)))
    # An eighth of the t's deviation, and aside.
    about = Gaussian(jnp.full(3, 0.05), (4 * SCALE / 8) ** 2 * jnp.eye(3))
    state = e.begin(HEAVY, z, about)._replace(spent=jnp.array(1))
    step = jax.jit(e.step)
    for number in range(30):
        after, info = step(jax.random.key(number), HEAVY, state)
        assert 0.02 < info.acceptance < 0.98
        # Nothing adapts any more.
        for name in ("centre", "root", "log_step", "window_end"):
            np.testing.assert_array_equal(getattr(after, name), getattr(state, name))
        state = after
    found = (1 / (1 + np.exp(-np.asarray(state.z))) - 0.5) / SCALE
    moved = (np.abs(np.asarray(state.z) - np.asarray(z)) > 0).all(axis=1).mean()
    assert moved > 0.5
    for column in found.T:
        assert stats.kstest(column, stats.t(3).cdf).pvalue > 0.01


def test_steps_stay_long_in_many_dimensions():
    """Thirty correlated parameters."""
    count = 30
    covariance = correlated(count, 0.02)
    problem = gaussian(np.full(count, 0.5), covariance)
    e = build("crank_nicolson", particles=1200, iterations=50)
    result = run(e, problem, seed=0, chunk_size=200)
    convergence = e.convergence(problem, result.state)
    assert np.max(convergence["r_hat"]) < 1.02
    assert result.history["step_size"][-1] > 0.6
    assert result.history["acceptance"][-100:].mean() > 0.25
    u = np.asarray(jax.nn.sigmoid(e.settled(result.state))).reshape(-1, count)
    np.testing.assert_allclose(u.std(axis=0), np.sqrt(np.diag(covariance)), rtol=0.12)
    np.testing.assert_allclose(u.mean(axis=0), 0.5, atol=0.15 * 0.02)


def test_one_chain_whose_steps_fail_goes_on():
    """A proposal without a density is no end of a run: the chain stays where it is."""

    @jax.tree_util.register_dataclass
    @dataclass(frozen=True)
    class Walled(GaussianProblem):
        edge: float = field(default=0.52, metadata={"static": True})

        def evaluate(self, position):
            value, shooting = super().evaluate(position)
            return jnp.where(position.parameters[:, 0] > self.edge, jnp.nan, value), shooting

    problem = Walled(GAUSSIAN.mean, GAUSSIAN.precision, GAUSSIAN.space)
    settings = {"chain_count": 1, "fit_count": 1}
    e = build("crank_nicolson", particles=10, iterations=40, settings=settings)
    result = run(e, problem, seed=0, chunk_size=1)
    assert result.ended == "budget"
    assert result.history["diverging"].sum() > 10
    assert np.isfinite(result.history["log_likelihood"]).all()


def test_shares_that_leave_nothing_to_sample_with_are_refused():
    with pytest.raises(ValidationError, match="leave nothing to sample with"):
        Settings.model_validate({"fit": 0.6, "warmup": 0.5})
