"""Shooting windows of recordings of unequal length, with inputs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats
from whole import Whole
from windows import RATE, at, linearisation_is_reverse_mode, loose, simulate

from pdsim.likelihood import shooting_sizes
from pdsim.likelihood.shooting import shooting_problem
from pdsim.parameters.space import Parameter, ParameterSpace
from pdsim.systems.oscillator import Oscillator
from pdsim.systems.simulator import Simulator

# A mass on a spring that is pushed: cheap to compile, and the push matters.
OSCILLATOR = Oscillator(integrator="rk4")
OSCILLATOR_SPACE = ParameterSpace(
    (
        Parameter("stiffness", 5.0, 50.0, "N/m", sets=("stiffness",)),
        Parameter("gain", 0.5, 2.0, "-", sets=("gain",)),
    ),
    (("mass", 1.0), ("damping", 0.5), ("rest", 0.0)),
)
OSCILLATOR_TRUTH = {"mass": 1.0, "damping": 0.5, "rest": 0.0, "stiffness": 20.0, "gain": 1.0}
OSCILLATOR_NOISE = np.array([0.01, 0.1])
LENGTHS = (101, 61, 33)


@pytest.fixture(scope="module")
def pushed():
    """Pushes (frame, input) and states (frame, state) of recordings of unequal length."""
    rng = np.random.default_rng(4)
    pushes = [rng.normal(size=(length, 1)).cumsum(axis=0) for length in LENGTHS]
    starts = [(0.3, 0.0), (-0.1, 1.0), (0.0, -2.0)]
    states = [
        simulate(OSCILLATOR, OSCILLATOR_TRUTH, start, push, len(push))
        for start, push in zip(starts, pushes, strict=True)
    ]
    return pushes, states


@pytest.fixture(scope="module")
def pushed_problem(pushed, trajectories_of):
    def build(window_count, chosen=(0, 1, 2), *, seed=5, push=1.0, combination="product"):
        pushes, states = ([part[i] for i in chosen] for part in pushed)
        observed = [
            values
            + np.random.default_rng(seed + len(values)).normal(size=values.shape) * OSCILLATOR_NOISE
            for values in states
        ]
        data = trajectories_of(
            OSCILLATOR, observed, states, 1 / RATE, inputs=[push * values for values in pushes]
        )
        p = shooting_problem(
            Simulator(OSCILLATOR, OSCILLATOR_SPACE, 1),
            data,
            OSCILLATOR_NOISE,
            window_count=window_count,
            combination=combination,
        )
        return Whole(p), observed

    return build


def test_recordings_of_unequal_length_count_as_each_alone(pushed_problem):
    p, _ = pushed_problem(1)
    value, defects = p.evaluate(at(p, [22.0, 1.1]))
    assert defects.shape == (1, 3, 0, 2)
    alone = []
    for i in range(3):
        one, _ = pushed_problem(1, (i,))
        alone.append(float(one.evaluate(at(one, [22.0, 1.1]))[0][0]))
    assert float(value[0]) == pytest.approx(sum(alone), rel=1e-12)
    mixture, _ = pushed_problem(1, combination="sum")
    value, _ = mixture.evaluate(at(mixture, [22.0, 1.1]))
    assert float(value[0]) == pytest.approx(np.logaddexp.reduce(alone) - np.log(3), rel=1e-12)


def test_inputs_enter_the_roll_outs(pushed, pushed_problem):
    """Against scipy's density of every residual, each push acting from its frame to the next."""
    p, observed = pushed_problem(1)
    value, _ = p.evaluate(at(p, [22.0, 1.1]))
    guess = OSCILLATOR_TRUTH | {"stiffness": 22.0, "gain": 1.1}
    expected = 0.0
    for push, state, seen in zip(*pushed, observed, strict=True):
        simulated = simulate(OSCILLATOR, guess, state[0], push, len(push))
        expected += stats.norm.logpdf(seen[1:], simulated[1:], OSCILLATOR_NOISE).sum()
    assert float(value[0]) == pytest.approx(expected, rel=1e-10)
    still, _ = pushed_problem(1, push=0.0)
    assert float(still.evaluate(at(still, [22.0, 1.1]))[0][0]) < expected - 1000


def test_later_windows_get_the_inputs_of_their_frames(pushed_problem):
    p, _ = pushed_problem(5)
    single, _ = pushed_problem(1)
    truth = [OSCILLATOR_TRUTH["stiffness"], OSCILLATOR_TRUTH["gain"]]
    value, defects = p.evaluate(at(p, truth))
    assert np.abs(defects).max() < 1e-9
    assert float(value[0]) == pytest.approx(
        float(single.evaluate(at(single, truth))[0][0]), rel=1e-9
    )


def test_windows_beyond_the_end_of_a_recording_see_nothing(pushed_problem):
    """Windows of 20 frames: the recordings end with the windows 4, 2 and 1."""
    p, _ = pushed_problem(5)
    guess = p.start_shooting()
    value, _ = p.evaluate(at(p, [22.0, 1.1], guess))
    beyond = np.zeros(guess.shape[:2], bool)
    beyond[1, 2:] = beyond[2, 1:] = True
    _, defects = p.evaluate(at(p, [30.0, 0.7], guess))
    assert (np.asarray(defects[0])[beyond] == 0).all()
    assert (np.abs(np.asarray(defects[0])[~beyond]) > 0).all()
    moved, defects = p.evaluate(at(p, [22.0, 1.1], guess + 0.25 * beyond[..., None]))
    assert float(moved[0]) == float(value[0])
    # They are held where they are, so that sampled windows do not drift away.
    np.testing.assert_allclose(np.asarray(defects[0])[beyond], 0.25, atol=1e-12)


@pytest.mark.parametrize("combination", ["sum", "product"])
def test_in_turn_windows_are_what_they_are_side_by_side(pushed_problem, combination, monkeypatch):
    """Likelihoods, defects, and slopes of both in parameters and starts."""
    rng = np.random.default_rng(8)
    p, _ = pushed_problem(5, combination=combination)
    position = loose(p, jnp.asarray(rng.uniform(0.2, 0.8, size=(3, 2))), rng)
    weights = jnp.asarray(rng.normal(size=position.shooting.shape))

    def compared(in_turn):
        monkeypatch.setattr(shooting_sizes, "in_turn", lambda *_: in_turn)

        def total(position):
            value, defects = p._problem.evaluate(position)
            return value.sum() + (weights * defects**2).sum(), (value, defects)

        return jax.jit(jax.value_and_grad(total, has_aux=True))(position)

    found, expected = jax.tree.leaves(compared(True)), jax.tree.leaves(compared(False))
    assert len(found) == 1 + 2 + 2
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-11, atol=1e-11 * np.abs(y).max())


@pytest.mark.parametrize("windows", [1, 5])
def test_linearisation_of_unequal_recordings_with_inputs(pushed_problem, windows):
    rng = np.random.default_rng(6)
    p, _ = pushed_problem(windows)
    position = loose(p, jnp.asarray(rng.uniform(0.2, 0.8, size=(3, 2))), rng)
    linearisation_is_reverse_mode(p, position, rng)
