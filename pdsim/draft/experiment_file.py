"""What was chosen, as the text of an experiment file and as lines for the terminal."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pdsim.draft.entries import Limits
from pdsim.draft.step import Step
from pdsim.draft.stretches import Stretches
from pdsim.draft.tables import Guessed, Tables
from pdsim.draft.text import block, comment, entries, items
from pdsim.draft.windows import Windows
from pdsim.recordings.csv_table import CsvConfig
from pdsim.settings.scalars import flow

# Of a held-out stretch, what is seen before the rest is predicted, and in frames at most.
_PREFIX, _MOST_PREFIX = 0.1, 40
# Work of each run: particles and iterations. Least squares ends when it has converged; in the quick
# budget particles get what their weights need with some twenty unknowns. A roll-out of a robot from
# its file costs ten times as much.
_QUICK, _QUICK_ROBOT, _LONG = (40, 900), (16, 250), (100, 600)

# Of a robot: starts of least squares, and what the next step of one that is done would gain [nat].
_STARTS, _LITTLE = 8, 0.001


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
    gaps: Sequence[str]


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
    text = (
        f"Error of one step halved: {error[worst]:.2g} {unit} over {c.step.frames} frames, all "
        f"over the limits; noise: {noise[worst]:.2g} {unit}."
    )
    others = [
        f"{name} with {count} a frame "
        + (f"{ratio:.2g}" if np.isfinite(ratio) else "loses roll-outs")
        for (name, count), ratio in c.step.tried.items()
        if (name, count) != (c.step.integrator, c.step.substeps)
    ]
    if not others:
        return text
    return (
        f"{text} Of others, over the noise, or over what the first guess misses of a whole "
        f"stretch: {', '.join(others)}."
    )


def _noise_reason(c: Choices) -> str:
    found = ", ".join(f"{name} {value:.2g} {unit}" for name, (value, unit) in c.noise.items())
    return f"White noise found in the recordings: {found}. Marginal shooting infers it around that."


def _window_reason(c: Choices) -> str:
    return (
        f"Small errors: that of a window's start is {c.windows.ratio:.2g} times the noise after "
        f"{_milliseconds(c.windows.frames, c.frame_time)}."
    )


def told(c: Choices) -> list[str]:
    """Lines for the terminal."""
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
    if c.gaps:
        more = f" and of {len(c.gaps) - 3} more recordings" if len(c.gaps) > 3 else ""
        lines.append(f"not observed: {'; '.join(c.gaps[:3])}{more}; these are left open")
    if c.angles:
        # The way that was taken and the next best; the file has all of them.
        lines.append(f"angles: {'; '.join(c.angles.split('; ')[:2])}")
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


def text(c: Choices, title: str, folder: Path) -> str:
    """The experiment file.

    Args:
        folder: where it will be; the tables are named from there.
    """
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
                f"description: {flow(_held(c))}" if c.limits.kept else "",
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
                f"  - {_least_squares(c.system)}",
                "  - {method: csvgd, shooting: marginal}",
                "  - {method: nuts, shooting: marginal, settings: {chain_count: 4}}",
                comment("Runs that the report shows in figures of their own."),
                "detailed: [least_squares, csvgd]",
            ]
        )
        + "\n\n"
        + block(
            [
                comment(
                    "Work of each run at most. `pdsim fit --budget quick` takes minutes and leaves "
                    "out the chains, which take the longest to mix; without it `paper` is taken."
                ),
                "budgets:",
                entries(_budgets(c.system), {}, 2),
            ]
        )
        + "\n"
    )


def _held(c: Choices) -> str:
    """For the report of a robot: what its numbers are relative to."""
    names = [target.removeprefix("body/").removeprefix("joint/") for target in c.limits.kept]
    return (
        f"Held at the numbers of the robot's file: {', '.join(names)}. What these are wrong by, "
        "those that are sought make up for: the motion tells them together, and a single mass, "
        "centre or inertia below is right only as far as these are."
    )


def _least_squares(system: str) -> str:
    """The run of least squares; of a robot with fewer starts, and done when a step gains little."""
    run: dict[str, Any] = {"method": "least_squares", "shooting": "marginal"}
    if system == "articulated":
        run["settings"] = {"start_count": _STARTS, "tolerance": _LITTLE}
    return flow(run)


def _budgets(system: str) -> dict[str, Any]:
    """The section `budgets`."""
    quick = _QUICK_ROBOT if system == "articulated" else _QUICK

    def budget(size: tuple[int, int], **more: Any) -> dict[str, Any]:
        particles, iterations = size
        return {
            "particle_count": particles,
            "iteration_count": iterations,
            "learning_curve": False,
            **more,
        }

    return {
        "quick": budget(quick, runs=["least_squares_marginal", "csvgd_marginal"]),
        "paper": budget(_LONG),
    }
