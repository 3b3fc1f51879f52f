"""A stand-in for a real robot: MuJoCo moves it, and a log is written as a real one would be.

Where no recording of a robot can be had, a simulator that shares nothing with the estimator's
stands in. It has a model file of its own, which may differ from the estimator's as a robot differs
from its model; the true values of what is sought are set in it by name. Controllers pull joints to
targets, a new one in each frame:

    τ = kp (q_t − q) − kd v

Targets move from one place to the next along half a period of a cosine with the peak speed that is
given. Before the first frame the robot hangs still at its first targets. The log holds time,
targets, and what sensors with white noise show: of a frame of the robot its origin and the points
1 m along its axes, of a joint its position. A real log of the same columns is read by the source
``table``, which reads this one too.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field, model_validator

from pdsim.recordings import table
from pdsim.recordings.camera import TRUTH_FILE, made, read_truth
from pdsim.recordings.fitted import FittedStates, check_near
from pdsim.recordings.mujoco_numbers import set_number
from pdsim.recordings.recording import Recording
from pdsim.recordings.segments import LEAST_FRAMES, NumberedRuns
from pdsim.rigid_body.fingerprint import locate_model
from pdsim.rigid_body.spec import open_spec
from pdsim.runtime.errors import PdsimError
from pdsim.settings.messages import close_name
from pdsim.settings.section import Name, Positive, Section
from pdsim.systems.system import System

__all__ = ["Config", "channels", "check", "files", "located", "made", "make", "read", "truths"]

_AXES = ("x", "y", "z")
# Where rest begins [rad/s²].
_REST = 0.01


class Controller(Section):
    """A controller of one joint."""

    at: float = Field(description="first target [rad or m]")
    kp: Positive = Field(description="gain of the position [N m]")
    kd: float = Field(ge=0, description="gain of the velocity [N m s]")
    speed: Positive = Field(1.0, description="peak speed of its moves [rad/s]")


class Marked(Section):
    """A frame of the robot that is seen: its origin and the points 1 m along its axes."""

    body: str = Field(description="of the stand-in's file")
    noise: float = Field(ge=0, description="σ of the white noise of each coordinate [m]")


class Move(Section):
    """A move of one joint's target."""

    joint: str = Field(description="one of controllers")
    after: float = Field(ge=0, description="when it begins [s]")
    to: float = Field(description="where it ends, from the joint's first target [rad]")


class StandInRun(Section):
    """One run."""

    moves: tuple[Move, ...] = Field((), description="of the targets")


class Config(NumberedRuns):
    """A robot in MuJoCo as a stand-in for a real one: `source: mujoco`."""

    source: Literal["mujoco"] = Field(description="the data source")
    model: str = Field(
        description="the stand-in's file, MJCF or URDF; looked for as a robot's file is"
    )
    sha256: str | None = Field(None, description="of the file and what it reads; pdsim fills it in")
    parameters: dict[str, float] = Field(
        {},
        description="the truth, set in the file: body/<body>/mass, …/com/x, …/inertia/xx, …/pos/x; "
        "joint/<joint>/damping, …/friction, …/armature, …/stiffness",
    )
    controllers: dict[Name, Controller] = Field(description="by joint; others move freely")
    frames: dict[Name, Marked] = Field(
        {}, description="seen, twelve channels each: <name>_o_x, <name>_x_x, …"
    )
    joints: dict[Name, float] = Field(
        {}, description="whose positions are seen, with σ of the white noise [rad or m]"
    )
    frame_count: int = Field(
        ge=LEAST_FRAMES, le=10_000_000, description="length of every run [frames]"
    )
    steps: int = Field(
        16, ge=1, le=100_000, description="of MuJoCo in a frame, by its fourth-order Runge–Kutta"
    )
    settle: Positive = Field(10.0, description="time to come to rest before the first frame [s]")
    runs: tuple[StandInRun, ...] = Field(min_length=1, description="one recording each")
    seed: int = Field(0, ge=0, description="of the sensors' noise")
    states: FittedStates | None = Field(
        None, description="fit states to the channels; left out: all positions are seen"
    )

    @model_validator(mode="after")
    def _check_runs(self) -> "Config":
        if not self.frames and not self.joints:
            raise ValueError("nothing is seen: name frames or joints")
        self.check_made(len(self.runs), self.frame_count)
        for number, run in enumerate(self.runs):
            for move in run.moves:
                if move.joint not in self.controllers:
                    raise ValueError(
                        f"runs.{number}.moves: {move.joint!r} has no controller"
                        f"{close_name(move.joint, self.controllers)}"
                    )
            for joint in self.controllers:
                schedule(self, number, joint)
        return self

    @property
    def derives_velocities(self) -> bool:
        """Velocities are no channels."""
        return False

    @property
    def fitted_states(self) -> FittedStates | None:
        return self.states


def located(config: Config, folder: Path) -> Config:
    """The config with its file found, and the fingerprint of that, so that a change is seen."""
    # Contacts are simulated there, so that every shape counts.
    found = locate_model(config.model, folder, "recording.model", shapes=True)
    return config.model_copy(update=found)


def schedule(config: Config, number: int, joint: str) -> list[tuple[float, float, float, float]]:
    """Begin [s], end [s], from and to of each move of a joint in a run, in their order.

    Raises:
        ValueError: a move begins before the last one has ended.
    """
    controller = config.controllers[joint]
    found: list[tuple[float, float, float, float]] = []
    at = controller.at
    for move in config.runs[number].moves:
        if move.joint != joint:
            continue
        if found and move.after < found[-1][1]:
            raise ValueError(
                f"runs.{number}.moves: {joint} begins to move at {move.after:g} s, but its last "
                f"move ends at {found[-1][1]:.4g} s; begin later, or raise "
                f"controllers.{joint}.speed"
            )
        to = controller.at + move.to
        # The peak speed of half a cosine of amplitude Δ/2 that lasts T is π Δ / 2 T.
        lasts = np.pi * abs(to - at) / (2 * controller.speed)
        found.append((move.after, move.after + lasts, at, to))
        at = to
    return found


def targets(config: Config, number: int) -> np.ndarray:
    """Target of each controller in each frame of a run, (frame, controller)."""
    time = np.arange(config.frame_count) / config.rate_hz
    columns = []
    for joint, controller in config.controllers.items():
        column = np.full(len(time), controller.at)
        for begin, end, start, to in schedule(config, number, joint):
            share = np.clip((time - begin) / max(end - begin, 1e-12), 0, 1)
            moved = start + (to - start) * (1 - np.cos(np.pi * share)) / 2
            column = np.where(time >= begin, moved, column)
        columns.append(column)
    return np.stack(columns, axis=1)


def _seen(config: Config) -> dict[str, str]:
    """Unit of each channel by name."""
    names = dict.fromkeys(config.joints, "rad")
    for name in config.frames:
        names |= {f"{name}_{point}_{axis}": "m" for point in ("o", *_AXES) for axis in _AXES}
    return names


def _acting(config: Config) -> list[str]:
    return [f"target_{joint}" for joint in config.controllers]


def check(config: Config, system: System) -> None:
    """Refuse names that the stand-in's file or the system does not have, before anything moves.

    Raises:
        PdsimError: names the key below ``recording``.
    """
    compiled(config)
    known = [channel.name for channel in system.channels]
    for name in _seen(config):
        if name not in known:
            raise PdsimError(
                f"recording.frames or joints: {system.name} has no channel {name!r}"
                f"{close_name(name, known)}"
            )
    inputs = [quantity.name for quantity in system.inputs]
    if set(inputs) != set(_acting(config)):
        raise PdsimError(
            f"recording.controllers: needs exactly the joints whose targets are inputs of "
            f"{system.name}: {inputs} (got {_acting(config)}); with simulator.options.actuation: "
            "pd these are simulator.options.joints"
        )
    if config.states is not None:
        check_near(config.states, system)
    else:
        table.check(_as_table(config, {"0": "0.csv"}), system)


def channels(config: Config, system: System) -> list[str]:
    """Return the channels that hold values."""
    del system
    return list(_seen(config))


def truths(config: Config, defaults: Mapping[str, float]) -> list[dict[str, float]]:
    """True system parameters, those that were set; what else differs has no name."""
    del defaults
    return [dict(config.parameters) for _ in config.windows("train")]


def files(config: Config, folder: str) -> dict[str, str]:
    """Return the raw file of each run, in the folder that ``make`` filled."""
    return {str(run): f"{folder}/{run}.csv" for run in config.run_numbers()}


def _as_table(config: Config, runs: Mapping[str, str]) -> table.Config:
    """How the source ``table`` is told to read the log."""
    return table.Config.model_validate(
        {
            "source": "table",
            "files": dict(runs),
            "rate_hz": config.rate_hz,
            "channels": {k: {"column": k, "unit": unit} for k, unit in _seen(config).items()},
            "inputs": {name: {"column": name, "unit": "rad"} for name in _acting(config)},
            "smoothing": config.smoothing.model_dump(),
            "states": config.states.model_dump() if config.states else "smoothed",
        }
    )


def read(config: Config, run: str, path: str, system: System) -> Recording:
    """Read a run as any log, and what was true of it."""
    recording = table.read(_as_table(config, {run: path}), run, path, system)
    return replace(recording, truth=read_truth(path))


def make(config: Config, system: System, folder: Path) -> None:
    """Record every run into a folder: ``<run>.csv``, and the truth."""
    del system
    names = list(_seen(config))
    header = ",".join(["time", *_acting(config), *names])
    time = np.arange(config.frame_count) / config.rate_hz
    for number in range(len(config.runs)):
        shown = simulate(config, number)
        random = np.random.default_rng([config.seed, number])
        shown = shown + _deviations(config) * random.normal(size=shown.shape)
        values = np.column_stack([time, targets(config, number), shown])
        np.savetxt(
            folder / f"{number}.csv", values, "%.9g", delimiter=",", header=header, comments=""
        )
    text = json.dumps(config.parameters, indent=1, sort_keys=True)
    (folder / TRUTH_FILE).write_text(text + "\n", encoding="utf-8")


def _deviations(config: Config) -> np.ndarray:
    frames = [marked.noise for marked in config.frames.values() for _ in range(12)]
    return np.array([*config.joints.values(), *frames])


def compiled(config: Config) -> Any:
    """MuJoCo's model with the true numbers set.

    Raises:
        PdsimError: the file cannot be read, has no such name, or its bodies cannot be.
    """
    import mujoco

    try:
        spec = open_spec(config.model, shapes=True)
        for name, value in config.parameters.items():
            set_number(spec, name, value)
        model = spec.compile()
    except (ValueError, mujoco.FatalError) as error:
        raise PdsimError(
            f"recording.model: {config.model}: MuJoCo refuses it with recording.parameters: {error}"
        ) from None
    joints = {model.joint(i).name: i for i in range(model.njnt)}
    bodies = {model.body(i).name: i for i in range(model.nbody)}
    named: dict[str, tuple[Iterable[str], Mapping[str, int]]] = {
        "controllers": (config.controllers, joints),
        "joints": (config.joints, joints),
        "frames": ([marked.body for marked in config.frames.values()], bodies),
    }
    for key, (names, there) in named.items():
        for name in names:
            if name not in there:
                raise PdsimError(
                    f"recording.{key}: {config.model} has nothing called {name!r}"
                    f"{close_name(name, there)}"
                )
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    model.opt.timestep = 1 / (config.rate_hz * config.steps)
    return model


def simulate(config: Config, number: int) -> np.ndarray:
    """Return what sensors without noise would show of a run, (frame, channel).

    Raises:
        PdsimError: it does not come to rest, or runs away.
    """
    import mujoco

    model = compiled(config)
    data = mujoco.MjData(model)
    wanted, controllers = targets(config, number), config.controllers.values()
    joints = [model.joint(name) for name in config.controllers]
    places = [int(joint.qposadr[0]) for joint in joints]
    rates = [int(joint.dofadr[0]) for joint in joints]
    kp = np.array([controller.kp for controller in controllers])
    kd = np.array([controller.kd for controller in controllers])
    data.qpos[places] = wanted[0]

    def frame(target) -> None:
        for _ in range(config.steps):
            data.qfrc_applied[rates] = kp * (target - data.qpos[places]) - kd * data.qvel[rates]
            mujoco.mj_step(model, data)

    # Stopped whenever it has been fastest, it comes to rest without a brake that would have to suit
    # it (dynamic relaxation).
    model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    energy = 0.0
    for _ in range(round(config.settle * config.rate_hz)):
        frame(wanted[0])
        if data.energy[1] < energy:
            data.qvel[:] = 0
        energy = data.energy[1] if data.qvel.any() else 0.0
    data.qvel[:] = 0
    data.qfrc_applied[rates] = kp * (wanted[0] - data.qpos[places])
    mujoco.mj_forward(model, data)
    if not np.abs(data.qacc).max() < _REST:
        raise PdsimError(
            f"recording.settle: after {config.settle:g} s {config.model} still accelerates at "
            f"{np.abs(data.qacc).max():.2g} rad/s²; give it longer, or mend the controllers' gains"
        )
    seen = [model.joint(name).qposadr[0] for name in config.joints]
    bodies = [model.body(marked.body).id for marked in config.frames.values()]
    shown = []
    for target in wanted:
        mujoco.mj_kinematics(model, data)
        origins = [data.xpos[body] for body in bodies]
        points = [
            [origin, *(origin + data.xmat[body].reshape(3, 3).T)]
            for origin, body in zip(origins, bodies, strict=True)
        ]
        shown.append(np.append(data.qpos[seen], np.ravel(points)))
        frame(target)
    found = np.array(shown)
    if not np.isfinite(found).all() or data.warning[mujoco.mjtWarning.mjWARN_BADQACC].number:
        raise PdsimError(
            f"recording.runs.{number}: the motion is not finite; raise recording.steps, or lower "
            "the controllers' gains"
        )
    return found
