"""The law of the simulated data sets of a linear oscillator, against closed form."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.linalg import expm

from pdsim.calibration.simulate import Generator
from pdsim.likelihood.config import LikelihoodConfig
from pdsim.parameters.space import Parameter, ParameterSpace
from pdsim.recordings.smoothing import Smoothing
from pdsim.runtime.errors import PdsimError
from pdsim.systems.oscillator import Oscillator
from pdsim.systems.simulator import Simulator

FRAMES, FRAME_TIME, WINDOWS, COUNT = 25, 0.05, 3, 400
LENGTH = 8
COVARIANCE = np.array([[4e-4, 1e-4], [1e-4, 9e-3]])
FIXED = {"mass": 0.7, "damping": 0.4, "gain": 1.3, "rest": 0.1}
SPACE = ParameterSpace(
    (Parameter("stiffness", 8.0, 16.0, "N/m", sets=("stiffness",)),), tuple(FIXED.items())
)
# Of stiffness, σ, q of both state variables and its correlation.
POINT = np.array([0.5, 0.4, 0.6, 0.7, 0.6])


@pytest.fixture(scope="module")
def template(trajectories_of):
    random = np.random.default_rng(1)
    force = np.repeat(random.uniform(-5, 5, 5), 5)
    states = 0.3 * random.normal(size=(FRAMES, 2))
    observed = states + 0.01
    observed[9:12, 0] = np.nan
    made = trajectories_of(Oscillator(), [observed], [states], FRAME_TIME, inputs=[force[:, None]])
    made["start_covariance"][:] = COVARIANCE
    made["channel_derived"][:] = [False, True]
    return made


def generator(template, shooting="marginal", **likelihood):
    marginal = {"start": 2.0, "process": [0.1, 3.0]}
    config = {"combination": "product", "window_count": WINDOWS, "marginal": marginal}
    return Generator(
        simulator=Simulator(Oscillator(), SPACE, 20),
        template=template,
        likelihood=LikelihoodConfig.model_validate(config | likelihood),
        shooting=shooting,
        smoothing=Smoothing(7, 3),
        precision="float64",
    )


def moments(template, stiffness, start_covariance, q, rho, sigma):
    """Mean (frame,) and covariance (frame, frame) of the measured positions of frames 1, 2, …"""
    mass = FIXED["mass"]
    mean, size = template["start"].values[0].copy(), FRAMES - 1
    # The state is linear in the standard normal variables of start and pushes.
    root = np.zeros((2, 2 + 2 * WINDOWS))
    root[:, :2] = np.linalg.cholesky(start_covariance) if start_covariance.any() else 0.0
    pushed = np.zeros_like(root)
    means, roots = np.empty(size), np.empty((size, root.shape[1]))
    for frame in range(size):
        push = FIXED["gain"] * template["inputs"].values[0, frame, 0]
        generator = np.zeros((3, 3))
        generator[0, 1] = 1.0
        generator[1] = [-stiffness / mass, -FIXED["damping"] / mass,
                        (push + stiffness * FIXED["rest"]) / mass]  # fmt: skip
        whole = expm(generator * FRAME_TIME)
        mean, root = whole[:2, :2] @ mean + whole[:2, 2], whole[:2, :2] @ root
        means[frame], roots[frame] = mean[0], root[0]
        if (frame + 1) % LENGTH == 0:
            column = 2 + 2 * (frame // LENGTH)
            fresh = 1.0 if column == 2 else np.sqrt(1 - rho**2)
            pushed = rho * pushed
            pushed[:, column : column + 2] = fresh * np.diag(q)
            root = root + pushed
    return means, roots @ roots.T + sigma**2 * np.eye(size)


def drawn(made, point):
    random = np.random.default_rng(0)
    return np.stack([made.data_set(point, random)["observed"].values[0] for _ in range(COUNT)])


def agrees(rows, mean, covariance):
    """Within five deviations of the Monte Carlo error, everywhere."""
    deviation = np.sqrt(np.diag(covariance))
    assert np.abs((rows.mean(axis=0) - mean) / deviation).max() < 5 / np.sqrt(COUNT)
    scale = np.outer(deviation, deviation)
    assert np.abs((np.cov(rows.T) - covariance) / scale).max() < 5 * np.sqrt(2 / COUNT)


def test_marginal_data_have_the_moments_of_the_state_space_model(template):
    made = generator(template)
    noise = ("sensor_x", "process_x", "process_dx", "process_correlation")
    assert made.space.names == ("stiffness", *noise)
    stiffness, sigma, *q, rho = np.asarray(made.space.to_physical(POINT))
    rows = drawn(made, POINT)
    # Nothing is seen where the template has nothing, and derived channels are no data.
    assert np.isnan(rows[:, 9:12, 0]).all()
    assert np.isnan(rows[..., 1]).all()
    seen = np.setdiff1d(np.arange(1, FRAMES), range(9, 12))
    mean, covariance = moments(template, stiffness, 4 * COVARIANCE, q, rho, sigma)
    agrees(rows[:, seen, 0], mean[seen - 1], covariance[np.ix_(seen - 1, seen - 1)])


def test_each_recording_has_its_own_value_of_what_varies(template):
    """A rest position that varies adds its variance along the slope of the mean."""
    space = ParameterSpace(
        (*SPACE.parameters, Parameter("rest", 0.0, 0.2, "m", sets=("rest",))),
        tuple((name, value) for name, value in SPACE.fixed if name != "rest"),
    )
    marginal = {"start": 2.0, "process": [0.1, 3.0], "varying": {"rest": 0.4}}
    made = generator(template, marginal=marginal)
    made = replace(made, simulator=made.simulator._replace(space=space))
    assert made.space.names[-2] == "varying_rest"
    # Rest position and τ in the middle of their limits.
    point = np.array([POINT[0], 0.5, *POINT[1:-1], 0.5, POINT[-1]])
    stiffness, _, sigma, *q, tau, rho = np.asarray(made.space.to_physical(point))
    rows = drawn(made, point)
    seen = np.setdiff1d(np.arange(1, FRAMES), range(9, 12))
    mean, covariance = moments(template, stiffness, 4 * COVARIANCE, q, rho, sigma)
    # The oscillator at rest moves to its rest position: what of it has come through is the slope.
    moved = template.copy(deep=True)
    moved["start"][:] = 0.0
    moved["inputs"][:] = 0.0
    slope = moments(moved, stiffness, 0 * COVARIANCE, np.zeros(2), 0.0, 0.0)[0] / FIXED["rest"]
    covariance = covariance + tau**2 * np.outer(slope, slope)
    assert tau**2 * slope.max() ** 2 > covariance.diagonal().max() / 2
    agrees(rows[:, seen, 0], mean[seen - 1], covariance[np.ix_(seen - 1, seen - 1)])


def test_single_shooting_s_data_start_where_it_is_known(template):
    made = generator(template, "single", noise={"x": 0.02, "dx": 0.3})
    assert made.space.names == ("stiffness",)
    rows = drawn(made, POINT[:1])
    seen = np.setdiff1d(np.arange(1, FRAMES), range(9, 12))
    mean, covariance = moments(template, 12.0, np.zeros((2, 2)), np.zeros(2), 0.0, 0.02)
    agrees(rows[:, seen, 0], mean[seen - 1], covariance[np.ix_(seen - 1, seen - 1)])
    assert rows[:, 1:, 1].std(axis=0).mean() == pytest.approx(0.3, rel=0.02)


def test_truths_follow_the_prior(template):
    space = generator(template).space
    truths = generator(template).truths(4000, 0)
    for column, parameter in zip(truths.T, space.parameters, strict=True):
        if parameter.prior == "half_cauchy":
            whole = stats.halfcauchy(scale=parameter.median)
            low, high = whole.cdf([parameter.lower, parameter.upper])
            column = (whole.cdf(parameter.to_physical(column)) - low) / (high - low)
        # The others are flat on their own scale.
        assert stats.kstest(column, "uniform").pvalue > 1e-3, parameter.name
    kinds = {parameter.prior for parameter in space.parameters}
    assert kinds == {"uniform", "log_uniform", "half_cauchy"}


def test_a_mixture_over_recordings_is_refused(trajectories_of):
    two = [np.zeros((FRAMES, 2))] * 2
    template = trajectories_of(Oscillator(), two, two, FRAME_TIME)
    with pytest.raises(PdsimError, match=r"calibration: the sum over recordings .* product"):
        generator(template, combination="sum")
