import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats
from scipy.stats import qmc

from pdsim.inference.levenberg_marquardt import prior_precision, prior_slope
from pdsim.parameters.joint_prior import JointPrior
from pdsim.parameters.space import Parameter, ParameterSpace

CASES = {
    "uniform": (Parameter("a", 0.5, 5.0, "m"), stats.uniform(0.5, 4.5)),
    "uniform on log": (
        Parameter("a", 0.1, 10.0, "m", scale="log", prior="uniform"),
        stats.uniform(0.1, 9.9),
    ),
    "log uniform on log": (
        Parameter("a", 0.1, 10.0, "m", scale="log", prior="log_uniform"),
        stats.loguniform(0.1, 10.0),
    ),
    "log uniform on linear": (
        Parameter("a", 0.1, 10.0, "m", prior="log_uniform"),
        stats.loguniform(0.1, 10.0),
    ),
    "truncated normal": (
        Parameter("a", 0.0, 3.0, "m", prior="truncated_normal", mean=1.0, standard_deviation=0.8),
        stats.truncnorm(-1.25, 2.5, 1.0, 0.8),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_priors_are_densities_over_the_physical_value(case):
    parameter, distribution = CASES[case]
    unit = jnp.linspace(0.001, 0.999, 4001)
    physical = np.asarray(parameter.to_physical(unit))
    slope = np.gradient(physical, unit)
    density = np.exp(np.asarray(parameter.log_prior(unit))) / slope
    np.testing.assert_allclose(density[5:-5], distribution.pdf(physical)[5:-5], rtol=1e-4)


def test_a_half_cauchy_prior_is_one_over_all_positive_values():
    """Without limits its median is where it says; the unit coordinate carries its slope."""
    parameter = Parameter("q", 0.02, 200.0, "m", "log", "half_cauchy", median=2.0)
    unit = np.array([0.1, 0.5, 0.9])
    x = np.asarray(parameter.to_physical(jnp.asarray(unit)))
    expected = stats.halfcauchy(scale=2.0).logpdf(x) + np.log(x * np.log(1e4))
    np.testing.assert_allclose(parameter.log_prior(jnp.asarray(unit)), expected, rtol=1e-12)
    draws = ParameterSpace((parameter,)).sample_prior(4000, seed=2)
    median = np.median(np.asarray(parameter.to_physical(jnp.asarray(draws))))
    assert median == pytest.approx(2.0, rel=0.1)


def test_a_normal_prior_knows_no_limits():
    parameter = Parameter("a", 0.0, 3.0, "m", prior="normal", mean=1.0, standard_deviation=0.8)
    expected = stats.norm(1.0, 0.8).logpdf(1.5) + np.log(3.0)
    assert float(parameter.log_prior(jnp.array(0.5))) == pytest.approx(expected)


@pytest.mark.parametrize("case", CASES)
def test_prior_draws_have_the_prior_s_distribution(case):
    parameter, distribution = CASES[case]
    space = ParameterSpace((parameter,))
    draws = np.asarray(space.to_physical(jnp.asarray(space.sample_prior(2000, seed=1))))[:, 0]
    assert stats.kstest(draws, distribution.cdf).pvalue > 1e-3


def test_unit_box_and_physical_values_are_inverse():
    space = ParameterSpace(
        (Parameter("a", 0.5, 5.0, "m"), Parameter("b", 1e-6, 1e-2, "N m s", scale="log"))
    )
    unit = np.random.default_rng(0).uniform(size=(50, 2))
    physical = space.to_physical(jnp.asarray(unit))
    np.testing.assert_allclose(space.to_coordinates(physical), unit, atol=1e-12)
    corners = np.asarray(space.to_physical(jnp.array([[0.0, 0.0], [1.0, 1.0]])))
    np.testing.assert_allclose(corners, [[0.5, 1e-6], [5.0, 1e-2]], rtol=1e-12)


def test_sobol_points_are_the_first_of_the_unscrambled_sequence():
    space = ParameterSpace(tuple(Parameter(name, 0.0, 1.0, "m") for name in "abc"))
    expected = qmc.Sobol(3, scramble=False).random_base2(7)[:100]
    np.testing.assert_array_equal(space.sobol(100), expected)
    assert len(np.unique(space.sobol(100), axis=0)) == 100


def test_one_parameter_can_set_several_of_the_system():
    space = ParameterSpace(
        (Parameter("link_1", 0.5, 5.0, "m", sets=("com_y_1", "length")),), (("gravity", 9.81),)
    )
    values = space.system_parameters(jnp.array([[0.0], [1.0]]))
    np.testing.assert_allclose(values["length"], [0.5, 5.0])
    np.testing.assert_allclose(values["com_y_1"], [0.5, 5.0])
    assert float(values["gravity"]) == 9.81


MEAN, DEVIATION = np.array([0.3, 0.6]), np.array([0.05, 0.08])
COVARIANCE = np.array([[1.0, -0.7], [-0.7, 1.0]]) * np.outer(DEVIATION, DEVIATION)


def joined(mean=MEAN, covariance=COVARIANCE):
    """Three parameters, of which the last and the first have a joint prior."""
    parameters = (
        Parameter("a", 0.5, 5.0, "m"),
        Parameter("b", 0.1, 10.0, "m", scale="log", prior="uniform"),
        Parameter("c", 0.1, 10.0, "m", scale="log"),
    )
    return ParameterSpace(parameters, joint=JointPrior.of(("c", "a"), mean, covariance))


def test_a_joint_prior_is_a_gaussian_beside_the_others_own_priors():
    space, u = joined(), np.random.default_rng(0).uniform(size=(20, 3))
    expected = stats.multivariate_normal(MEAN, COVARIANCE).logpdf(u[:, [2, 0]])
    expected += np.asarray(space.parameters[1].log_prior(jnp.asarray(u[:, 1])))
    np.testing.assert_allclose(space.log_prior(jnp.asarray(u)), expected, rtol=1e-12)


def test_slope_and_precision_of_a_joint_prior_are_finite_differences():
    space, u, step = joined(), np.array([0.4, 0.7, 0.35]), 1e-5

    def log_prior(x):
        return float(space.log_prior(jnp.asarray(x)))

    def slope(x):
        moves = step * np.eye(3)
        return np.array([log_prior(x + m) - log_prior(x - m) for m in moves]) / (2 * step)

    found = prior_slope(space, jnp.asarray(u)[None])[0]
    np.testing.assert_allclose(found, slope(u), rtol=1e-7)
    curvature = [(slope(u + m) - slope(u - m)) / (2 * step) for m in step * np.eye(3)]
    found = np.asarray(prior_precision(space, jnp.asarray(u)[None]))[0]
    np.testing.assert_allclose(found, -np.array(curvature), atol=1e-3 * np.abs(found).max())
    np.testing.assert_allclose(found[np.ix_([2, 0], [2, 0])], np.linalg.inv(COVARIANCE), rtol=1e-9)


def test_a_precision_has_the_least_value_asked_for_and_no_negative_one():
    """A half-Cauchy prior has curvature of either sign."""
    cauchy = Parameter("q", 0.02, 200.0, "m", "log", "half_cauchy", median=2.0)
    space, x = ParameterSpace((cauchy,)), jnp.array([[0.1], [0.5], [0.9]])
    curvature = -np.asarray([stats_curvature(cauchy, u) for u in (0.1, 0.5, 0.9)])
    found = np.asarray(prior_precision(space, x))[:, 0, 0]
    np.testing.assert_allclose(found, np.maximum(curvature, 0), rtol=1e-4, atol=1e-6)
    assert np.asarray(prior_precision(space, x, least=12.0)).min() >= 12.0


def stats_curvature(parameter, u, step=1e-4):
    values = [float(parameter.log_prior(jnp.asarray(u + move))) for move in (-step, 0, step)]
    return (values[0] - 2 * values[1] + values[2]) / step**2


def test_draws_of_a_joint_prior_have_its_moments_and_stay_inside():
    space = joined()
    draws = space.sample_prior(4000, seed=3)
    pair = draws[:, [2, 0]]
    # Four standard errors of 4000 draws.
    assert np.abs((pair.mean(axis=0) - MEAN) / DEVIATION).max() < 4 / np.sqrt(4000)
    found = np.cov(pair, rowvar=False) / np.outer(DEVIATION, DEVIATION)
    assert np.abs(found - COVARIANCE / np.outer(DEVIATION, DEVIATION)).max() < 0.09
    alone = ParameterSpace(space.parameters).sample_prior(4000, seed=3)
    np.testing.assert_array_equal(draws[:, 1], alone[:, 1])
    cut = joined(np.array([-0.1, 1.05])).sample_prior(500, seed=3)
    assert cut.min() >= 0
    assert cut.max() <= 1


@pytest.mark.parametrize("seed", [0, 3])
def test_starts_are_where_the_joint_prior_is(seed):
    space = joined()
    points = space.sobol(256, seed)
    plain = ParameterSpace(space.parameters).sobol(256, seed)
    np.testing.assert_array_equal(points[:, 1], plain[:, 1])
    pair = points[:, [2, 0]]
    assert np.abs((pair.mean(axis=0) - MEAN) / DEVIATION).max() < 0.1
    found = np.cov(pair, rowvar=False) / np.outer(DEVIATION, DEVIATION)
    assert np.abs(found - COVARIANCE / np.outer(DEVIATION, DEVIATION)).max() < 0.1
    assert np.abs((pair - MEAN) / DEVIATION).max() < 5
    np.testing.assert_allclose(space.middle, [0.6, 0.5, 0.3])
    outside = joined(np.array([-0.1, 0.6]))
    assert outside.middle[2] == 0.01
    assert 0 <= outside.sobol(64).min() < outside.sobol(64).max() <= 1
