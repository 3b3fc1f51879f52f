"""Every estimator, the same closed-form posteriors."""

from functools import cache

import arviz
import jax.numpy as jnp
import numpy as np
import pytest
from inference.targets import CONVERGING, ESTIMATORS, ChainProblem, build, cases, gaussian
from scipy import stats

from pdsim.inference.runner import run
from pdsim.parameters.joint_prior import JointPrior
from pdsim.parameters.space import Parameter, ParameterSpace

DEVIATION = np.array([0.05, 0.08])
CORRELATION = np.array([[1.0, 0.6], [0.6, 1.0]])
MEAN = np.array([0.55, 0.4])
COVARIANCE = CORRELATION * np.outer(DEVIATION, DEVIATION)
INSIDE = gaussian(MEAN, COVARIANCE)


def with_prior():
    """The same posterior, whose correlation is all of its prior.

    Information adds up: the likelihood's is what the prior's lacks, twice as wide and upright.
    """
    deviation = np.array([0.1, 0.2])
    correlation = np.array([[1.0, 0.9], [0.9, 1.0]])
    prior, mean = correlation * np.outer(deviation, deviation), np.array([0.65, 0.45])
    covariance = np.linalg.inv(np.linalg.inv(COVARIANCE) - np.linalg.inv(prior))
    assert abs(covariance[0, 1]) < 0.05 * np.sqrt(np.prod(np.diag(covariance)))
    pull = np.linalg.inv(COVARIANCE) @ MEAN - np.linalg.inv(prior) @ mean
    # In another order than the space has them.
    joint = JointPrior.of(("p1", "p0"), mean[::-1], prior[::-1, ::-1])
    return gaussian(covariance @ pull, covariance, joint)


MEASURED = np.array([0.42, 0.55, 0.47, 0.60, 0.52, 0.50])
CHAIN = ChainProblem(
    jnp.asarray(MEASURED), jnp.asarray(0.1), ParameterSpace((Parameter("x", 0.0, 1.0, "-"),))
)
PROBLEMS = {
    "inside": INSIDE,
    "prior": with_prior(),
    "cut": gaussian([1.0, 0.4], np.diag(np.array([0.1, 0.08]) ** 2)),
    "outside": gaussian([1.5, 0.5], np.diag([0.01**2, 0.1**2])),
    "chain": CHAIN,
}
# Particles are spread evenly: a hundred stand for a density. Random draws need more of them for
# the same bounds: with a thousand the standard error of the mean is 0.03 σ, of a variance 4.5 %.
# csvgd draws at random from weighted samples, and has particles where there are windows to join.
PARTICLES = ("svgd", "csvgd_particles", "csvgd_gradient")
RANDOM = 1000
# Steps of differential evolution are as long as the ensemble is wide: it narrows more slowly.
ITERATIONS = {
    "emcee_mixed": 600,
    "svgd": 1000,
    "csvgd": 50,
    "csvgd_particles": 1000,
    "csvgd_gradient": 1000,
    "cem": 60,
    "nuts": 80,
    "nuts_separate": 80,
}
# Those for which the gaps are Gaussian terms, not constraints.
WITH_GAPS = [name for name in ESTIMATORS if "svgd" not in name]
SETTINGS_OF = {(name, "chain"): {"defect_deviation": 0.05} for name in WITH_GAPS}


@cache
def solved(method, name):
    """Run a method on one of the problems once, for all tests."""
    iterations, particles = ITERATIONS.get(method, 300), 100 if method in PARTICLES else RANDOM
    if name == "chain" and method.startswith("csvgd"):
        iterations, particles = 2000, 100
    estimator = build(
        method,
        particles=particles,
        iterations=iterations,
        settings=SETTINGS_OF.get((method, name)),
    )
    problem = PROBLEMS[name]
    result = run(estimator, problem, seed=0, chunk_size=iterations)
    x = np.asarray(estimator.draws(problem, result.state).parameters)
    return x, result, estimator, problem


@pytest.mark.parametrize("name", cases(["inside", "prior"], slow=("prior",)))
@pytest.mark.parametrize("method", ESTIMATORS)
def test_gaussian_inside_the_box(method, name):
    """Mean within 0.1 σ and covariance within 15 %: three standard errors of a thousand draws."""
    x, *_ = solved(method, name)
    assert np.abs((x.mean(axis=0) - MEAN) / DEVIATION).max() < 0.1
    found = np.cov(x, rowvar=False) / np.outer(DEVIATION, DEVIATION)
    assert np.abs(found - CORRELATION).max() < 0.15


@pytest.mark.parametrize("method", ESTIMATORS)
def test_gaussian_cut_by_a_limit(method):
    """The first parameter's mean lies on the upper limit; no draw may lie beyond it.

    For Stein methods the bound on the mean is 0.4 σ and not 0.1 σ: Stein's identity holds without
    boundary terms only where the density vanishes at the limits. Measured: svgd +0.30 σ, since
    half of its particles gather on the face; csvgd +0.24 σ, +0.19 σ with gradients. Weights take
    that away. The parameter that is not cut keeps the tight bounds.
    """
    x, *_ = solved(method, "cut")
    assert x.min() >= 0.0
    assert x.max() <= 1.0
    expected = np.array([1.0 - stats.halfnorm(scale=0.1).mean(), 0.4])
    error = np.abs((x.mean(axis=0) - expected) / [0.1, 0.08])
    assert error[0] < (0.4 if method in PARTICLES else 0.1)
    assert error[1] < 0.1
    assert abs(x[:, 1].std() / 0.08 - 1) < 0.15


@pytest.mark.parametrize("method", ESTIMATORS)
def test_a_mode_outside_the_box_ends_on_its_face(method):
    """All draws lie there, and none beyond."""
    x, *_ = solved(method, "outside")
    assert x.max() <= 1.0
    assert x[:, 0].min() > 0.99


@pytest.mark.parametrize("method", PARTICLES)
def test_particles_reach_a_steep_face(method):
    """The density falls by e in 2e-4 from the face; half of it loses less than 0.7 nats."""
    x, *_ = solved(method, "outside")
    slope = 0.5 / 0.01**2
    assert np.median(slope * (1 - x[:, 0])) < 0.7


@pytest.mark.parametrize("method", WITH_GAPS)
def test_gaussian_gaps_pool_the_windows(method):
    """Six windows that each measure the same number, joined by Gaussian terms (Eq. 5)."""
    x, result, *_ = solved(method, "chain")
    mean, deviation = CHAIN.gaussian_posterior(0.05)
    assert x.mean() == pytest.approx(mean, abs=0.15 * deviation)
    assert x.std() == pytest.approx(deviation, rel=0.15)
    assert result.history["median_defect"][-1] < 4 * 0.05


def test_constraints_close_the_gaps_and_pool_the_windows():
    """The same windows joined by constraints: the posterior is N(mean, σ²/6)."""
    x, result, estimator, problem = solved("csvgd", "chain")
    # From 0.42, what window 0 alone says, to the mean of all.
    assert x.mean() == pytest.approx(MEASURED.mean(), abs=0.1 * 0.1 / np.sqrt(6))
    assert x.std() == pytest.approx(0.1 / np.sqrt(6), rel=0.15)
    assert result.history["max_defect"][-1] < 0.01
    assert not np.any(estimator.diverging(problem, result.state))
    assert x.min() >= 0
    assert x.max() <= 1


def test_algorithm_1_closes_the_gaps_but_weighs_the_windows_unevenly():
    """Its particles are continuous, its posterior is neither centred nor wide enough.

    The kernel averages the score of window 0 over the particles, while the pull of the gaps, which
    carries what the other five windows say, acts on each particle alone and has no repulsion of
    matching size. So window 0 counts a fifth of each of the others: the mean lies towards theirs,
    by 0.34 of the posterior's standard deviation, and the particles spread 0.36 of it.
    """
    x, result, estimator, problem = solved("csvgd_gradient", "chain")
    deviation = 0.1 / np.sqrt(6)
    assert result.history["max_defect"][-1] < 0.01
    assert not np.any(estimator.diverging(problem, result.state))
    others = MEASURED[1:].mean()
    assert MEASURED.mean() + 0.2 * deviation < x.mean() < others
    assert 0.25 < x.std() / deviation < 0.5


def test_nuts_mixes():
    _, result, estimator, problem = solved("nuts", "inside")
    convergence = estimator.convergence(problem, result.state)
    assert np.max(convergence["r_hat"]) <= 1.01
    assert np.min(convergence["ess_bulk"]) >= 400


def test_chain_diagnostics_are_arviz_s():
    _, result, estimator, problem = solved("nuts", "inside")
    convergence = estimator.convergence(problem, result.state)
    chains = np.swapaxes(estimator.settled(result.state), 0, 1)
    for i in range(2):
        data = arviz.convert_to_dataset(chains[:, :, i])
        r_hat, size = (float(f(data)["x"]) for f in (arviz.rhat, arviz.ess))
        assert float(convergence["r_hat"][i]) == pytest.approx(r_hat, rel=1e-12)
        assert float(convergence["ess_bulk"][i]) == pytest.approx(size, rel=1e-12)


@pytest.mark.parametrize("method", ("nuts", "sgld"))
def test_the_paper_s_single_chain(method):
    """One chain from the centre of the box, its last hundred positions."""
    settings = {"chain_count": 1, "keep": "last", "burn_in": 0.0}
    settings |= {"doublings": 4} if method == "nuts" else {}
    estimator = build(method, particles=100, iterations=100, settings=settings)
    result = run(estimator, INSIDE, seed=0, chunk_size=50)
    assert estimator.chain_count(INSIDE) == 1
    draws = estimator.draws(INSIDE, result.state)
    assert draws.parameters.shape == (100, 2)
    last = np.asarray(result.state.trace.last)[:, 0]
    np.testing.assert_allclose(estimator.target(INSIDE).position(last).parameters, draws.parameters)
    assert np.isfinite(estimator.convergence(INSIDE, result.state)["r_hat"]).all()


def small(method):
    """Build an estimator of few iterations, the same for several tests: it compiles once."""
    settings = {"nuts": {"chain_count": 10, "doublings": 4}}.get(method)
    return build(method, particles=40, iterations=50, settings=settings)


@pytest.mark.parametrize("method", ESTIMATORS)
def test_same_seed_same_result(method):
    """Bit for bit."""
    estimator = small(method)
    one, two = (run(estimator, INSIDE, seed=3, chunk_size=10) for _ in range(2))
    np.testing.assert_array_equal(
        *(estimator.draws(INSIDE, r.state).parameters for r in (one, two))
    )


@pytest.mark.parametrize("method", ESTIMATORS)
def test_another_seed_another_start(method):
    """Seeds are not ignored."""
    estimator = small(method)
    one, two = (run(estimator, INSIDE, seed=seed, chunk_size=10) for seed in (0, 1))
    first, second = (r.course["draws"][0] for r in (one, two))
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("method", ESTIMATORS)
def test_no_estimator_exceeds_its_budget(method):
    """A budget of evaluations is kept to, and used up."""
    estimator = small(method)
    result = run(estimator, INSIDE, seed=0, chunk_size=10)
    history = result.history
    assert history["rollouts"][-1] <= 40 * 50
    # None stops with another iteration left to do that would change anything.
    assert result.ended == ("converged" if method in CONVERGING else "budget")
    if result.ended == "budget":
        assert history["rollouts"][-1] > 40 * 50 - estimator.cost(INSIDE)
    expected = history["rollouts"] if estimator.uses_gradients else 0 * history["rollouts"]
    np.testing.assert_array_equal(history["gradients"], expected)
    assert all(len(values) == len(history["seconds"]) for values in history.values())
    assert (np.diff(history["seconds"]) > 0).all()


@pytest.mark.parametrize("method", ESTIMATORS)
def test_the_course_ends_with_the_draws(method):
    """What is kept along the way leads to the posterior that is written."""
    estimator = small(method)
    result = run(estimator, INSIDE, seed=0, chunk_size=10)
    course, draws = result.course, np.asarray(estimator.draws(INSIDE, result.state).parameters)
    assert course["draws"].shape[1:] == (40, 2)
    np.testing.assert_array_equal(course["draws"][-1, : len(draws)], draws)
    assert (np.diff(course["rollouts"]) > 0).all()
    assert course["rollouts"][-1] == result.history["rollouts"][-1]
