"""A synthetic camera: recordings in the IBM format of a double pendulum whose truth is known.

The motion comes from its own equations in Cartesian coordinates with constraint forces, integrated
by DOP853 to 1e-10; nothing of the estimator's dynamics or stepping is used. Marker positions are
scaled to pixels, moved with a slowly drifting pivot, jittered and rounded to whole pixels.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field, model_validator

from pdsim.recordings.markers import check_markers, read_markers
from pdsim.recordings.recording import Recording
from pdsim.recordings.segments import NumberedRuns
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import read_text
from pdsim.settings.messages import close_name
from pdsim.settings.section import Name, Positive, Section
from pdsim.systems.system import System

# What the camera knew of its runs, beside them in their folder.
TRUTH_FILE = "truth.json"


class SyntheticRun(Section):
    """One simulated run of the camera."""

    q: tuple[float, float] = Field(description="start angles q0, q1 [rad]")
    dq: tuple[float, float] = Field((0.0, 0.0), description="start rates [rad/s]")
    parameters: dict[str, float] = Field(
        {}, description="system parameters of this run that differ from `camera.parameters`"
    )


class PopulationConfig(Section):
    """A Gaussian from which the parameters of each run are drawn (Sec. V-A)."""

    parameters: dict[Name, tuple[str, ...]] = Field(
        min_length=1, description="name as under `simulator.parameters`, and what it sets"
    )
    mean: tuple[float, ...] = Field(description="in the order of `parameters`")
    covariance: tuple[tuple[float, ...], ...] = Field(description="in the order of `parameters`")
    run_count: int = Field(
        ge=1, le=100_000, description="runs; each starts as the first of `camera.runs`"
    )
    seed: int = Field(0, ge=0, description="of the draws")

    @model_validator(mode="after")
    def _check(self) -> "PopulationConfig":
        size = len(self.parameters)
        matrix = np.array([row + (0.0,) * (size - len(row)) for row in self.covariance])
        if len(self.mean) != size or matrix.shape != (size, size):
            raise ValueError(f"mean and covariance need {size} rows, one for each of parameters")
        if not np.array_equal(matrix, matrix.T) or np.linalg.eigvalsh(matrix).min() <= 0:
            raise ValueError(f"covariance must be symmetric and positive (got {self.covariance})")
        return self


class CameraConfig(Section):
    """A synthetic camera in front of a double pendulum with known parameters."""

    parameters: dict[str, float] = Field(
        description="the truth: system parameters in the system's units; others at their defaults"
    )
    runs: tuple[SyntheticRun, ...] = Field(min_length=1, description="one recording each")
    frame_count: int = Field(ge=20, le=10_000_000, description="length of every run [frames]")
    pixels_per_metre: float = Field(ge=1, le=1e6, description="image scale [pixel/m]")
    link_2_length: Positive = Field(description="from joint 1 to the tip marker [m]")
    pivot_drift: float = Field(2.0, ge=0, description="amplitude of the pivot's drift [pixel]")
    jitter: float = Field(
        0.0, ge=0, description="standard deviation of a marker's place in a frame [pixel]"
    )
    seed: int = Field(0, ge=0, description="of the jitter")
    population: PopulationConfig | None = Field(
        None, description="draw each run's parameters from a distribution"
    )

    @property
    def run_count(self) -> int:
        """Number of runs the camera records."""
        return self.population.run_count if self.population else len(self.runs)


class Config(NumberedRuns):
    """A synthetic camera: `source: camera`."""

    source: Literal["camera"] = Field(description="the data source")
    camera: CameraConfig = Field(description="what is in front of it, and how it sees")

    @model_validator(mode="after")
    def _check_runs(self) -> "Config":
        self.check_made(self.camera.run_count, self.camera.frame_count)
        return self


def check(config: Config, system: System) -> None:
    """Refuse a system, or names of its parameters, that do not go with this source.

    Raises:
        PdsimError: names the key.
    """
    check_markers(system)
    parameters = system.parameters
    if "mass_1" not in parameters:
        raise PdsimError(
            "simulator.options.parameters: a synthetic camera moves links, each of a mass of its "
            "own; choose links"
        )
    camera = config.camera
    population = camera.population.parameters if camera.population else {}
    named = {"parameters": [*camera.parameters]}
    named |= {f"runs.{i}.parameters": [*run.parameters] for i, run in enumerate(camera.runs)}
    named["population.parameters"] = [n for names in population.values() for n in names]
    for key, names in named.items():
        for name in names:
            if name not in parameters:
                raise PdsimError(
                    f"recording.camera.{key}.{name}: {system.name} has no such "
                    f"parameter{close_name(name, parameters)}"
                )
    defaults = {name: parameter.default for name, parameter in parameters.items()}
    for run in range(camera.run_count):
        _check_body({**defaults, **run_parameters(camera, run)}, run, system)


def _check_body(values: Mapping[str, float], run: int, system: System) -> None:
    """Refuse what is negative and cannot be, and a link that nothing resists to move."""
    for name, value in values.items():
        if system.parameters[name].positive and value < 0:
            raise PdsimError(
                f"recording.camera.parameters.{name}: {system.parameters[name].meaning} cannot be "
                f"negative (got {value:g}, run {run})"
            )
    for link in (1, 2):
        com = values[f"com_x_{link}"] ** 2 + values[f"com_y_{link}"] ** 2
        if not values[f"inertia_{link}"] + values[f"mass_{link}"] * com > 0 and (
            link == 2 or not values["mass_2"] * values["length"] ** 2 > 0
        ):
            raise PdsimError(
                f"recording.camera.parameters: nothing of link {link} resists a motion (run "
                f"{run}): give inertia_{link}, or mass_{link} away from its joint"
            )


def channels(config: Config, system: System) -> list[str]:
    """Return the channels that hold values."""
    del config
    return [channel.name for channel in system.channels]


def truths(config: Config, defaults: Mapping[str, float]) -> list[dict[str, float]]:
    """True system parameters of each training run; none where they are drawn."""
    if config.camera.population is not None:
        return []
    return [
        {**defaults, **run_parameters(config.camera, window.run)}
        for window in config.windows("train")
    ]


def files(config: Config, folder: str) -> dict[str, str]:
    """Return the raw file of each run, in the folder that ``make`` filled."""
    return {str(run): f"{folder}/{run}.csv" for run in config.run_numbers()}


def read(config: Config, run: str, path: str, system: System) -> Recording:
    """Read a run, and what the camera knew of it."""
    recording = read_markers(path, run, 1 / config.rate_hz, system)
    truth = read_truth(path)
    if not isinstance(truth.get(run), dict):
        raise PdsimError(
            f"{Path(path).with_name(TRUTH_FILE)}: has no run {run}; record them again, all at once"
        )
    return replace(recording, truth=truth[run])


def read_truth(path: str) -> dict:
    """What stands beside a recording of what it was made with."""
    beside = Path(path).with_name(TRUTH_FILE)
    try:
        return dict(json.loads(read_text(beside)))
    except (ValueError, TypeError) as error:
        raise PdsimError(f"{beside}: cannot be read: {error}; record the runs again") from None


def made(folder: Path) -> bool:
    """Tell whether a folder holds a recording made by ``make``, and nothing else."""
    names = {path.name for path in folder.iterdir()}
    return TRUTH_FILE in names and all(
        name == TRUTH_FILE or re.fullmatch(r"\d+\.csv", name) for name in names
    )


def population(config: Config) -> PopulationConfig | None:
    """Return the distribution the runs' parameters are drawn from, where there is one."""
    return config.camera.population


def make(config: Config, system: System, folder: Path) -> None:
    """Record every run into a folder: ``<run>.csv`` in the IBM format, and the truth."""
    defaults = {name: parameter.default for name, parameter in system.parameters.items()}
    truth = {}
    for run in range(config.camera.run_count):
        values = {**defaults, **run_parameters(config.camera, run)}
        states = simulate(config.camera, values, config.rate_hz, run)
        random = np.random.default_rng([config.camera.seed, run])
        table = pixels(config.camera, values["length"], states, random)
        np.savetxt(folder / f"{run}.csv", table, fmt="%d", delimiter=",")
        truth[str(run)] = values
    text = json.dumps(truth, indent=1, sort_keys=True)
    (folder / TRUTH_FILE).write_text(text + "\n", encoding="utf-8")


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
    # Imported here: the integrator takes as long to load as JAX.
    from scipy.integrate import solve_ivp

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


def pixels(
    camera: CameraConfig, length: float, states: np.ndarray, random: np.random.Generator
) -> np.ndarray:
    """Marker pixels as a camera would log them, (frame, 6) whole numbers in the IBM order.

    Where nothing jitters, rounding errs by the same for as long as a marker is slow.
    """
    a, b = states[:, 0], states[:, 0] + states[:, 1]
    phase = np.linspace(0, 2 * np.pi, len(a))
    pivot = 1200 + camera.pivot_drift * np.stack([np.sin(phase), np.cos(phase)], axis=1)
    # (down, across): the first number of each pair is vertical.
    link_1 = length * np.stack([np.cos(a), np.sin(a)], axis=1)
    link_2 = camera.link_2_length * np.stack([np.cos(b), np.sin(b)], axis=1)
    elbow = pivot + camera.pixels_per_metre * link_1
    tip = elbow + camera.pixels_per_metre * link_2
    places = np.concatenate([pivot, elbow, tip], axis=1)
    return np.rint(places + camera.jitter * random.normal(size=places.shape)).astype(int)
