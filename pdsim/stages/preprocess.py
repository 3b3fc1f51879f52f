"""Stage ``preprocess``: raw runs to one trajectories file."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import sha256, write_dataset
from pdsim.recordings import ibm
from pdsim.recordings.config import RecordingConfig
from pdsim.recordings.markers import joint_angles, read_pixels
from pdsim.recordings.smoothing import Smoothing, cut
from pdsim.systems import load_system
from pdsim.trajectories import trajectory_set


def preprocess(
    recording: RecordingConfig, system_name: str, raw: Sequence[str], output: str
) -> None:
    """Cut windows out of the raw runs, differentiate and smooth them.

    Args:
        raw: one ``<run>.csv`` for each run the windows name, or a folder that holds them.
    """
    paths = [p for path in raw for p in (sorted(Path(path).glob("*.csv")) or [Path(path)])]
    files = {int(path.stem): path for path in paths if path.stem.isdigit()}
    frame_time = 1 / recording.rate_hz
    smoothing = Smoothing(recording.smoothing.frames, recording.smoothing.order)
    angles, digests = {}, {}
    for run, path in files.items():
        check = ibm.check(path, run) if recording.source == "ibm" else sha256(path)
        angles[run], digests[run] = joint_angles(read_pixels(path)), check
    splits = [(w, split) for split in ("train", "test") for w in recording.windows(split)]
    observed, smoothed = [], []
    for window, _ in splits:
        if window.run not in angles:
            raise PdsimError(f"no file {window.run}.csv among the raw runs {sorted(files)}")
        first, last = window.frames
        if last > len(angles[window.run]):
            raise PdsimError(
                f"{files[window.run]}: has {len(angles[window.run])} frames, "
                f"but the experiment asks for {first}:{last}"
            )
        pair = cut(angles[window.run], first, last, frame_time, smoothing)
        observed.append(pair[0])
        smoothed.append(pair[1])
    data = trajectory_set(
        load_system(system_name),
        np.stack(observed),
        np.stack(smoothed),
        frame_time=frame_time,
        split=[split for _, split in splits],
        source={
            "run": [w.run for w, _ in splits],
            "first_frame": [w.frames[0] for w, _ in splits],
            "sha256": [digests[w.run] for w, _ in splits],
        },
        attributes={
            "source": recording.source,
            "system": system_name,
            "recording": json.dumps(recording.model_dump(mode="json"), sort_keys=True),
        },
    )
    write_dataset(output, data)
