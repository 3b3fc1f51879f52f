"""Stage ``preprocess``: raw runs to one trajectories file."""

import json
import logging
from collections.abc import Mapping, Sequence

import numpy as np

from pdsim import registry
from pdsim.experiment.slices import Preprocess
from pdsim.recordings.cut import cut
from pdsim.recordings.recording import Recording
from pdsim.recordings.segments import Window, check_within
from pdsim.recordings.trajectories import check_prefix, trajectory_set
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import write_dataset
from pdsim.systems.simulator import build_system
from pdsim.systems.system import POSITIONS, System

log = logging.getLogger(__name__)


def preprocess(
    options: Preprocess,
    *,
    raw: Mapping[str, str],
    output: str,
    prefix: int | None = None,
) -> None:
    """Read the runs, cut windows out of them, and estimate their states.

    Args:
        raw: run → file.
        prefix: frames of held-out recordings from which the rest will be predicted. It changes
            nothing here; that all are longer may be known here first.
    """
    config, system = options.recording, build_system(options.system)
    source = registry.load("recordings", config.source)
    runs = {run: source.read(config, run, path, system) for run, path in raw.items()}
    frame_time = next(iter(runs.values())).frame_time
    windows = config.resolve({run: r.frames for run, r in runs.items()}, frame_time)
    if prefix is not None:
        check_prefix(prefix, [w.last - w.first for w in windows if w.split == "test"])
    cuts = []
    for window in windows:
        if window.run not in runs:
            raise PdsimError(f"no file of run {window.run} among the raw runs {sorted(runs)}")
        run = runs[window.run]
        check_within(window, run.frames, run.source)
        cuts.append(
            cut(
                run,
                window.first,
                window.last,
                system,
                config.smoothing.build(),
                derive_velocities=config.derives_velocities,
                measured_states=config.measured_states,
                fitted=config.fitted_states,
                segment=window.name,
                sight=_sight(window, windows, run.frames),
            )
        )
    splits = [window.split for window in windows]
    _check_copies(cuts, splits)
    _check_moving([c for c, split in zip(cuts, splits, strict=True) if split == "train"], system)
    data = trajectory_set(
        system,
        cuts,
        splits,
        {
            "recording_source": config.source,
            "system": system.name,
            "recording": json.dumps(config.model_dump(mode="json"), sort_keys=True),
        },
    )
    population = source.population(config) if hasattr(source, "population") else None
    if population is not None:
        names, covariance = list(population.parameters), np.array(population.covariance)
        data = data.assign(
            population_mean=("parameter", np.array(population.mean)),
            population_covariance=(("parameter", "other_parameter"), covariance),
        ).assign_coords(parameter=names, other_parameter=names)
    write_dataset(output, data)


def _sight(window: Window, windows: Sequence[Window], frames: int) -> tuple[int, int]:
    """Frames around a window up to the next window of the other split."""
    others = [w for w in windows if w.run == window.run and w.split != window.split]
    before = [w.last for w in others if w.last <= window.first]
    after = [w.first for w in others if w.first >= window.last]
    return max(before, default=0), min(after, default=frames)


def _check_moving(learned: Sequence[Recording], system: System) -> None:
    """Refuse a sensor that shows one number in all that is learned from, and tell of one window.

    A sensor that works shows noise, or at least another last digit, when what it is on moves.
    """
    for i, channel in enumerate(system.channels):
        if channel.kind not in POSITIONS:
            continue
        shown = [one.observed[np.isfinite(one.observed[:, i]), i] for one in learned]
        seen = [(one, values) for one, values in zip(learned, shown, strict=True) if len(values)]
        still = [(one, values[0]) for one, values in seen if np.ptp(values) == 0]
        if not still:
            continue
        one, value = still[0]
        told = (
            f"{one.source}: channel {channel.name} is {value:.6g} {channel.unit} in every frame "
            f"{one.first_frame}:{one.first_frame + one.frames} of run {one.run}"
        )
        if len(still) == len(seen):
            raise PdsimError(
                f"{told}, and never changes in what is learned from: its sensor does not work, "
                "another column is meant (recording.channels), or the joint is locked; choose "
                "other windows, or a model without this joint"
            )
        log.warning("%s: nothing is learned of it there", told)


def _check_copies(cuts: Sequence[Recording], splits: Sequence[str]) -> None:
    """Refuse held-out windows that are copies of training ones under another run's name."""
    seen = [recording for recording, split in zip(cuts, splits, strict=True) if split == "train"]
    for recording, split in zip(cuts, splits, strict=True):
        for twin in seen if split == "test" else ():
            first = max(recording.first_frame, twin.first_frame)
            last = min(r.first_frame + r.frames for r in (recording, twin))
            if recording.sha256 == twin.sha256 and recording.run != twin.run and first < last:
                raise PdsimError(
                    f"{recording.source}: this held-out file is a copy of the training file "
                    f"{twin.source} (SHA-256 {recording.sha256[:12]}…); held out means not seen"
                )
