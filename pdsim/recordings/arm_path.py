"""A simulated arm follows a path with the flexible loop in its hand, and records what it feels.

Each joint follows b_ref(t) = b_0 + ramp(t) a sin(2π f t), with a ramp of one second (3 r² − 2 r³).
The arm is driven by

    F = G(b_ref) − K_p (b − b_ref) − K_v ḃ

with G the torque that holds the arm alone against gravity. Recorded are the angles b at every frame
and the torques F of every frame, both with the noise of their sensors, and the torques with a
constant error in each joint besides, which is the arm's and the same in every run. What is
observed, the path of the hand, is that of the recorded angles. Inputs of the frame from k to k + 1
are its torques, the mean of b_k and b_{k+1}, and their difference over the frame's time: without
noise, and with the truth for its model, a simulation so driven repeats the run to rounding.

The loop that is recorded may differ from the model's: in its number of links, their masses, and the
length of its steps. Every run starts with the loop undeformed and at rest.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from pydantic import Field, model_validator

from pdsim.recordings.camera import TRUTH_FILE, made
from pdsim.recordings.recording import Recording
from pdsim.recordings.segments import LEAST_FRAMES, NumberedRuns
from pdsim.recordings.simulated import read_log
from pdsim.runtime.errors import PdsimError
from pdsim.settings.section import Section
from pdsim.systems.baxter_arm import LINKS
from pdsim.systems.system import System

__all__ = ["Config", "channels", "check", "files", "made", "make", "read", "truths"]

Joints = tuple[float, float, float, float, float, float, float]


class ArmPath(Section):
    """Where the arm goes in one run."""

    amplitude: Joints = Field(
        (0.12, 0.12, 0.10, 0.15, 0.15, 0.15, 0.6), description="a, joint by joint [rad]"
    )
    frequency: Joints = Field((0.15, 0.10, 0.20, 0.12, 0.17, 0.22, 0.25), description="f [Hz]")


class Config(NumberedRuns):
    """A simulated arm with the flexible loop: `source: arm_path`."""

    source: Literal["arm_path"] = Field(description="the data source")
    frame_count: int = Field(
        ge=LEAST_FRAMES, le=10_000_000, description="length of every run [frames]"
    )
    runs: tuple[ArmPath, ...] = Field((ArmPath(),), min_length=1, description="one recording each")
    links: int = Field(12, ge=4, le=1000, description="of the loop that is recorded")
    substeps: int = Field(1, ge=1, le=100_000, description="steps of a frame, of what is recorded")
    parameters: dict[str, float] = Field(
        {}, description="the truth: system parameters in the system's units; others at defaults"
    )
    mass_spread: float = Field(
        0.0, ge=0, lt=1, description="each link's mass over an equal share is 1 ± this, uniform"
    )
    angle_noise: float = Field(0.0, ge=0, description="σ of each angle [rad]")
    torque_noise: float = Field(0.0, ge=0, description="σ of each torque, over its size")
    torque_bias: float = Field(0.0, ge=0, description="σ of a constant error in each joint [N m]")
    seed: int = Field(0, ge=0, description="of noise and masses")

    @model_validator(mode="after")
    def _check_runs(self) -> "Config":
        self.check_made(len(self.runs), self.frame_count)
        for window in self.windows("train") + self.windows("test"):
            if window.frames[0] > 0:
                raise ValueError(
                    f"frames {window.frames}: the loop's shape is known at frame 0 alone, so every "
                    "window must begin there"
                )
        return self


def check(config: Config, system: System) -> None:
    """Refuse another system, and parameters it does not have."""
    if system.name != "flexible_loop":
        raise PdsimError(
            f"recording.source: arm_path records flexible_loop, not {system.name}; choose simulated"
        )
    for name in config.parameters:
        if name not in system.parameters:
            raise PdsimError(f"recording.parameters.{name}: {system.name} has no such parameter")


def channels(config: Config, system: System) -> list[str]:
    """Return the channels that hold values: all."""
    del config
    return [channel.name for channel in system.channels]


def truths(config: Config, defaults: Mapping[str, float]) -> list[dict[str, float]]:
    """True system parameters of each training run."""
    return [{**defaults, **config.parameters} for _ in config.windows("train")]


def files(config: Config, folder: str) -> dict[str, str]:
    """Return the raw file of each run, in the folder that ``make`` filled."""
    return {str(run): f"{folder}/{run}.csv" for run in config.run_numbers()}


def read(config: Config, run: str, path: str, system: System) -> Recording:
    """Read a run; its start is known, and so is the truth where the model has as many links."""
    recording = read_log(run, path, system, 1 / config.rate_hz)
    states = recording.states.copy()
    states[0] = system.start()  # type: ignore[attr-defined]
    same = config.links == system.mechanics.links  # type: ignore[attr-defined]
    return replace(
        recording,
        states=states,
        start=states[0],
        start_covariance=np.zeros((states.shape[1],) * 2),
        truth=recording.truth if same else {},
    )


def make(config: Config, system: System, folder: Path) -> None:
    """Record every run into a folder: ``<run>.csv`` of channels and inputs, and the truth."""
    truth = {name: parameter.default for name, parameter in system.parameters.items()}
    truth |= config.parameters
    biases = of_the_arm(config).bias
    truth |= {f"bias_{link.name}": bias for link, bias in zip(LINKS, biases, strict=True)}
    header = ",".join(q.name for q in (*system.channels, *system.inputs))
    for number in range(len(config.runs)):
        table = np.concatenate(simulate(config, system, truth, number), axis=1)
        np.savetxt(folder / f"{number}.csv", table, delimiter=",", header=header, comments="")
    text = json.dumps(truth, indent=1, sort_keys=True)
    (folder / TRUTH_FILE).write_text(text + "\n", encoding="utf-8")


def reference(path: ArmPath, posture, times: np.ndarray) -> np.ndarray:
    """b_ref at some times [s], (time, 7) [rad]."""
    ramp = np.clip(times, 0, 1)[:, None]
    waves = np.sin(2 * np.pi * np.array(path.frequency) * times[:, None])
    return np.array(posture) + (3 * ramp**2 - 2 * ramp**3) * np.array(path.amplitude) * waves


class OfTheArm(NamedTuple):
    """What is drawn once for all runs.

    Attributes:
        factors: mass of each link over an equal share; () for equal ones.
        bias: constant error of each torque, (7,) [N m].
    """

    factors: tuple[float, ...]
    bias: tuple[float, ...]


def of_the_arm(config: Config) -> OfTheArm:
    """Draw the masses of the links and the biases of the torque sensors."""
    rng = np.random.default_rng(config.seed)
    factors = 1 + rng.uniform(-1, 1, config.links) * config.mass_spread
    bias = config.torque_bias * rng.normal(size=len(LINKS))
    return OfTheArm(tuple(factors.tolist()) if config.mass_spread else (), tuple(bias.tolist()))


def simulate(
    config: Config, system, truth: Mapping[str, float], number: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return where the hand is seen (frame, 3), and the inputs (frame, 21) of the model.

    Args:
        truth: all system parameters by name.
        number: of the run; its noise differs from the others'.
    """
    # Imported here: configs are checked with every source's section, and JAX takes long to load.
    import jax
    import jax.numpy as jnp

    from pdsim.systems.loop_mechanics import ARM, POSTURE, Drive
    from pdsim.variational.simulate import failure
    from pdsim.variational.simulate import simulate as simulated

    factors, bias = of_the_arm(config)
    mechanics = replace(system.mechanics, links=config.links, mass_factors=factors)
    frames, dt = config.frame_count, 1 / config.rate_hz / config.substeps
    count = (frames - 1) * config.substeps
    middles = reference(config.runs[number], POSTURE, (np.arange(count) + 0.5) * dt)
    rho = {name: jnp.asarray(value, float) for name, value in truth.items()}
    alone = {**rho, "mass": 0.0, "kappa_theta": 0.0, "kappa_psi": 0.0}
    q = jnp.array(mechanics.start)

    def holding(b):
        """G."""
        still = jnp.zeros_like(q)
        return -jax.grad(mechanics.lagrangian)(q.at[:ARM].set(b), still, alone)[:ARM]

    @jax.jit
    def move(middles):
        drive = Drive(jax.vmap(holding)(middles), middles, jnp.zeros_like(middles))
        motion, report = simulated(mechanics, q, 0 * q, drive, rho, dt, steps=count)
        whole = jnp.concatenate([q[None], motion.q])
        torque = jax.vmap(lambda q, v, u: mechanics.force(q, v, u, rho))(
            0.5 * (whole[1:] + whole[:-1]), jnp.diff(whole, axis=0) / dt, drive
        )
        return whole[:, :ARM], torque[:, :ARM], report

    b, torque, report = move(jnp.asarray(middles))
    lost = failure(report, dt)
    if lost is not None:
        raise PdsimError(f"recording.runs.{number}: {lost.reason}: raise recording.substeps")
    b, torque = np.asarray(b)[:: config.substeps], np.asarray(torque)
    torque = torque.reshape(frames - 1, config.substeps, ARM).mean(axis=1)
    rng = np.random.default_rng([config.seed, number])
    b = b + config.angle_noise * rng.normal(size=b.shape)
    torque = torque * (1 + config.torque_noise * rng.normal(size=torque.shape))
    torque = torque + np.array(bias)
    rate = np.diff(b, axis=0) * config.rate_hz
    inputs = np.concatenate([torque, 0.5 * (b[1:] + b[:-1]), rate], axis=1)
    # Nothing follows the last frame.
    inputs = np.concatenate([inputs, inputs[-1:]])
    hand = jax.jit(jax.vmap(lambda b: mechanics.hand(q.at[:ARM].set(b))))(jnp.asarray(b))
    return np.asarray(hand), inputs
