"""Predictions from a prefix on linear dynamics, where the predictive distribution is exact."""

import numpy as np
import pytest
from kalman import kalman
from scipy import stats
from scipy.linalg import expm

from pdsim.likelihood.config import LikelihoodConfig
from pdsim.likelihood.prediction import predict, prefix_of
from pdsim.metrics.prefix import band_coverage
from pdsim.parameters.space import Parameter, ParameterSpace
from pdsim.systems.oscillator import Oscillator
from pdsim.systems.simulator import Simulator

FRAME_TIME, FRAMES, PREFIX, WINDOW = 0.05, 41, 17, 10
RUNS, DRAWS, SHORT = 400, 199, 33
STIFFNESS, SIGMA, Q, RHO = 12.0, 0.02, np.array([0.015, 0.06]), 0.6
COVARIANCE = np.array([[4e-4, 2e-4], [2e-4, 3e-3]])
START = np.array([0.5, -0.2])
NAMES = ("sensor_x", "process_x", "process_dx", "process_correlation")
FIXED = {"mass": 1.0, "damping": 0.5, "rest": 0.0, "gain": 1.0}
SPACE = ParameterSpace(
    (Parameter("stiffness", 8.0, 16.0, "N/m", sets=("stiffness",)),), tuple(FIXED.items())
)
SIMULATOR = Simulator(Oscillator(integrator="rk4"), SPACE, 10)
LIKELIHOOD = LikelihoodConfig.model_validate({"window_count": 4, "marginal": {"start": 1.0}})


def exact_step(push):
    """One frame under constant force: x ← A x + b."""
    generator = np.array([[0.0, 1.0, 0.0], [-STIFFNESS, -0.5, push], [0.0, 0.0, 0.0]])
    whole = expm(generator * FRAME_TIME)
    return whole[:2, :2], whole[:2, 2]


TRANSITION, _ = exact_step(0.0)
# The same force for all: a step up and a step down.
PUSH = np.where(np.arange(FRAMES) < 15, 2.0, -1.0)


@pytest.fixture(scope="module")
def data(trajectories_of):
    """Recordings that the state-space model made: one for training, the rest held out."""
    random = np.random.default_rng(3)
    state = random.multivariate_normal(START, COVARIANCE, size=RUNS + 1)
    push = Q * random.normal(size=state.shape)
    states = [state]
    for frame in range(1, FRAMES):
        # Process noise acts where a window ends; what is observed there does not have it yet.
        if frame > 1 and (frame - 1) % WINDOW == 0:
            state = state + push
            push = RHO * push + np.sqrt(1 - RHO**2) * Q * random.normal(size=state.shape)
        state = state @ TRANSITION.T + exact_step(PUSH[frame - 1])[1]
        states.append(state)
    states = np.stack(states, axis=1)
    seen = states + np.array([SIGMA, 0.3]) * random.normal(size=states.shape)
    seen[3, 5:9, 0] = np.nan
    lengths = np.full(RUNS + 1, FRAMES)
    lengths[4] = SHORT
    made = trajectories_of(
        Oscillator(),
        [x[:n] for x, n in zip(seen, lengths, strict=True)],
        [x[:n] for x, n in zip(states, lengths, strict=True)],
        FRAME_TIME,
        inputs=[PUSH[:n, None] for n in lengths],
        splits=["train"] + ["test"] * RUNS,
    )
    made["start"][:] = START
    made["start_covariance"][:] = COVARIANCE
    made["channel_derived"][:] = [False, True]
    return made


def predicted(data, *, sigma=SIGMA, q=Q, draws=DRAWS, seed=0, prefix=PREFIX, spread=0.0):
    chosen = prefix_of(SIMULATOR, LIKELIHOOD, data, frames=prefix, inferred=NAMES)
    assert chosen.problem.space.names == ("stiffness", *NAMES)
    values = np.tile([STIFFNESS, sigma, *q, RHO], (draws, 1))
    return predict(chosen, values, seed=seed, spread=spread)


@pytest.fixture(scope="module")
def found(data):
    return predicted(data)


def observed(data):
    return data["observed"].values[1:, PREFIX:, :1]


def moments(data, recording):
    """Mean and covariance (frame, 2, …) of the state from frame PREFIX on."""
    _, means, covariances = kalman(
        data["observed"].values[recording],
        lambda frame: (TRANSITION, exact_step(PUSH[frame - 1])[1]),
        START,
        COVARIANCE,
        [SIGMA],
        Q,
        RHO,
        length=WINDOW,
        frames=PREFIX,
    )
    return means[PREFIX - 1 :], covariances[PREFIX - 1 :]


@pytest.mark.parametrize("recording", [1, 3])
def test_mean_and_variance_are_the_kalman_filter_s(data, recording):
    """Recording 3 has a gap in the prefix. Bounds are five standard errors of 4000 draws."""
    draws = 4000
    one = data.isel(trajectory=[0, recording])
    found = predicted(one, draws=draws)
    mean, covariance = moments(data, recording)
    expected = np.diagonal(covariance, axis1=1, axis2=2)
    error = (found.channels[0].mean(axis=0) - mean) / np.sqrt(expected / draws)
    assert np.abs(error).max() < 5
    ratio = found.channels[0].var(axis=0) / expected
    assert np.abs(ratio - 1).max() < 5 * np.sqrt(2 / draws)
    ratio = found.observations[0, ..., 0].var(axis=0) / (expected[:, 0] + SIGMA**2)
    assert np.abs(ratio - 1).max() < 5 * np.sqrt(2 / draws)


def test_a_recording_s_own_value_is_filtered_with_its_state(data):
    """Rest positions vary: the Kalman filter of state and rest position, and their mean known."""
    draws, tau, rest = 4000, 0.05, 0.02
    space = ParameterSpace(
        (*SPACE.parameters, Parameter("rest", -0.2, 0.2, "m", sets=("rest",))),
        tuple((name, value) for name, value in SPACE.fixed if name != "rest"),
    )
    likelihood = LikelihoodConfig.model_validate(
        {"window_count": 4, "marginal": {"start": 1.0, "varying": {"rest": 0.03}}}
    )
    chosen = prefix_of(
        Simulator(Oscillator(integrator="rk4"), space, 10),
        likelihood,
        data.isel(trajectory=[0, 1]),
        frames=PREFIX,
        inferred=(*NAMES, "varying_rest"),
    )
    assert chosen.problem.space.names == ("stiffness", "rest", *NAMES[:3], "varying_rest", NAMES[3])
    found = predict(
        chosen, np.tile([STIFFNESS, rest, SIGMA, *Q, tau, RHO], (draws, 1)), seed=0, spread=0.0
    )
    wide = np.block([[COVARIANCE, np.zeros((2, 1))], [np.zeros((1, 2)), tau**2]])

    def step(frame):
        transition, shift = exact_step(PUSH[frame - 1])
        # A force of k times the rest position acts as a push does.
        by_rest = (exact_step(STIFFNESS)[1] - exact_step(0.0)[1])[:, None]
        return np.block([[transition, by_rest], [np.zeros((1, 2)), 1.0]]), np.append(shift, 0.0)

    _, means, covariances = kalman(
        data["observed"].values[1],
        step,
        np.append(START, rest),
        wide,
        [SIGMA],
        np.append(Q, 0.0),
        RHO,
        length=WINDOW,
        frames=PREFIX,
    )
    mean, covariance = means[PREFIX - 1 :, :2], covariances[PREFIX - 1 :, :2, :2]
    expected = np.diagonal(covariance, axis1=1, axis2=2)
    error = (found.channels[0].mean(axis=0) - mean) / np.sqrt(expected / draws)
    assert np.abs(error).max() < 5
    assert np.abs(found.channels[0].var(axis=0) / expected - 1).max() < 5 * np.sqrt(2 / draws)
    known, _ = moments(data, 1)
    assert np.abs(mean - known).max() > 5 * np.abs(error * np.sqrt(expected / draws)).max()


@pytest.mark.parametrize("frame", [0, 10, FRAMES - PREFIX - 1])
def test_ranks_of_independent_recordings_are_uniform(data, found, frame):
    """At one frame, of 400 independent recordings among 199 draws: uniform on 0 … 199."""
    seen = observed(data)[:, frame, 0]
    kept = np.isfinite(seen)
    rank = (found.observations[kept, :, frame, 0] < seen[kept, None]).sum(axis=1)
    counts = np.histogram(rank, 20, range=(-0.5, DRAWS + 0.5))[0]
    assert stats.chisquare(counts).pvalue > 1e-3


def test_the_band_covers_its_level_and_one_of_half_the_noise_does_not(data, found):
    last = np.where(np.arange(FRAMES - PREFIX) == 12, 1.0, np.nan)[:, None]
    seen = observed(data) * last
    deviation = np.sqrt(0.9 * 0.1 / RUNS)
    assert abs(band_coverage(seen, found.observations, 0.9).value - 0.9) < 3 * deviation
    narrow = predicted(data, sigma=SIGMA / 2)
    assert band_coverage(seen, narrow.observations, 0.9).value < 0.9 - 5 * deviation


def test_another_recording_may_have_more_process_noise_or_less(data):
    """What a spread s adds is (e^{s z} − 1) times the noise, of variance e^{2s²} − 2 e^{s²/2} + 1."""
    one = data.isel(trajectory=[0, 1])
    plain = predicted(one, draws=4000).channels
    added = {s: predicted(one, draws=4000, spread=s).channels - plain for s in (0.3, 0.6)}
    assert np.abs(added[0.6][:, :, -1]).min() > 0
    large, small = (added[s][0, :, -10:].var(axis=0) for s in (0.6, 0.3))
    np.testing.assert_allclose(large / small, 0.6604 / 0.1052, rtol=0.15)


def test_a_draw_s_prediction_depends_on_the_seed_and_not_on_the_other_draws(data):
    few = data.isel(trajectory=[0, 1, 4])
    found, fewer = predicted(few, draws=6), predicted(few, draws=3)
    np.testing.assert_allclose(found.channels[:, :3], fewer.channels, rtol=1e-12)
    np.testing.assert_allclose(found.observations[:, :3], fewer.observations, rtol=1e-12)
    assert np.abs(found.channels - predicted(few, draws=6, seed=1).channels).min() > 0


def test_chunks_change_nothing(data, monkeypatch):
    few = data.isel(trajectory=[0, 1, 4])
    whole = predicted(few, draws=6)
    # Three draws: 30 frames of two recordings and two channels, with two tangents.
    monkeypatch.setattr("pdsim.likelihood.prediction._CHUNK", 3 * 30 * 2 * 2 * 3)
    cut = predicted(few, draws=5)
    np.testing.assert_allclose(whole.channels[:, :5], cut.channels, rtol=1e-9)
    np.testing.assert_allclose(whole.observations[:, :5], cut.observations, rtol=1e-9)


def test_beyond_its_end_a_recording_is_held(data):
    found = predicted(data.isel(trajectory=[0, 1, 4]), draws=3)
    after = found.channels[1, :, SHORT - PREFIX :]
    assert after.shape[1] == FRAMES - SHORT
    assert np.isfinite(after).all()


@pytest.mark.parametrize("prefix", [2, 11, 12])
def test_prefixes_that_end_where_a_window_does(data, prefix):
    """Frames come from the prefix's end on, and the first window start is the prior's."""
    found = predicted(data.isel(trajectory=[0, 1, 2]), draws=3, prefix=prefix)
    assert found.channels.shape == (2, 3, FRAMES - prefix, 2)
    assert np.isfinite(found.observations).all()


def test_draws_without_noise_take_the_noise_found_and_no_process(data):
    chosen = prefix_of(SIMULATOR, LIKELIHOOD, data, frames=PREFIX, inferred=())
    assert chosen.problem.space.names == ("stiffness",)
    (sigma,) = chosen.problem.noise.sensor
    # 36 fourth differences of one recording, correlated: within a third.
    assert sigma == pytest.approx(SIGMA, rel=0.35)
    assert chosen.problem.noise.process == (0.0, 0.0)
    assert chosen.problem.iterations == 2
    assert np.isfinite(
        predict(chosen, np.full((3, 1), STIFFNESS), seed=0, spread=0.5).observations
    ).all()
