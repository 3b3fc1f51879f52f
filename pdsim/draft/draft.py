"""From tables and a system to the text of an experiment file: every choice, one after the other."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import ValidationError

from pdsim import registry
from pdsim.config.messages import explain
from pdsim.draft.angles import choose_way, ways, with_way
from pdsim.draft.entries import Limits
from pdsim.draft.limits import choose_limits, misses
from pdsim.draft.matching import Motion, motion_of
from pdsim.draft.stamps import guess_time
from pdsim.draft.step import Step, choose_step
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
from pdsim.draft.text import block, comment, entries, flow, items
from pdsim.draft.windows import Windows, choose_windows
from pdsim.recordings import table
from pdsim.recordings.columns import CsvConfig
from pdsim.recordings.cut import cut, position_columns
from pdsim.recordings.recording import Recording
from pdsim.recordings.segments import SmoothingConfig
from pdsim.recordings.smoothing import white_noise
from pdsim.runtime.errors import PdsimError
from pdsim.systems.config import SimulatorConfig, SystemChoice
from pdsim.systems.simulator import Simulator, build_simulator, build_system
from pdsim.systems.system import System

SYSTEMS = ("double_pendulum", "cart_pole", "oscillator")
# Of a held-out stretch, what is seen before the rest is predicted, and in frames at most.
_PREFIX, _MOST_PREFIX = 0.1, 40
# Work of each run: particles and iterations.
_BUDGETS = {
    "quick": {"particle_count": 20, "iteration_count": 100, "learning_curve": False},
    "paper": {"particle_count": 100, "iteration_count": 100, "learning_curve": False},
}


class Draft(NamedTuple):
    """A draft.

    Attributes:
        text: of the experiment file.
        told: what was guessed and chosen, a line each, for the user.
    """

    text: str
    told: list[str]


class Choices(NamedTuple):
    """All that was chosen."""

    system: str
    tables: Tables
    time: Guessed
    channels: Guessed
    inputs: Guessed
    stretches: Stretches
    limits: Limits
    step: Step
    windows: Windows
    noise: Mapping[str, tuple[float, str]]
    frame_time: float
    angles: str


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
    time, step = guess_time(tables, asked)
    channels = guess_channels(tables, built, asked, time, step)
    inputs = guess_inputs(tables, built, asked)

    def look(channels: Guessed) -> tuple[Stretches, list[Recording], Motion]:
        runs = _read(tables, built, {**time.values, "channels": channels.values}, inputs)
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
    # Noise is that of the most noisy stretch; positions that never change have that of no sensor.
    noise = np.max([white_noise(one.observed[None]) for one in learned], axis=0)
    _check_noise(noise, built, tables)
    chosen = choose_step(simulator, learned, noise)
    simulator = simulator._replace(
        system=simulator.system.with_integrator(chosen.integrator),  # type: ignore[attr-defined]
        substeps=chosen.substeps,
    )
    windows = choose_windows(simulator, learned, noise, SmoothingConfig().build())
    shown = {
        built.channels[i].name: (float(noise[i]), built.channels[i].unit)
        for i, _ in position_columns(built)
    }
    choices = Choices(
        name, tables, time, channels, inputs, stretches, limits, chosen, windows, shown,
        learned[0].frame_time, f"{way.words}: {why}" if way is not None else "",
    )  # fmt: skip
    return Draft(_text(choices, title, folder), _told(choices))


def _options(
    system: str | None, model: str | None, ignore: Sequence[str], *, driven: bool
) -> tuple[str, dict[str, Any]]:
    """Name of the system, and the options with which its tables are read."""
    if model is not None:
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


def _check_noise(noise: np.ndarray, system: System, tables: Tables) -> None:
    """Refuse a position without any noise, to which no step could be fine enough."""
    for column, _ in position_columns(system):
        if not noise[column] > 0:
            raise PdsimError(
                f"{tables.path}: channel {system.channels[column].name} has no noise at all in the "
                "stretches that would be learned from: it stands still there; record a motion of "
                "all joints, or leave this file out"
            )


def _place(path: Path, folder: Path) -> str:
    """How a file is named in the experiment: from its folder, if it is below."""
    path, folder = path.resolve(), folder.resolve()
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)


def _milliseconds(frames: int, frame_time: float) -> str:
    return f"{frames} frames ({1e3 * frames * frame_time:.3g} ms)"


def _step_reason(c: Choices) -> str:
    error, noise = c.step.error.error, c.step.error.noise
    worst = int(np.argmax(error / noise))
    unit = list(c.noise.values())[worst][1]
    text = f"Error of one step halved: {error[worst]:.2g} {unit}, noise: {noise[worst]:.2g} {unit}."
    others = [
        f"{name} with {count} a frame {ratio:.2g}"
        for (name, count), ratio in c.step.tried.items()
        if (name, count) != (c.step.integrator, c.step.substeps)
    ]
    return text + (f" Of others, over the noise: {', '.join(others)}." if others else "")


def _noise_reason(c: Choices) -> str:
    found = ", ".join(f"{name} {value:.2g} {unit}" for name, (value, unit) in c.noise.items())
    return f"White noise found in the recordings: {found}. Marginal shooting infers it around that."


def _window_reason(c: Choices) -> str:
    return (
        f"Small errors: that of a window's start is {c.windows.ratio:.2g} times the noise after "
        f"{_milliseconds(c.windows.frames, c.frame_time)}."
    )


def _told(c: Choices) -> list[str]:
    files = len(c.tables.files)
    lines = [f"{files} recording{'s' * (files > 1)}: {', '.join(c.tables.files)}"]
    if "rate_hz" in c.time.values:
        lines.append(f"time: {c.time.values['rate_hz']:g} Hz, {c.time.reasons['rate_hz']}")
    else:
        time = c.time.values["time"]
        lines.append(f"time: column {time['column']!r} in {time['unit']}, {c.time.reasons['time']}")
    for key in ("resample", "drop_repeats"):
        if key in c.time.values:
            lines.append(f"{key}: {flow(c.time.values[key])}, {c.time.reasons[key]}")
    for part in (c.channels, c.inputs):
        for name, value in part.values.items():
            what = f"column {value['column']!r}" if "column" in value else f"{value['constant']:g}"
            less = f", less that of {value['minus']}" if "minus" in value else ""
            less += ", sign turned" if "sign" in value else ""
            less += f", {value['offset']:g} added" if "offset" in value else ""
            lines.append(f"{name}: {what} in {value['unit']}, {part.reasons[name]}{less}")
    if c.angles:
        lines.append(f"angles: {c.angles}")
    if not c.inputs.values:
        lines.append("no torques: what moves is taken to move freely")
    lines += [
        f"learned from: {c.stretches.reasons['train']}",
        f"held out: {c.stretches.reasons['test']}",
        f"sought: {', '.join(c.limits.parameters)}; {c.limits.reasons['limits']}",
        f"step: {c.step.integrator}, {c.step.substeps} a frame. {_step_reason(c)}",
        f"windows: {c.windows.window_count}. {_window_reason(c)}",
        _noise_reason(c),
    ]
    return lines


def _text(c: Choices, title: str, folder: Path) -> str:
    options = dict(c.limits.options)
    if "model" in options:
        options["model"] = _place(Path(options["model"]), folder)
    files = {run: _place(path, folder) for run, path in c.tables.files.items()}
    written = CsvConfig().model_dump()
    csv = {k: v for k, v in c.tables.csv.model_dump().items() if v != written[k]}
    prefix = max(2, min(_MOST_PREFIX, round(_PREFIX * c.stretches.frames)))
    return (
        block(
            [
                comment(
                    "Drafted by `pdsim new`; each choice has the number that it rests on behind "
                    "it. Every key: config/README.md of pdsim. `pdsim check` this file after a "
                    "change, and `pdsim fit` it."
                ),
                f"title: {flow(title)}",
                "",
            ]
        )
        + "\n\n"
        + block(
            [
                "simulator:",
                f"  system: {c.system}",
                f"  options: {flow(options)}",
                comment(_step_reason(c), 2),
                f"  integrator: {c.step.integrator}",
                f"  substeps: {c.step.substeps}",
                comment(f"Limits: {c.limits.reasons['limits']}.", 2),
                "  parameters:",
                entries(c.limits.parameters, c.limits.reasons, 4),
                comment(f"Fixed: {c.limits.reasons['fixed']}.", 2)
                if "fixed" in c.limits.reasons
                else "",
                f"  fixed: {flow(c.limits.fixed)}" if c.limits.fixed else "",
                comment(
                    "Not told apart by the motion, and left as the file has them: "
                    f"{', '.join(c.limits.kept)}.",
                    2,
                )
                if c.limits.kept
                else "",
            ]
        )
        + "\n\n"
        + block(
            [
                "recording:",
                "  source: table",
                "  files:",
                entries(files, {}, 4),
                f"  csv: {flow(csv)}" if csv else "",
                entries(c.time.values, c.time.reasons, 2),
                comment(
                    f"Angles of the table: {c.angles}. The system has them from link to link, 0 "
                    "hanging, all growing in the same direction: `minus: <channel>` makes them of "
                    "angles against the vertical (pdsim new --absolute), `offset` moves the 0 "
                    "(--zero), `sign` turns the direction.",
                    2,
                )
                if c.angles
                else "",
                "  channels:",
                entries(c.channels.values, c.channels.reasons, 4),
                "  inputs:" if c.inputs.values else "",
                entries(c.inputs.values, c.inputs.reasons, 4),
                comment(f"Learned from: {c.stretches.reasons['train']}.", 2),
                "  train:",
                items(c.stretches.train, 4),
                comment(f"Held out: {c.stretches.reasons['test']}.", 2),
                "  test:",
                items(c.stretches.test, 4),
            ]
        )
        + "\n\n"
        + block(
            [
                "likelihood:",
                "  combination: product",
                comment(_window_reason(c), 2),
                f"  window_count: {c.windows.window_count}",
                comment(_noise_reason(c), 2),
                "",
            ]
        )
        + "\n\n"
        + block(
            [
                comment("Frames of each held-out stretch that are seen; the rest is predicted."),
                f"prediction: {{prefix: {prefix}}}",
            ]
        )
        + "\n\n"
        + block(
            [
                comment(
                    "The yardstick, and two estimators of the whole posterior: particles and "
                    "Markov chains. Where they differ, believe neither."
                ),
                "runs:",
                "  - {method: least_squares, shooting: marginal}",
                "  - {method: csvgd, shooting: marginal}",
                "  - {method: nuts, shooting: marginal, settings: {chain_count: 4}}",
            ]
        )
        + "\n\n"
        + block(["budgets:", entries(_BUDGETS, {}, 2)])
        + "\n"
    )
