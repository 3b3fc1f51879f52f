from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import expm

from pdsim.systems.oscillator import Oscillator
from pdsim.systems.rollout import rollout
from pdsim.systems.system import ContinuousSystem, Quantity

ORDERS = {"semi_implicit_euler": 1, "rk4": 4}


def error(system, prepared, start, exact, *, steps: int, first_time=0.0) -> float:
    """Largest error over one second, of ``exact`` (frame, channel) at tenths of it."""

    @jax.jit
    def roll(start):
        channels, _ = rollout(
            system,
            prepared,
            start,
            tuple(jnp.zeros(10) for _ in system.inputs),
            frames=10,
            frame_time=0.1,
            substeps=steps // 10,
            first_time=first_time,
        )
        return jnp.stack(channels, axis=1)

    return float(np.abs(roll(tuple(jnp.asarray(x) for x in start)) - exact).max())


def check_order(order: int, errors: list[float]) -> None:
    """Halving the step divides the error by 2 to the order."""
    rates = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    np.testing.assert_allclose(rates, order, atol=0.15)
    # The estimate itself converges.
    assert abs(rates[-1] - order) < 0.05


@pytest.mark.parametrize("integrator", ORDERS)
def test_order_of_convergence_to_the_closed_form(integrator):
    """The free damped oscillator, whose motion is exp(t A)."""
    p = {"mass": 0.7, "damping": 0.4, "stiffness": 12.0, "rest": 0.0, "gain": 1.0}
    A = np.array([[0.0, 1.0], [-p["stiffness"] / p["mass"], -p["damping"] / p["mass"]]])
    start = np.array([0.3, -0.8])
    exact = np.stack([expm(A * 0.1 * frame) @ start for frame in range(1, 11)])
    system = Oscillator(integrator=integrator)
    check_order(
        ORDERS[integrator],
        [error(system, p, start, exact, steps=steps) for steps in (80, 160, 320)],
    )


@dataclass(frozen=True)
class _Wave(ContinuousSystem):
    """ẍ = cos 3t: a motion that is its time's."""

    second_order = True

    @property
    def state(self):
        return Quantity("x", "m", "position"), Quantity("dx", "m/s", "velocity")

    def derivative(self, state, input, time, prepared):
        return state[1], jnp.cos(3 * time)


@pytest.mark.parametrize("integrator", ORDERS)
def test_order_of_convergence_where_time_acts(integrator):
    """Steps are handed the time of their own beginning, from ``first_time`` on."""
    first = 0.7
    t = np.arange(1, 11) / 10
    rate = (np.sin(3 * (first + t)) - np.sin(3 * first)) / 3
    place = -(np.cos(3 * (first + t)) - np.cos(3 * first)) / 9 - t * np.sin(3 * first) / 3
    exact = np.stack([place, rate], axis=1)
    system = _Wave(integrator=integrator)
    check_order(
        ORDERS[integrator],
        [
            error(system, (), (0.0, 0.0), exact, steps=steps, first_time=first)
            for steps in (20, 40, 80)
        ],
    )
