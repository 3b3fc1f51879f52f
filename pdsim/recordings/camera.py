"""A synthetic camera: recordings in the IBM format of a double pendulum whose truth is known.

The motion comes from its own equations in Cartesian coordinates with constraint forces, integrated
by DOP853 to 1e-10; nothing of the estimator's dynamics or stepping is used. Marker positions are
scaled to pixels, moved with a slowly drifting pivot, and rounded to whole pixels.
"""

import numpy as np
from scipy.integrate import solve_ivp

from pdsim.runtime.errors import PdsimError
from pdsim.recordings.config import CameraConfig, PopulationConfig


def constrained_accelerations(angles, rates, p) -> np.ndarray:
    """Angular accelerations of both links [rad/s²] from Newton–Euler with joint forces.

    Unknowns are the centre-of-mass accelerations (across, up) and angular accelerations of the
    two free bodies and the forces in the two hinges. Ten linear equations: Newton and Euler for
    each body, and equal accelerations of the joined points.

    Args:
        angles, rates: absolute angles [rad] and rates [rad/s] of the links, (2,).
        p: system parameters by name.
    """
    # Columns: a1x a1z α1 a2x a2z α2 F0x F0z F1x F1z; z is up, angles grow anticlockwise.
    matrix, right = np.zeros((10, 10)), np.zeros(10)
    along = np.array([[np.sin(t), -np.cos(t)] for t in angles])
    across = np.array([[np.cos(t), np.sin(t)] for t in angles])
    com = [p[f"com_x_{i}"] * across[i - 1] + p[f"com_y_{i}"] * along[i - 1] for i in (1, 2)]
    elbow = p["length"] * along[0]
    friction = (-p["friction_1"] * rates[0], -p["friction_2"] * (rates[1] - rates[0]))

    def cross(arm):  # torque of a force (fx, fz) at this arm: arm_x fz − arm_z fx
        return np.array([-arm[1], arm[0]])

    for body in (0, 1):
        for axis in (0, 1):
            row = 3 * body + axis
            matrix[row, row] = p[f"mass_{body + 1}"]
            matrix[row, 6 + 2 * body + axis] = -1.0
            right[row] = -p[f"mass_{body + 1}"] * p["gravity"] * axis
        matrix[3 * body + 2, 3 * body + 2] = p[f"inertia_{body + 1}"]
        matrix[3 * body + 2, 6 + 2 * body : 8 + 2 * body] = -cross(-com[body])
    matrix[0, 8] = matrix[1, 9] = 1.0  # the elbow's force acts back on link 1
    matrix[2, 8:10] = cross(elbow - com[0])
    right[2], right[5] = friction[0] - friction[1], friction[1]

    def point(row, body, arm, sign):  # acceleration of a point of a body: a + α × r − ω² r
        for axis in (0, 1):
            matrix[row + axis, 3 * body + axis] += sign
        matrix[row, 3 * body + 2] += -sign * arm[1]
        matrix[row + 1, 3 * body + 2] += sign * arm[0]
        right[row : row + 2] += sign * rates[body] ** 2 * arm

    point(6, 0, -com[0], 1.0)
    point(8, 0, elbow - com[0], 1.0)
    point(8, 1, -com[1], -1.0)
    solution = np.linalg.solve(matrix, right)
    return solution[[2, 5]]


def population_draws(population: PopulationConfig) -> np.ndarray:
    """Parameters of every run (run, M), in the order of ``population.parameters``."""
    random = np.random.default_rng(population.seed)
    covariance = np.array(population.covariance)
    return random.multivariate_normal(population.mean, covariance, size=population.run_count)


def run_parameters(camera: CameraConfig, run: int) -> dict[str, float]:
    """System parameters of one run, those that are not at their defaults."""
    if camera.population is None:
        return camera.parameters | camera.runs[run].parameters
    values = population_draws(camera.population)[run]
    drawn = {
        target: float(value)
        for value, targets in zip(values, camera.population.parameters.values(), strict=True)
        for target in targets
    }
    return camera.parameters | camera.runs[0].parameters | drawn


def simulate(camera: CameraConfig, p, rate: float, run: int) -> np.ndarray:
    """Return the true joint angles and rates of one run, (frame, 4) [rad, rad/s].

    Args:
        p: all system parameters by name.
        rate: frames per second.
    """
    start = camera.runs[0 if camera.population else run]
    absolute = np.array([start.q[0], sum(start.q), start.dq[0], sum(start.dq)])

    def derivative(_, y):
        return np.concatenate([y[2:], constrained_accelerations(y[:2], y[2:], p)])

    times = np.arange(camera.frame_count) / rate
    result = solve_ivp(
        derivative, (0, times[-1]), absolute, "DOP853", times, rtol=1e-10, atol=1e-10
    )
    if not result.success:
        raise PdsimError(
            f"recording.camera.runs.{run}: the true motion could not be integrated: "
            f"{result.message}; check recording.camera.parameters"
        )
    a, b, va, vb = result.y
    return np.stack([a, b - a, va, vb - va], axis=1)


def pixels(camera: CameraConfig, length: float, states: np.ndarray) -> np.ndarray:
    """Marker pixels as a camera would log them, (frame, 6) whole numbers in the IBM order."""
    a, b = states[:, 0], states[:, 0] + states[:, 1]
    phase = np.linspace(0, 2 * np.pi, len(a))
    pivot = 1200 + camera.pivot_drift * np.stack([np.sin(phase), np.cos(phase)], axis=1)
    # (down, across): the first number of each pair is vertical.
    link_1 = length * np.stack([np.cos(a), np.sin(a)], axis=1)
    link_2 = camera.link_2_length * np.stack([np.cos(b), np.sin(b)], axis=1)
    elbow = pivot + camera.pixels_per_metre * link_1
    tip = elbow + camera.pixels_per_metre * link_2
    return np.rint(np.concatenate([pivot, elbow, tip], axis=1)).astype(int)
