"""Every estimator on the oscillator, whose posterior is known, through the whole likelihood."""

import numpy as np
import pytest
from inference.targets import ESTIMATORS, build, cases
from reference import driven_oscillator, oscillator_responses

from pdsim.inference.runner import run
from pdsim.likelihood.shooting import shooting_problem
from pdsim.parameters.space import Parameter, ParameterSpace
from pdsim.recordings.recording import unsmoothed
from pdsim.recordings.trajectories import trajectory_set
from pdsim.systems.oscillator import Oscillator
from pdsim.systems.simulator import Simulator

TRUTH = {"rest": 0.05, "gain": 1.3}
FRAMES, NOISE = 60, np.array([0.02, 0.1])
SPACE = ParameterSpace(
    (
        Parameter("rest", 0.038, 0.064, "m", sets=("rest",)),
        Parameter("gain", 1.23, 1.35, "-", sets=("gain",)),
    ),
    (("mass", 0.7), ("damping", 0.4), ("stiffness", 12.0)),
)
FIXED = dict(SPACE.fixed)


def recorded() -> tuple[np.ndarray, np.ndarray]:
    """Force (frame,) and observations (frame, channel) with white noise."""
    random = np.random.default_rng(0)
    # Held for five frames each, so that it moves the mass.
    force = np.repeat(random.uniform(-5, 5, FRAMES // 5), 5)
    motion = driven_oscillator(FIXED | TRUTH, (0.3, -0.8), force[:-1])
    return force, motion + NOISE * random.normal(size=motion.shape)


def posterior() -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of (rest, gain): the motion is linear in both.

    With A the responses to one unit of each and r what is left without them, the precision is
    Aᵀ Σ⁻¹ A and the mean its inverse times Aᵀ Σ⁻¹ r. The limits are six deviations away.
    """
    force, observed = recorded()
    left, responses = oscillator_responses(FIXED, (0.3, -0.8), force[:-1])
    A = (responses / NOISE[:, None]).reshape(-1, 2)
    r = ((observed[1:] - left[1:]) / NOISE).ravel()
    covariance = np.linalg.inv(A.T @ A)
    return covariance @ A.T @ r, covariance


@pytest.fixture(scope="module")
def problems():
    """The problem with one window and with three."""
    force, observed = recorded()
    system = Oscillator(integrator="rk4")
    recording = unsmoothed("0", 0.02, observed, force[:, None], 2)
    data = trajectory_set(system, [recording], ["train"], {})
    motion = driven_oscillator(FIXED | TRUTH, (0.3, -0.8), force[:-1])
    data["states"][:], data["start"][:] = motion[None], motion[0]
    return {
        shooting: shooting_problem(
            Simulator(system, SPACE, 2), data, NOISE, window_count=count, combination="product"
        )
        for shooting, count in (("single", 1), ("multiple", 3))
    }


# Particles are spread evenly: a hundred are a density. Weighted with one window, those of csvgd are
# drawn at random, like those of the other methods: a thousand have the same error.
PARTICLES = {
    ("svgd", "single"): 100,
    ("csvgd", "multiple"): 100,
    ("csvgd_particles", "single"): 100,
    ("csvgd_gradient", "single"): 100,
}
ITERATIONS = {
    ("svgd", "single"): 600,
    ("csvgd", "single"): 50,
    ("csvgd", "multiple"): 800,
    ("csvgd_particles", "single"): 800,
    ("csvgd_gradient", "single"): 600,
    ("cem", "single"): 60,
    ("nuts", "single"): 40,
    ("nuts_separate", "single"): 40,
    ("sgld", "single"): 300,
}
# With windows, a tight gap is stiff for samplers, and is what the closed form assumes.
CASES = [(method, "single") for method in ESTIMATORS] + [("csvgd", "multiple")]
QUICK = ("emcee", "least_squares", "cem", "csvgd")
SLOW = [case for case in CASES if case[0] not in QUICK]


@pytest.mark.parametrize("case", cases(CASES, slow=SLOW), ids="-".join)
def test_the_posterior_is_the_closed_form(problems, case):
    """Mean within 0.15 deviations, deviations and correlation within 15 %."""
    method, shooting = case
    problem = problems[shooting]
    estimator = build(
        method, particles=PARTICLES.get(case, 1000), iterations=ITERATIONS.get(case, 200)
    )
    result = run(estimator, problem, seed=0, chunk_size=1000)
    draws = SPACE.to_physical(estimator.draws(problem, result.state).parameters)
    mean, covariance = posterior()
    deviation = np.sqrt(np.diag(covariance))
    assert np.abs((np.asarray(draws).mean(axis=0) - mean) / deviation).max() < 0.15
    found = np.cov(np.asarray(draws), rowvar=False) / np.outer(deviation, deviation)
    assert np.abs(found - covariance / np.outer(deviation, deviation)).max() < 0.15


def test_the_truth_is_where_the_posterior_says():
    mean, covariance = posterior()
    z = np.array(list(TRUTH.values())) - mean
    # A chi-square of two degrees of freedom is beyond 13.8 once in a thousand data sets.
    assert z @ np.linalg.inv(covariance) @ z < 13.8
