"""A second data set of the same shapes runs through the programs compiled for the first."""

import jax
import jax.monitoring
import numpy as np
import pytest
from inference.targets import ESTIMATORS, build, gaussian

from pdsim.inference.runner import run
from pdsim.inference.target import Target

COVARIANCE = np.array([[4e-3, 1e-3], [1e-3, 2e-3]])


STEPPED = ("nuts", "nuts_separate", "crank_nicolson", "sgld")


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_second_problem_compiles_nothing(name):
    """Data are arguments of a program and no constants in it."""
    estimator = build(name, particles=24, iterations=200)
    compiled = []

    def counted(event, _, **details):
        if event.endswith("backend_compile_duration"):
            compiled.append(details.get("fun_name"))

    def estimate(mean, seed):
        problem = gaussian(mean, COVARIANCE)
        result = run(estimator, problem, seed=seed, chunk_size=40, report=False)
        estimator.diverging(problem, result.state)
        estimator.convergence(problem, result.state)
        return estimator.draws(problem, result.state)

    estimate([0.4, 0.6], 1)
    jax.monitoring.register_event_duration_secs_listener(counted)
    try:
        estimate([0.5, 0.5], 2)
    finally:
        jax.monitoring.clear_event_listeners()
    assert compiled == []


def counting(calls, function):
    """The function, every call of which appends to a list."""

    def counted(*arguments):
        calls.append(function)
        return function(*arguments)

    return counted


@pytest.mark.parametrize("name", STEPPED)
def test_a_step_is_traced_once(name, monkeypatch):
    """Neither for its shapes apart nor for the types of the second chunk."""
    # A budget that no other test has, whose programs would be there already.
    estimator, calls = build(name, particles=24, iterations=217), []
    monkeypatch.setattr(type(estimator), "step", counting(calls, type(estimator).step))
    run(estimator, gaussian([0.4, 0.6], COVARIANCE), seed=0, chunk_size=40, report=False)
    assert len(calls) == 1


def test_a_density_is_traced_once(monkeypatch):
    """However often a program asks for it and its slopes."""
    problem, calls = gaussian([0.4, 0.6], COVARIANCE), []
    monkeypatch.setattr(type(problem), "evaluate", counting(calls, type(problem).evaluate))
    target = Target(problem, 1.0)

    def several(z):
        slope = jax.grad(lambda z: target.log_density(z)[0].sum())
        return target.log_density(z)[0] + target.log_density(z + 1)[0], slope(z)

    jax.make_jaxpr(several)(np.zeros((3, 2)))
    assert len(calls) == 1


@pytest.mark.slow
def test_chains_begin_when_all_fits_have_converged():
    """The fits of a parabola end long before the iterations they are given."""
    estimator = build("nuts", particles=240, iterations=400)
    problem = gaussian([0.4, 0.6], COVARIANCE)
    result = run(estimator, problem, seed=0, chunk_size=200, report=False)
    fit = result.state.sampler.fit
    assert fit.done.all()
    assert result.history["evaluations"].sum() > 0.9 * 240 * 400
    draws = np.asarray(estimator.draws(problem, result.state).parameters)
    assert np.abs(draws.mean(axis=0) - [0.4, 0.6]).max() < 0.02
