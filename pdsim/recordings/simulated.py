"""Recordings of any system by its own equations: a start, what acts, and sensors with white noise.

The quickest way to data of a system, where a real recording is not at hand or not wanted: what is
estimated from it is the truth but for the noise, so it shows whether a set-up can work, and never
whether the model is right. Inputs are values held one after another, each for an equal part of a
run. Positions are measured; velocities are their finite differences.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field, model_validator

from pdsim.recordings.camera import TRUTH_FILE, made, read_truth
from pdsim.recordings.channels import LARGEST, LARGEST_INPUT
from pdsim.recordings.plausible import check_motion, check_size, warn
from pdsim.recordings.raw_file import check_text_fits, check_there
from pdsim.recordings.recording import Recording, unsmoothed
from pdsim.recordings.segments import LEAST_FRAMES, NumberedRuns
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import sha256
from pdsim.settings.messages import close_name
from pdsim.settings.section import Positive, Section
from pdsim.systems.system import POSITIONS, System

__all__ = ["Config", "channels", "check", "files", "made", "make", "read", "truths"]


class SimulatedRun(Section):
    """One run: where it starts, and what acts."""

    start: dict[str, float] = Field(description="state variables; those not named are 0")
    inputs: dict[str, tuple[float, ...]] = Field(
        {}, description="values of each input, held one after another; an input not named is 0"
    )


class Config(NumberedRuns):
    """A system by its own equations: `source: simulated`."""

    source: Literal["simulated"] = Field(description="the data source")
    frame_count: int = Field(
        ge=LEAST_FRAMES, le=10_000_000, description="length of every run [frames]"
    )
    parameters: dict[str, float] = Field(
        {}, description="the truth: system parameters in the system's units; others at defaults"
    )
    noise: dict[str, Positive] = Field(
        description="σ of the white noise of each position's sensor, in the channel's unit"
    )
    runs: tuple[SimulatedRun, ...] = Field(min_length=1, description="one recording each")
    substeps: int = Field(10, ge=1, le=100_000, description="steps of a frame")
    seed: int = Field(0, ge=0, description="of the sensors' noise")

    @model_validator(mode="after")
    def _check_runs(self) -> "Config":
        self.check_made(len(self.runs), self.frame_count)
        return self


def check(config: Config, system: System) -> None:
    """Refuse names that the system does not have.

    Raises:
        PdsimError: names the key below ``recording``.
    """
    positions = [c.name for c in system.channels if c.kind in POSITIONS]
    if set(config.noise) != set(positions):
        raise PdsimError(
            f"recording.noise: needs exactly the positions {sorted(positions)} of {system.name} "
            f"(got {sorted(config.noise)})"
        )
    known = {
        "parameters": (config.parameters, list(system.parameters)),
        **{
            f"runs.{i}.{key}": (getattr(run, key), [q.name for q in quantities])
            for i, run in enumerate(config.runs)
            for key, quantities in (("start", system.state), ("inputs", system.inputs))
        },
    }
    for key, (named, names) in known.items():
        for name in named:
            if name not in names:
                raise PdsimError(
                    f"recording.{key}.{name}: {system.name} has nothing of this name"
                    f"{close_name(name, names)}"
                )


def channels(config: Config, system: System) -> list[str]:
    """Return the channels that hold values: positions, and their differences."""
    del config
    return [c.name for c in system.channels if c.kind in (*POSITIONS, "velocity")]


def truths(config: Config, defaults: Mapping[str, float]) -> list[dict[str, float]]:
    """True system parameters of each training run."""
    return [{**defaults, **config.parameters} for _ in config.windows("train")]


def files(config: Config, folder: str) -> dict[str, str]:
    """Return the raw file of each run, in the folder that ``make`` filled."""
    return {str(run): f"{folder}/{run}.csv" for run in config.run_numbers()}


def read(config: Config, run: str, path: str, system: System) -> Recording:
    """Read a run: its channels, NaN where nothing was measured, its inputs and the truth."""
    return read_log(run, path, system, 1 / config.rate_hz)


def read_log(run: str, path: str, system: System, frame_time: float) -> Recording:
    """Read a table of channels and inputs, and the truth that stands beside it.

    Raises:
        PdsimError: the table cannot be read, is of another system, or holds no motion.
    """
    check_there(path, "a run that pdsim record wrote")
    check_text_fits(path)
    header, _, text = Path(path).read_bytes().rstrip().partition(b"\n")
    wanted = _header(system)
    if header.decode(errors="replace").strip() != wanted:
        raise PdsimError(
            f"{path}: its first line is not {wanted}: it is no recording of {system.name}; record "
            "it again"
        )
    try:
        table = np.loadtxt(text.splitlines(), delimiter=",", ndmin=2, comments=None)
    except (OSError, ValueError) as error:
        raise PdsimError(f"{path}: cannot be read: {error}; record it again") from error
    if table.shape[1] != wanted.count(",") + 1:
        raise PdsimError(f"{path}: its rows have {table.shape[1]} columns; record it again")
    count = len(system.channels)
    _check_channels(table, system, path)
    recording = unsmoothed(
        run,
        frame_time,
        table[:, :count],
        table[:, count:],
        len(system.state),
        source=path,
        sha256=sha256(path),
    )
    return replace(recording, truth=read_truth(path))


def _header(system: System) -> str:
    return ",".join(q.name for q in (*system.channels, *system.inputs))


def _check_channels(table: np.ndarray, system: System, path: str) -> None:
    """Refuse what no machine does, and tell of samples that look lost."""
    quantities, positions = (*system.channels, *system.inputs), []
    for quantity, column in zip(quantities, table.T, strict=True):
        where = f"{path}: column {quantity.name!r}"
        check_size(column, where, quantity.unit, LARGEST.get(quantity.kind, LARGEST_INPUT))
        if quantity.kind in POSITIONS and np.isfinite(column).any():
            turn = 2 * np.pi if quantity.kind == "angle" else np.inf
            warn(column, where, "empty these cells: nan", turn)
            positions.append((quantity.name, column, quantity.kind == "angle"))
    check_motion(positions, path, "record it again")


def make(config: Config, system: System, folder: Path) -> None:
    """Record every run into a folder: ``<run>.csv`` of channels and inputs, and the truth."""
    truth = {name: parameter.default for name, parameter in system.parameters.items()}
    truth |= config.parameters
    for number, run in enumerate(config.runs):
        table = np.concatenate(simulate(config, system, truth, run, number), axis=1)
        np.savetxt(
            folder / f"{number}.csv", table, delimiter=",", header=_header(system), comments=""
        )
    text = json.dumps(truth, indent=1, sort_keys=True)
    (folder / TRUTH_FILE).write_text(text + "\n", encoding="utf-8")


def simulate(
    config: Config, system: System, truth: Mapping[str, float], run: SimulatedRun, number: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return what the sensors show (frame, channel), and what acts (frame, input).

    Args:
        truth: all system parameters by name.
        number: of the run; its noise differs from the others'.
    """
    # Imported here: configs are checked with every source's section, and JAX takes long to load.
    import jax
    import jax.numpy as jnp

    from pdsim.systems.rollout import rollout

    frames = config.frame_count
    acting = np.zeros((frames, len(system.inputs)))
    for column, quantity in enumerate(system.inputs):
        values = np.array(run.inputs.get(quantity.name, (0.0,)))
        acting[:, column] = values[np.arange(frames) * len(values) // frames]
    start = jnp.array([run.start.get(q.name, 0.0) for q in system.state])

    @jax.jit
    def motion(start, inputs):
        prepared = system.prepare({name: jnp.asarray(value) for name, value in truth.items()})
        state = system.unpack(start)
        shown, _ = rollout(
            system,
            prepared,
            state,
            inputs,
            frames=frames - 1,
            frame_time=1 / config.rate_hz,
            substeps=config.substeps,
        )
        first = system.observe(state, prepared)
        return [jnp.append(a, b) for a, b in zip(first, shown, strict=True)]

    shown = np.stack(motion(start, tuple(jnp.asarray(acting[:-1].T))), axis=1)
    if not np.isfinite(shown).all():
        raise PdsimError(f"recording.runs.{number}: the motion is not finite; raise substeps")
    deviations = np.array([config.noise.get(c.name, np.nan) for c in system.channels])
    noise = np.random.default_rng([config.seed, number]).normal(size=shown.shape)
    return shown + deviations * noise, acting
