"""The recordings of an experiment that are at hand, for verbs that look at them first."""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pdsim.experiment.model import AnyExperiment, ExperimentConfig
from pdsim.experiment.slices import slice_of
from pdsim.runtime.errors import PdsimError


def raw_folder(experiment: ExperimentConfig) -> str:
    """Where its raw runs are, if nobody says: beside it, but for those that a variable names."""
    if experiment.recording.source == "ibm":
        from pdsim.recordings.ibm import local_folder

        return local_folder(None) or "data/ibm_double_pendulum"
    return str(experiment.folder)


def read_raw(experiment: ExperimentConfig, raw: str | None, output: str) -> None:
    """Cut the trajectories out of the raw runs.

    Args:
        raw: their folder; None: where they are expected.
        output: path of the trajectories file.

    Raises:
        PdsimError: a run of a source that makes its own was not made there.
    """
    from pdsim.stages.preprocess import preprocess

    files = experiment.source.files(experiment.recording, raw or raw_folder(experiment))
    missing = [path for path in files.values() if not Path(path).exists()]
    if missing and hasattr(experiment.source, "make"):
        raise PdsimError(
            f"{missing[0]}: no such file; make the runs with pdsim record, and name their folder "
            "as --raw"
        )
    prediction = experiment.prediction
    prefix = None if prediction is None else prediction.prefix
    preprocess(slice_of("preprocess", experiment), raw=files, output=output, prefix=prefix)


@contextmanager
def read_trajectories(
    experiment: ExperimentConfig, raw: str | None, path: str | None = None
) -> Iterator[str]:
    """The path of its trajectories file: one that is there, or one cut out of the raw runs."""
    with tempfile.TemporaryDirectory() as folder:
        if path is None:
            path = str(Path(folder, "trajectories.nc"))
            read_raw(experiment, raw, path)
        yield path


def check_data(path: str, experiment: AnyExperiment, raw: str | None) -> None:
    """Read an experiment's recordings and tell what they leave open, and what its step errs by.

    Args:
        path: of the experiment.
        raw: folder of its raw runs; None: where they are expected.

    Raises:
        PdsimError: a recording is broken, or the step errs by more than its sensors.
    """
    missing = _not_at_hand(experiment, raw)
    if missing or not isinstance(experiment, ExperimentConfig):
        sys.stdout.write(f"{path}: no recording to look at: {missing}\n")
        return
    from pdsim.stages.preflight import examine

    options = slice_of("preflight", experiment, budget=next(iter(experiment.budgets)))
    with read_trajectories(experiment, raw) as trajectories:
        found = examine(options, trajectories)
    for line in found.summary():
        sys.stdout.write(f"{path}: {line}\n")
    found.check(path)


def _not_at_hand(experiment: AnyExperiment, raw: str | None) -> str:
    """Why there is no recording; empty if there is one."""
    if not isinstance(experiment, ExperimentConfig):
        return "it is of kind control"
    if hasattr(experiment.source, "make") and raw is None:
        return "its recording is simulated; give the folder that pdsim record wrote as --raw"
    earlier = experiment.simulator.fixed_from
    if earlier is not None:
        return f"it takes numbers from {earlier.experiment}; see pdsim preflight --fixed-from"
    return ""
