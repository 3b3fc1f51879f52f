"""Two recordings one after the other, the posterior of the first as the prior of the second."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from inference.targets import build, cases
from reference import driven_oscillator, oscillator_responses

from pdsim.inference.runner import run
from pdsim.likelihood.shooting import shooting_problem
from pdsim.parameters.joint_prior import JointPrior
from pdsim.parameters.space import Parameter, ParameterSpace
from pdsim.recordings.recording import unsmoothed
from pdsim.recordings.trajectories import trajectory_set
from pdsim.systems.oscillator import Oscillator
from pdsim.systems.simulator import Simulator

TRUTH = {"rest": 0.05, "gain": 1.3}
START, FRAMES, NOISE = (0.3, -0.8), 60, np.array([0.02, 0.1])
# Seven deviations of the first posterior or more to either side.
SPACE = ParameterSpace(
    (
        Parameter("rest", 0.03, 0.07, "m", sets=("rest",)),
        Parameter("gain", 1.2, 1.4, "-", sets=("gain",)),
    ),
    (("mass", 0.7), ("damping", 0.4), ("stiffness", 12.0)),
)
FIXED = dict(SPACE.fixed)
LOWER, WIDTH = np.array([0.03, 1.2]), np.array([0.04, 0.2])
METHODS = {"least_squares": (1000, 200), "nuts": (1000, 40), "csvgd": (1000, 50)}


@cache
def recorded(number: int) -> tuple[np.ndarray, np.ndarray]:
    """Force (frame,) and observations (frame, channel) of one recording."""
    random = np.random.default_rng(number)
    # A constant force of the second one's own moves what is known of rest and gain together.
    force = np.repeat(random.uniform(-5, 5, FRAMES // 5), 5) + 6 * number
    motion = driven_oscillator(FIXED | TRUTH, START, force[:-1])
    return force, motion + NOISE * random.normal(size=motion.shape)


def closed_form(*numbers: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of the unit coordinates, which the motion is linear in."""
    information, pull = np.zeros((2, 2)), np.zeros(2)
    for number in numbers:
        force, observed = recorded(number)
        left, responses = oscillator_responses(FIXED, START, force[:-1])
        A = (responses / NOISE[:, None]).reshape(-1, 2)
        r = ((observed[1:] - left[1:]) / NOISE).ravel()
        information, pull = information + A.T @ A, pull + A.T @ r
    covariance = np.linalg.inv(information)
    return (covariance @ pull - LOWER) / WIDTH, covariance / np.outer(WIDTH, WIDTH)


def problem(*numbers: int, joint: JointPrior | None = None):
    """That of some recordings, with a prior or a flat one."""
    system, space = Oscillator(integrator="rk4"), replace(SPACE, joint=joint)
    recordings = [
        unsmoothed(str(n), 0.02, observed, force[:, None], 2)
        for n, (force, observed) in ((n, recorded(n)) for n in numbers)
    ]
    data = trajectory_set(system, recordings, ["train"] * len(numbers), {})
    for row, number in enumerate(numbers):
        motion = driven_oscillator(FIXED | TRUTH, START, recorded(number)[0][:-1])
        data["states"][row], data["start"][row] = motion, motion[0]
    simulator = Simulator(system, space, 2)
    return shooting_problem(simulator, data, NOISE, window_count=1, combination="product")


def solved(method, problem):
    particles, iterations = METHODS[method]
    estimator = build(method, particles=particles, iterations=iterations)
    result = run(estimator, problem, seed=0, chunk_size=1000)
    return estimator, result.state, np.asarray(estimator.draws(problem, result.state).parameters)


def apart(draws, expected):
    """Largest error of the mean in deviations, and of variances and covariance in variances."""
    mean, covariance = expected
    deviation = np.sqrt(np.diag(covariance))
    off = np.abs((draws.mean(axis=0) - mean) / deviation).max()
    return off, np.abs(
        (np.cov(draws, rowvar=False) - covariance) / np.outer(*[deviation] * 2)
    ).max()


def test_the_second_recording_alone_says_something_else():
    """Else a prior that were left out would pass."""
    (first, _), (second, _), (mean, covariance) = closed_form(0), closed_form(1), closed_form(0, 1)
    deviation = np.sqrt(np.diag(covariance))
    assert np.abs((first - mean) / deviation).max() > 0.5
    assert np.abs((second - mean) / deviation).max() > 0.5
    for alone in (0, 1):
        assert (np.diag(closed_form(alone)[1]) / np.diag(covariance)).max() > 1.5


@pytest.mark.parametrize("method", cases(METHODS, slow=("nuts", "csvgd")))
def test_one_after_the_other_is_both_at_once(method):
    """The first posterior is the estimator's own draws. Mean within 0.15 deviations, covariance
    within 15 %: the error of a thousand draws, twice."""
    _, _, draws = solved(method, problem(0))
    assert max(apart(draws, closed_form(0))) < 0.15
    prior = JointPrior.fitted(SPACE.names, draws, np.zeros(2), np.ones(2))
    _, _, draws = solved(method, problem(1, joint=prior))
    assert max(apart(draws, closed_form(0, 1))) < 0.15
    assert max(apart(draws, closed_form(1))) > 0.4


def test_an_exact_first_posterior_gives_the_exact_second():
    """Least squares' Gaussian itself: the least precision it keeps is 1e-5 of the recordings'."""
    prior = JointPrior.of(SPACE.names, *closed_form(0))
    both = problem(1, joint=prior)
    estimator, state, _ = solved("least_squares", both)
    found, (mean, covariance) = estimator.laplace(state), closed_form(0, 1)
    deviation = np.sqrt(np.diag(covariance))
    assert np.abs((found.mean - mean) / deviation).max() < 1e-3
    assert np.abs((found.covariance - covariance) / np.outer(deviation, deviation)).max() < 1e-3
