"""A double pendulum in NumPy alone, to hold compiled code against.

It shares nothing with ``pdsim.systems``: the equations at the head of ``double_pendulum`` are
written out again, solved by Cramer's rule and stepped by the textbook's RK4. Derivatives are those
of complex steps, ∂f/∂p = Im f(p + i h)/h, exact to rounding for h = 1e-30 (Squire and Trapp, 1998).
"""

from collections.abc import Mapping

import numpy as np

_STEP = 1e-30


def _rates(state: np.ndarray, p: Mapping) -> np.ndarray:
    """q̇ and q̈ of state (q0, q1, q̇0, q̇1), (4, ...)."""
    a, w, va, vw = state
    b, vb = a + w, va + vw
    J1 = p["inertia_1"] + p["mass_1"] * (p["com_x_1"] ** 2 + p["com_y_1"] ** 2)
    J1 = J1 + p["mass_2"] * p["length"] ** 2
    J2 = p["inertia_2"] + p["mass_2"] * (p["com_x_2"] ** 2 + p["com_y_2"] ** 2)
    reach = p["mass_2"] * p["length"]
    C = reach * (p["com_y_2"] * np.cos(w) - p["com_x_2"] * np.sin(w))
    D = reach * (p["com_y_2"] * np.sin(w) + p["com_x_2"] * np.cos(w))
    first_y, first_x = p["mass_1"] * p["com_y_1"] + reach, p["mass_1"] * p["com_x_1"]
    second_y, second_x = p["mass_2"] * p["com_y_2"], p["mass_2"] * p["com_x_2"]
    g = p["gravity"]
    one = D * vb * vb - g * (first_y * np.sin(a) + first_x * np.cos(a))
    one = one - p["friction_1"] * va + p["friction_2"] * vw
    two = -D * va * va - g * (second_y * np.sin(b) + second_x * np.cos(b)) - p["friction_2"] * vw
    determinant = J1 * J2 - C * C
    first = (J2 * one - C * two) / determinant
    second = (J1 * two - C * one) / determinant
    return np.stack([va, vw, first, second - first])


def angles(parameters: Mapping, start: np.ndarray, frames: int, frame_time: float) -> np.ndarray:
    """Both angles at each frame after the start, (frames, 2, ...).

    Args:
        parameters: by name, SI units; scalars or arrays of one shape (...).
        start: (4, ...).
    """
    x, h, found = start, frame_time, []
    for _ in range(frames):
        k1 = _rates(x, parameters)
        k2 = _rates(x + h / 2 * k1, parameters)
        k3 = _rates(x + h / 2 * k2, parameters)
        k4 = _rates(x + h * k3, parameters)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        found.append(x[:2])
    return np.stack(found)


def slope(
    name: str, parameters: Mapping, start: np.ndarray, frames: int, frame_time: float
) -> np.ndarray:
    """Derivative of Σ ``angles``² / 2 in one parameter, (...)."""
    moved = dict(parameters) | {name: parameters[name] + 1j * _STEP}
    found = angles(moved, start.astype(complex), frames, frame_time)
    return (found**2 / 2).sum(axis=(0, 1)).imag / _STEP
