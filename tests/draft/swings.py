"""Recordings of a double pendulum of known parameters, made by SciPy and not by the project."""

import math

import numpy as np
from scipy.integrate import solve_ivp

LINKS = {
    "mass_1": 0.4, "inertia_1": 2e-3, "com_x_1": 0.0, "com_y_1": 0.12, "friction_1": 2e-3,
    "length": 0.22, "mass_2": 0.25, "inertia_2": 1e-3, "com_x_2": 0.0, "com_y_2": 0.1,
    "friction_2": 1e-3, "gravity": 9.81,
}  # fmt: skip
# What the motion determines of these, over S1y = m1 y1 + m2 l = 0.103 kg m.
BASE = {
    "J1": (2e-3 + 0.4 * 0.12**2 + 0.25 * 0.22**2) / 0.103, "J2": (1e-3 + 0.25 * 0.1**2) / 0.103,
    "S2y": 0.25 * 0.1 / 0.103, "length": 0.22, "S1x": 0.0, "S2x": 0.0,
    "friction_1": 2e-3 / 0.103, "friction_2": 1e-3 / 0.103,
}  # fmt: skip
# Of the angles [rad]: 0.05°.
NOISE = np.radians(0.05)
RATE = 200.0


def swing(start, frames, seed):
    """Angles at 200 Hz with white noise, (frame, 2) [rad]; both links straight, nothing across."""
    p = LINKS
    J1 = p["inertia_1"] + p["mass_1"] * p["com_y_1"] ** 2 + p["mass_2"] * p["length"] ** 2
    J2 = p["inertia_2"] + p["mass_2"] * p["com_y_2"] ** 2
    lever = p["mass_2"] * p["length"] * p["com_y_2"]
    G1 = p["gravity"] * (p["mass_1"] * p["com_y_1"] + p["mass_2"] * p["length"])
    G2 = p["gravity"] * p["mass_2"] * p["com_y_2"]

    def rates(_, x):
        a, w, va, vw = x
        C, D, vb = lever * math.cos(w), lever * math.sin(w), va + vw
        right_1 = D * vb**2 - G1 * math.sin(a) - p["friction_1"] * va + p["friction_2"] * vw
        right_2 = -D * va**2 - G2 * math.sin(a + w) - p["friction_2"] * vw
        determinant = J1 * J2 - C * C
        acceleration_a = (J2 * right_1 - C * right_2) / determinant
        acceleration_b = (J1 * right_2 - C * right_1) / determinant
        return [va, vw, acceleration_a, acceleration_b - acceleration_a]

    times = np.arange(frames) / RATE
    exact = solve_ivp(rates, (0, times[-1]), [*start, 0, 0], t_eval=times, rtol=1e-8, atol=1e-9)
    return exact.y[:2].T + NOISE * np.random.default_rng(seed).normal(size=(frames, 2))


def write_csv(path, angles, *, names=("Arm upper (deg)", "Arm lower"), first=12345.0):
    """In degrees within ±180, times in milliseconds, beside a column that means nothing here."""
    degrees = (np.degrees(angles) + 180) % 360 - 180
    lines = ["# my rig", ";".join(["Stamp", *names, "Battery V", "note"])]
    for i, (a, b) in enumerate(degrees):
        lines.append(f"{first + 1e3 * i / RATE:.3f};{a:.5f};{b:.5f};11.9;ok")
    path.write_text("\n".join(lines))
