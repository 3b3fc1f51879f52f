"""Estimators that return a point: on a Gaussian, whose optimum and curvature are known."""

import numpy as np
import pytest
from inference.targets import POINTS, build, gaussian

from pdsim.inference.runner import run
from pdsim.parameters.joint_prior import JointPrior
from pdsim.runtime.errors import PdsimError

MEAN = np.array([0.4, 0.7])
COVARIANCE = np.array([[0.02, 0.006], [0.006, 0.01]])
SETTINGS = {
    "steepest_descent": {"first_step": 0.01, "tolerance": 1e-5, "iterations": 400},
    "gauss_newton": {"tolerance": 1e-14},
}


def result_of(method, joint=None, **settings):
    problem = gaussian(MEAN, COVARIANCE, joint)
    chosen = SETTINGS[method] | {"start": {"p0": 0.9, "p1": 0.2}} | settings
    estimator = build(method, particles=40, iterations=100, settings=chosen)
    return estimator, problem, run(estimator, problem, seed=0, chunk_size=10, report=False)


@pytest.mark.parametrize("method", POINTS)
def test_the_point_is_the_optimum_and_its_covariance_the_curvature(method):
    estimator, problem, result = result_of(method)
    assert (estimator.sample_kind, result.ended) == ("point", "converged")
    draws = np.asarray(estimator.draws(problem, result.state).parameters)
    np.testing.assert_allclose(draws, MEAN[None], atol=1e-6)
    assert not np.any(estimator.diverging(problem, result.state))
    told = estimator.convergence(problem, result.state)
    np.testing.assert_allclose(told["optimum"], MEAN, atol=1e-6)
    found = np.stack([told["covariance_p0"], told["covariance_p1"]])
    # Least squares adds the precision of a direction that is open.
    np.testing.assert_allclose(found, COVARIANCE, rtol=2e-3)
    np.testing.assert_allclose(told["deviation"], np.sqrt(np.diag(COVARIANCE)), rtol=1e-3)


@pytest.mark.parametrize("method", POINTS)
def test_a_joint_prior_adds_its_information(method):
    mean, covariance = np.array([0.6, 0.5]), np.array([[0.04, -0.02], [-0.02, 0.03]])
    prior = JointPrior.of(("p0", "p1"), mean, covariance)
    estimator, problem, result = result_of(method, joint=prior, start={})
    own, other = np.linalg.inv(COVARIANCE), np.linalg.inv(covariance)
    both = np.linalg.inv(own + other)
    told = estimator.convergence(problem, result.state)
    np.testing.assert_allclose(told["optimum"], both @ (own @ MEAN + other @ mean), atol=1e-6)
    found = np.stack([told["covariance_p0"], told["covariance_p1"]])
    np.testing.assert_allclose(found, both, rtol=2e-3)
    # It begins where the prior is, and not in the middle of the box.
    first = [result.history[f"at_{name}"][0] for name in ("p0", "p1")]
    np.testing.assert_allclose(first, mean)


@pytest.mark.parametrize("method", POINTS)
def test_every_iterate_is_kept_from_the_start_on(method):
    _, _, result = result_of(method)
    at = np.stack([result.history["at_p0"], result.history["at_p1"]], axis=1)
    np.testing.assert_allclose(at[0], [0.9, 0.2])
    assert len(at) == len(result.history["seconds"])


def test_steps_are_armijos():
    """Each step is 0.4 to some power, and descends by the share that is asked for."""
    _, _, result = result_of("steepest_descent", first_step=1.0)
    cost, slope = result.history["cost"], result.history["slope"]
    step = result.history["step_size"][:-1]
    powers = np.log(step) / np.log(0.4)
    np.testing.assert_allclose(powers, np.round(powers), atol=1e-9)
    assert np.all(cost[1:] <= cost[:-1] - 0.4 * step * slope[:-1] ** 2 + 1e-12)
    assert cost[-1] == pytest.approx(0.0, abs=1e-9)
    # The slope that came with a trial is that of the point it led to.
    away = np.stack([result.history["at_p0"], result.history["at_p1"]], axis=1) - MEAN
    exact = np.linalg.norm(np.linalg.solve(COVARIANCE, away.T), axis=0)
    np.testing.assert_allclose(slope, exact, rtol=1e-6, atol=1e-9)
    # One evaluation for each step that was tried, none for a new iteration.
    tried = 1 / result.history["acceptance"][:-1]
    assert np.all(result.history["evaluations"][1:-1] <= tried[1:] + 1e-9)
    assert result.history["evaluations"][-1] == 0


def test_a_step_beyond_a_limit_is_refused():
    _, _, result = result_of("steepest_descent", first_step=100.0, iterations=3)
    for name in ("at_p0", "at_p1"):
        assert np.all((result.history[name] >= 0) & (result.history[name] <= 1))


@pytest.mark.parametrize(
    ("start", "words"), [({"p3": 0.5}, "no such parameter"), ({"p0": 1.5}, "beyond")]
)
def test_a_start_that_cannot_be_is_refused_by_name(start, words):
    with pytest.raises(PdsimError, match=rf"settings.start.{next(iter(start))}.*{words}"):
        result_of("gauss_newton", start=start)
