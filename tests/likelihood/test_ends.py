"""Beyond the end of a recording nobody looks: what a roll-out does there counts for nothing."""

from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pdsim.likelihood.config import LikelihoodConfig
from pdsim.likelihood.noise import channel_noise
from pdsim.likelihood.problem import Position
from pdsim.likelihood.shooting import shooting_problem
from pdsim.parameters.space import Parameter, ParameterSpace
from pdsim.recordings.recording import unsmoothed
from pdsim.recordings.trajectories import trajectory_set
from pdsim.runtime.errors import PdsimError
from pdsim.systems.simulator import Simulator
from pdsim.systems.system import Quantity, System, SystemParameter


@dataclass(frozen=True)
class Growth(System):
    """A number that is squared each frame: from above 1 it is infinite after some twelve."""

    name: ClassVar[str] = "growth"

    @property
    def state(self):
        return (Quantity("x", "-", "position"),)

    @property
    def parameters(self):
        return {"gain": SystemParameter("-", 1.0, "of the square", "$g$")}

    def step(self, state, input, time, prepared, dt):
        return (prepared["gain"] * state[0] ** 2,)


SPACE = ParameterSpace((Parameter("gain", 0.5, 1.5, "-", sets=("gain",)),))


def problem(starts, lengths, window_count=1):
    recordings = []
    for start, length in zip(starts, lengths, strict=True):
        x = np.array([start ** (2.0**k) for k in range(length)])[:, None]
        recordings.append(unsmoothed("0", 0.1, x, np.zeros((length, 0)), 1))
    data = trajectory_set(Growth(), recordings, ["train"] * len(starts), {})
    data["states"][:] = data["observed"].values
    data["start"][:] = np.array(starts)[:, None]
    return shooting_problem(
        Simulator(Growth(), SPACE, 1), data, np.ones(1), window_count=window_count,
        combination="product",
    )  # fmt: skip


@pytest.mark.parametrize("window_count", [1, 2])
def test_a_roll_out_may_fail_where_nobody_looks(window_count):
    """The first recording ends after 4 of 30 frames; its roll-out would be infinite at the 15th."""
    both = problem([1.2, 0.9], [5, 30], window_count)
    each = [problem([1.2], [5]), problem([0.9], [30])]
    x = jnp.array([[0.45]])

    def value(p, x):
        return p.evaluate(Position(x, p.start_shooting()[None]))[0].sum()

    expected = [jax.value_and_grad(value, argnums=1)(p, x) for p in each]
    found = jax.value_and_grad(value, argnums=1)(both, x)
    assert np.isfinite(found[0]) and np.isfinite(found[1]).all()
    if window_count == 1:
        np.testing.assert_allclose(found[0], sum(v for v, _ in expected), rtol=1e-12)
        np.testing.assert_allclose(found[1], sum(g for _, g in expected), rtol=1e-9)
    linear = both.linearise(Position(x, both.start_shooting()[None]))
    assert all(np.isfinite(leaf).all() for leaf in linear)


@dataclass(frozen=True)
class Loose(Growth):
    """A number that what drives it keeps from growing: without, it is infinite after two frames."""

    name: ClassVar[str] = "loose"
    inputs: ClassVar = (Quantity("u", "-", "input"),)

    def step(self, state, input, time, prepared, dt):
        return ((prepared["gain"] + 1e200 * (1 - input[0])) * state[0],)


def test_a_last_window_is_held_where_nothing_drives_it():
    """Of five windows of five frames the last has one: the others have no input."""
    recording = unsmoothed("0", 0.1, np.ones((22, 1)), np.ones((22, 1)), 1)
    data = trajectory_set(Loose(), [recording], ["train"], {})
    data["states"][:] = data["observed"].values
    data["start"][:] = 1.0
    whole = shooting_problem(
        Simulator(Loose(), SPACE, 1), data, np.ones(1), window_count=5, combination="product"
    )
    position = Position(jnp.array([[0.45]]), whole.start_shooting()[None])
    value, slope = jax.value_and_grad(lambda x: whole.evaluate(x)[0].sum())(position)
    assert np.isfinite(value) and np.isfinite(slope.parameters).all()
    assert all(np.isfinite(leaf).all() for leaf in whole.linearise(position))


def test_a_channel_that_does_not_move_has_no_share_of_its_spread():
    still = unsmoothed("0", 0.1, np.ones((30, 1)), np.zeros((30, 0)), 1)
    data = trajectory_set(Growth(), [still], ["train"], {})
    with pytest.raises(
        PdsimError, match=r"noise_relative: channel x does not move.*likelihood\.noise"
    ):
        channel_noise(LikelihoodConfig(noise_relative=0.1), data)
