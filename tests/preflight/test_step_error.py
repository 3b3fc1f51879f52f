import numpy as np
import pytest

from pdsim.preflight.step_error import can_be, step_error
from pdsim.systems.config import SimulatorConfig
from pdsim.systems.simulator import build_simulator


def oscillator(integrator, substeps):
    """A free mass on a spring, ω = 5 /s, with hardly any damping."""
    return build_simulator(
        SimulatorConfig.model_validate(
            {
                "system": "oscillator", "integrator": integrator, "substeps": substeps,
                "parameters": {"stiffness": {"lower": 24.9, "upper": 25.1, "unit": "N/m"}},
                "fixed": {"damping": 0.0, "mass": 1.0},
            }
        )
    )  # fmt: skip


def error_of(integrator, substeps):
    found = step_error(
        oscillator(integrator, substeps),
        np.array([[0.1, 0.0]]),
        np.zeros((1, 100, 1)),
        0.02,
        [0],
        np.array([1e-3]),
        np.full((2, 1), 0.5),
    )
    assert found.ratio == pytest.approx(1000 * found.error[0])
    return found.error[0]


@pytest.mark.parametrize(("integrator", "order"), [("semi_implicit_euler", 1), ("rk4", 4)])
def test_halving_again_divides_the_error_by_the_order(integrator, order):
    errors = [error_of(integrator, substeps) for substeps in (1, 2)]
    assert errors[0] / errors[1] == pytest.approx(2**order, rel=0.15)


def test_the_error_of_rk4_is_that_of_the_exact_motion():
    """The exact motion is 0.1 cos(5 t); what halving leaves is 1/16 of it."""
    times = 0.02 * np.arange(1, 101)
    step = np.eye(2)
    generator = 0.02 * np.array([[0.0, 1.0], [-25.0, 0.0]])
    for power in (4, 3, 2, 1):
        step = np.eye(2) + generator @ step / power
    state, largest = np.array([0.1, 0.0]), 0.0
    for time in times:
        state = step @ state
        largest = max(largest, abs(state[0] - 0.1 * np.cos(5 * time)))
    assert error_of("rk4", 1) == pytest.approx(largest * 15 / 16, rel=0.02)


def test_roll_outs_that_are_not_finite_are_no_small_error():
    found = step_error(
        oscillator("rk4", 1), np.array([[np.nan, 0.0]]), np.zeros((1, 5, 1)), 0.02, [0],
        np.array([1e-3]), np.full((1, 1), 0.5),
    )  # fmt: skip
    assert found.ratio == np.inf


def test_what_no_step_can_simulate_is_no_error_of_the_step():
    starts, inputs = np.array([[0.1, 0.0], [np.nan, 0.0], [np.inf, 0.0]]), np.zeros((3, 100, 1))
    found = step_error(
        oscillator("rk4", 1), starts, inputs, 0.02, [0], np.array([1e-3]), np.full((1, 1), 0.5)
    )
    assert found.error[0] == pytest.approx(error_of("rk4", 1), rel=1e-6)


def pendulum(J1):
    """A double pendulum between limits in some of which J1 J2 is below l² S2²."""
    limits = {"J1": J1, "J2": (0.02, 0.03)}
    return build_simulator(
        SimulatorConfig.model_validate(
            {
                "system": "double_pendulum",
                "options": {"parameters": "base"},
                "parameters": {
                    name: {"lower": low, "upper": high, "unit": "kg m^2"}
                    for name, (low, high) in limits.items()
                },
                "fixed": {"length": 0.1, "S2y": 1 / 3, "friction_1": 0.01, "friction_2": 0.01},
            }
        )
    )  # fmt: skip


def test_what_can_be_no_pendulum_is_told_from_a_step_that_fails():
    """l² S2² / J2 is 0.044 kg m² at J2 = 0.025."""
    simulator = pendulum((0.02, 0.09))
    points = np.array([[0.1, 0.5], [0.9, 0.5]])
    np.testing.assert_array_equal(can_be(simulator, points), [False, True])
    start, rest = np.array([[0.1, 0.2, 0.0, 0.0]]), np.zeros((1, 50, 0))
    found = step_error(simulator, start, rest, 0.01, [0], np.array([1e-3]), points)
    assert found.lost == 0.0
    start[0, 0] = np.nan
    found = step_error(simulator, start, rest, 0.01, [0], np.array([1e-3]), points)
    assert found.lost == 1.0
