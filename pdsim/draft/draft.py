"""From tables and a system to the text of an experiment file: every choice, one after the other."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import ValidationError

from pdsim import registry
from pdsim.draft.angles import choose_way, ways, with_way
from pdsim.draft.entries import Limits
from pdsim.draft.experiment_file import Choices, text, told
from pdsim.draft.limits import choose_limits, misses
from pdsim.draft.matching import Motion, motion_of
from pdsim.draft.stamps import guess_time
from pdsim.draft.step import choose_step
from pdsim.draft.stretches import Stretches, choose_stretches, positions_of
from pdsim.draft.tables import (
    Asked,
    Guessed,
    Tables,
    guess_channels,
    guess_inputs,
    is_driven,
    read_tables,
)
from pdsim.draft.windows import choose_windows, longest
from pdsim.recordings import table
from pdsim.recordings.cut import cut, position_columns
from pdsim.recordings.recording import Recording
from pdsim.recordings.segments import SmoothingConfig
from pdsim.recordings.smoothing import white_noise
from pdsim.rigid_body.model_text import WANTED
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import check_regular
from pdsim.settings.messages import explain
from pdsim.systems.config import SimulatorConfig, SystemChoice
from pdsim.systems.simulator import Simulator, build_simulator, build_system
from pdsim.systems.system import System

SYSTEMS = ("double_pendulum", "cart_pole", "oscillator")


class Draft(NamedTuple):
    """A draft.

    Attributes:
        text: of the experiment file.
        told: what was guessed and chosen, a line each, for the user.
    """

    text: str
    told: list[str]


def draft(
    paths: Sequence[str],
    *,
    folder: Path,
    title: str,
    system: str | None = None,
    model: str | None = None,
    ignore: Sequence[str] = (),
    asked: Asked = Asked(),  # noqa: B008
) -> Draft:
    """Draft an experiment.

    Args:
        paths: tables, a run each.
        folder: where the experiment file will be; files are named from there.
        title: of the experiment.
        system: a name from ``SYSTEMS``; or else
        model: a robot's file, MJCF or URDF.
        ignore: what of that file is not to be simulated.
        asked: what the user said of the tables.

    Raises:
        PdsimError: something cannot be guessed or used; the message says which flag to give.
    """
    tables = read_tables(paths)
    driven = is_driven(tables, asked)
    name, options = _options(system, model, ignore, driven=driven)
    built = build_system(SystemChoice(system=name, options=options))
    if not built.state:
        raise PdsimError(f"{model}: has no joint that moves; give it a revolute or prismatic one")
    time, step = guess_time(tables, asked)
    channels = guess_channels(tables, built, asked, time, step)
    inputs = guess_inputs(tables, built, asked)

    gaps: list[str] = []

    def look(channels: Guessed) -> tuple[Stretches, list[Recording], Motion]:
        runs = _read(tables, built, {**time.values, "channels": channels.values}, inputs)
        gaps[:] = _gaps(runs, built)
        stretches = choose_stretches(runs, built)
        learned = [_cut(runs[one["run"]], one["frames"], built) for one in stretches.train]
        return stretches, learned, _motion(learned, built, stretches.period)

    stretches, learned, motion = look(channels)
    way, why = choose_way(built, motion, asked, lambda: misses(built, options, motion))
    if way is not None and way != ways(built, Asked())[0]:
        channels = with_way(channels, built, way)
        stretches, learned, motion = look(channels)
    limits = choose_limits(built, options, motion)
    simulator = _simulator(name, limits)
    limits = _explained(limits, simulator.system)
    # Noise is that of the most noisy stretch; positions that never change have that of no sensor.
    noise = np.max([white_noise(one.observed[None]) for one in learned], axis=0)
    _check_noise(noise, built, tables)
    guess = _guess(limits, simulator)
    chosen = choose_step(simulator, learned, noise, guess, longest(learned[0].frames))
    simulator = simulator._replace(
        system=simulator.system.with_integrator(chosen.integrator),  # type: ignore[attr-defined]
        substeps=chosen.substeps,
    )
    windows = choose_windows(simulator, learned, noise, SmoothingConfig().build(), guess)
    shown = {
        built.channels[i].name: (float(noise[i]), built.channels[i].unit)
        for i, _ in position_columns(built)
    }
    choices = Choices(
        name, tables, time, channels, inputs, stretches, limits, chosen, windows, shown,
        learned[0].frame_time, f"{way.words}: {why}" if way is not None else "", gaps,
    )  # fmt: skip
    return Draft(text(choices, title, folder), told(choices))


def _options(
    system: str | None, model: str | None, ignore: Sequence[str], *, driven: bool
) -> tuple[str, dict[str, Any]]:
    """Name of the system, and the options with which its tables are read."""
    if model is not None:
        check_regular(model, WANTED)
        if not Path(model).is_file():
            raise PdsimError(f"{model}: no such file; --model names a robot's MJCF or URDF file")
        options: dict[str, Any] = {"model": str(Path(model).resolve())}
        if ignore:
            options["ignore"] = list(ignore)
        return "articulated", options | ({"actuation": "torque"} if driven else {})
    if system in ("cart_pole", "oscillator"):
        return system, {}
    if system not in SYSTEMS:
        known = ", ".join(name for name in registry.NAMES["systems"] if name not in SYSTEMS)
        raise PdsimError(
            f"--system {system}: an experiment can be drafted for {', '.join(SYSTEMS)}, and for a "
            f"robot from its file (--model robot.urdf); for {known} write one by hand: "
            "config/README.md"
        )
    return system, {"motors": True} if driven else {}


def _read(
    tables: Tables, system: System, values: Mapping[str, Any], inputs: Guessed
) -> dict[str, Recording]:
    """Read the tables as an experiment with these keys would."""
    section = {
        "source": "table",
        "files": {run: str(path) for run, path in tables.files.items()},
        "csv": tables.csv,
        "inputs": inputs.values,
        **values,
    }
    try:
        config = table.Config.model_validate(section)
    except ValidationError as error:
        raise explain(error, "recording", table.Config) from None
    return {run: table.read(config, run, str(path), system) for run, path in tables.files.items()}


def _cut(run: Recording, frames: Sequence[int], system: System) -> Recording:
    """A stretch with its states, estimated from its own frames alone."""
    return cut(
        run, frames[0], frames[1], system, SmoothingConfig().build(), derive_velocities=False,
        sight=(frames[0], frames[1]),
    )  # fmt: skip


def _motion(learned: Sequence[Recording], system: System, period: float) -> Motion:
    return motion_of(learned, [positions_of(one, system) for one in learned], period)


def _simulator(name: str, limits: Limits) -> Simulator:
    return build_simulator(
        SimulatorConfig.model_validate(
            {
                "system": name,
                "options": limits.options,
                "parameters": limits.parameters,
                "fixed": limits.fixed,
            }
        )
    )


def _guess(limits: Limits, simulator: Simulator) -> np.ndarray:
    """Unit coordinates of the first guess, within the limits, (M,)."""
    space = simulator.space
    guess = [np.clip(limits.guess[p.name], p.lower, p.upper) for p in space.parameters]
    return np.asarray(space.to_coordinates(np.array(guess)))


def _gaps(runs: Mapping[str, Recording], system: System) -> list[str]:
    """What of the positions was not observed, of each run where anything is missing."""
    columns = [column for column, _ in position_columns(system)]
    told = []
    for name, run in runs.items():
        missing = ~np.isfinite(run.observed[:, columns]).all(axis=1)
        if missing.any():
            count, first = int(missing.sum()), int(np.flatnonzero(missing)[0])
            told.append(
                f"{count:,} of {len(missing):,} frames of {name} ({100 * count / len(missing):.2g} "
                f"%), the first after {first * run.frame_time:.4g} s"
            )
    return told


def _explained(limits: Limits, system: System) -> Limits:
    """The same, with what each parameter is before the reason of its limits."""
    known = {name: one.meaning for name, one in system.parameters.items()}
    reasons = {
        name: f"{known[name]}; {reason}" if known.get(name) else reason
        for name, reason in limits.reasons.items()
    }
    return limits._replace(reasons=reasons)


def _check_noise(noise: np.ndarray, system: System, tables: Tables) -> None:
    """Refuse a position without any noise, to which no step could be fine enough."""
    for column, _ in position_columns(system):
        if not noise[column] > 0:
            raise PdsimError(
                f"{tables.path}: channel {system.channels[column].name} has no noise at all in the "
                "stretches that would be learned from: it stands still there; record a motion of "
                "all joints, or leave this file out"
            )
