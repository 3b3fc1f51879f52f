"""Parameters with a value of their own in each recording, on linear dynamics."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from driven_oscillator import (
    FIXED,
    POINTS,
    SPACE,
    evaluate,
    log_likelihood,
    position,
    problem_of,
    recordings,
    slope,
)

from pdsim.likelihood.config import MarginalConfig
from pdsim.likelihood.noise import noise_model
from pdsim.likelihood.own_values import own_values
from pdsim.parameters.space import ParameterSpace
from pdsim.systems.oscillator import Oscillator
from pdsim.systems.simulator import Simulator


@pytest.fixture(scope="module")
def data(trajectories_of):
    return recordings(trajectories_of)


VARYING = np.insert(POINTS, 5, [0.55, 0.3], axis=1)


@pytest.fixture(scope="module")
def varying(data):
    """The problem whose recordings have rest positions of their own."""
    return problem_of(data, varying={"rest": 0.03})


def parabolas(data, varying):
    """Of log p in each recording's rest position: value, slope and curvature where it is that of
    all; τ in the same coordinate. (point, recording, 3) and (point,)."""
    plain, step = problem_of(data).space, 0.2
    taus = np.asarray(varying.space.to_physical(jnp.asarray(VARYING)))[:, 5]
    found = []
    for point in POINTS:
        rows = []
        for recording in range(2):
            one = data.isel(trajectory=[recording])
            left, middle, right = (
                log_likelihood(one, point + shift * np.eye(6)[1], plain)
                for shift in (-step, 0.0, step)
            )
            rows.append(
                [middle, (right - left) / (2 * step), (2 * middle - left - right) / step**2]
            )
        found.append(rows)
    return np.array(found), taus / plain.parameters[1].span


def test_parameters_that_vary_between_recordings_are_integrated_out(data, varying):
    """The Kalman filter's p, a Gaussian in each recording's rest position, integrated over it."""
    problem = varying
    assert problem.space.names[-2:] == ("varying_rest", "process_correlation")
    own = problem.space.parameters[-2]
    assert (own.prior, own.median, own.unit) == ("half_cauchy", 0.03, "m")
    points = VARYING
    found, _ = evaluate(problem, position(problem, points))
    rows, tau = parabolas(data, varying)
    (value, rise, bent), tau = np.moveaxis(rows, 2, 0), tau[:, None]
    expected = value + 0.5 * rise**2 / (bent + tau**-2) - 0.5 * np.log1p(bent * tau**2)
    np.testing.assert_allclose(found, expected.sum(axis=1), rtol=1e-8)

    # The values of p are right, so slopes are those of its differences.
    point = position(problem, points)
    steps = 1e-5 * np.eye(points.shape[1])
    moved = [
        evaluate(problem, position(problem, points + s * row))[0] for row in steps for s in (1, -1)
    ]
    sides = (np.array(moved[::2]) - np.array(moved[1::2])).T / 2e-5
    pulled = slope(point.parameters, problem, point)
    np.testing.assert_allclose(pulled[:, 1:], sides[:, 1:], rtol=1e-5, atol=1e-4)
    _, expanded, information = jax.jit(lambda problem, point: problem.expand(point))(problem, point)
    np.testing.assert_allclose(expanded, pulled, rtol=1e-8, atol=1e-9)
    # Where the mean of the rest positions stands, the logarithm is a parabola.
    step = 1e-3 * np.eye(points.shape[1])[1]
    three = [evaluate(problem, position(problem, points + s * step))[0] for s in (-1, 0, 1)]
    bent = -(three[0] - 2 * three[1] + three[2]) / 1e-6
    np.testing.assert_allclose(information[:, 1, 1], bent, rtol=1e-4)


def test_values_of_each_recording_are_drawn_as_it_and_the_others_say(data, varying):
    draws, dimension = 4000, varying.simulator.space.dimension
    for point, rows, tau in zip(VARYING, *parabolas(data, varying), strict=True):
        normal = jnp.asarray(np.random.default_rng(0).normal(size=(draws, 2, 1)))
        coordinates = jnp.asarray(np.tile(point, (draws, 1)))
        found = np.asarray(jax.jit(own_values)(varying, (coordinates, normal)))
        _, rise, bent = rows.T
        variance = 1 / (bent + tau**-2)
        span = varying.simulator.space.parameters[1].span
        mean = -0.2 + span * (point[dimension - 1] + rise * variance)
        deviation = span * np.sqrt(variance)
        error = (found[..., 0].mean(axis=0) - mean) / deviation * np.sqrt(draws)
        assert np.abs(error).max() < 5
        ratio = found[..., 0].std(axis=0) / deviation
        assert np.abs(ratio - 1).max() < 5 / np.sqrt(2 * draws)


def test_a_varying_parameter_of_logarithmic_scale_deviates_by_a_factor(data):
    space = replace(SPACE.parameters[0], scale="log", prior="log_uniform")
    simulator = Simulator(
        Oscillator(), ParameterSpace((space,), (("rest", 0.1), *FIXED.items())), 1
    )
    noise = noise_model(MarginalConfig(varying={"stiffness": 0.1}), simulator, data)
    assert noise.varying[0].unit == "-"
    moved = noise.shifted(simulator.space, jnp.array([0.4]), jnp.array([0.25]))
    before, after = (simulator.space.to_physical(x)[0] for x in (jnp.array([0.4]), moved))
    assert float(after / before) == pytest.approx(np.exp(0.25))
