import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats
from scipy.stats import qmc

from pdsim.parameters import Parameter, ParameterSpace

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
