"""A system whose states cannot be subtracted: an angle kept as its cosine and sine."""

from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pdsim.likelihood.problem import Position
from pdsim.likelihood.shooting import shooting_problem
from pdsim.parameters.space import Parameter, ParameterSpace
from pdsim.recordings.recording import unsmoothed
from pdsim.recordings.trajectories import trajectory_set
from pdsim.runtime.errors import PdsimError
from pdsim.systems.simulator import Simulator
from pdsim.systems.system import Quantity, System, SystemParameter

FRAME_TIME = 0.01


@dataclass(frozen=True)
class Wheel(System):
    """A wheel that turns evenly, seen by where a mark on it is."""

    name: ClassVar[str] = "wheel"

    @property
    def state(self):
        return Quantity("cosine", "-", "position"), Quantity("sine", "-", "position")

    @property
    def parameters(self):
        return {"rate": SystemParameter("rad/s", 1.0, "of turning", "$r$")}

    def step(self, state, input, time, prepared, dt):
        c, s = jnp.cos(dt * prepared["rate"]), jnp.sin(dt * prepared["rate"])
        return state[0] * c - state[1] * s, state[0] * s + state[1] * c

    def difference(self, a, b):
        """The angle from b to a, and nothing in the second place."""
        angle = jnp.arctan2(b[0] * a[1] - b[1] * a[0], b[0] * a[0] + b[1] * a[1])
        return jnp.stack([angle, jnp.zeros_like(angle)])


def turning(rate, frames=41):
    angle = 0.3 + rate * FRAME_TIME * np.arange(frames)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


@pytest.fixture(scope="module")
def problem():
    space = ParameterSpace((Parameter("rate", 0.0, 10.0, "rad/s", sets=("rate",)),))
    seen = turning(4.0)
    recording = unsmoothed("0", FRAME_TIME, seen, np.zeros((len(seen), 0)), 2)
    data = trajectory_set(Wheel(), [recording], ["train"], {})
    data["states"][:], data["start"][:] = seen[None], seen[0]
    return shooting_problem(
        Simulator(Wheel(), space, 1), data, np.ones(2), window_count=4, combination="product"
    )


def test_defects_are_the_system_s_own_differences(problem):
    """A wheel at 5 rad/s is ahead by 1 rad/s times 10 frames at the end of every window."""
    shooting = problem.start_shooting()[None]
    _, joined = problem.evaluate(Position(jnp.array([[0.4]]), shooting))
    assert np.abs(joined).max() < 1e-12
    _, apart = problem.evaluate(Position(jnp.array([[0.5]]), shooting))
    angle = np.asarray(apart)[0, 0, :, 0] * np.asarray(problem.state_scale)[0]
    np.testing.assert_allclose(angle, -0.1, rtol=1e-9)
    assert np.abs(np.asarray(apart)[..., 1]).max() == 0

    def cost(x):
        return (problem.evaluate(Position(x, shooting))[1] ** 2).sum()

    slope = jax.grad(cost)(jnp.array([[0.5]]))
    step = 1e-6
    higher, lower = (cost(jnp.array([[0.5 + s]])) for s in (step, -step))
    np.testing.assert_allclose(slope[0, 0], (higher - lower) / (2 * step), rtol=1e-6)


def test_they_are_not_linearised_as_if_they_were_numbers(problem):
    with pytest.raises(PdsimError, match=r"wheel cannot be linearised.*descent: gradient"):
        problem.linearise(Position(jnp.array([[0.4]]), problem.start_shooting()[None]))
