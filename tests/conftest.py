"""Shared fixtures. Every test runs in float64; XLA programs are cached across runs."""

import fcntl
import os
import shutil
from pathlib import Path

from compilation import FLAGS

# Programs of tests run once and briefly: most of the time goes by while they are compiled. `make
# slow` compiles them as users do. JAX reads this when it is imported.
os.environ.setdefault("XLA_FLAGS", FLAGS)

# On its first import of a day it leaves a stamp, for which two processes of tests must not compete:
# the one that starts them comes first.
import arviz  # noqa: F401
import jax
import numpy as np
import pytest

from pdsim.recordings.recording import Recording
from pdsim.recordings.trajectories import trajectory_set
from pdsim.runtime import device

ROOT = Path(__file__).parents[1]
_MOST_MAPS = 20_000
device.configure("float64")


# Long ones that do not wait for the project that the first of the tests of the workflow makes, and
# of which others in their folder share what they make.
_SECOND = ("test_stages.py", "test_kills.py")


@pytest.hookimpl(trylast=True)  # after those of the other tier have been left out
def pytest_collection_modifyitems(items):
    """Run the longest tests first, so that of two processes none waits for the other."""
    first = next((item.path for item in items if item.path.parent.name == "workflow"), None)
    items.sort(
        key=lambda item: (
            item.path != first,
            item.path.name not in _SECOND,
            item.path.parent.name != "workflow",
        )
    )


@pytest.fixture(autouse=True, scope="module")
def _few_programs():
    """Forget compiled programs before a process has more of them than memory maps.

    Linux gives a process 65,530 maps by default, a program of XLA takes several, and one that gets
    none ends in a segmentation fault.
    """
    yield
    maps = Path("/proc/self/maps")
    if maps.exists() and len(maps.read_text().splitlines()) > _MOST_MAPS:
        jax.clear_caches()


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def made_once(tmp_path_factory, worker_id):
    """Function: the folder that ``make(folder)`` filled, in whichever process came first."""

    def folder(name, make) -> Path:
        if worker_id == "master":
            alone = tmp_path_factory.mktemp(name)
            make(alone)
            return alone
        shared = tmp_path_factory.getbasetemp().parent / name
        with shared.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            done = shared.with_suffix(".made")
            if not done.exists():
                for place in shared.parent.glob(f"{name}*"):
                    if place.is_dir():
                        shutil.rmtree(place)
                shared.mkdir()
                make(shared)
                done.touch()
        return shared

    return folder


@pytest.fixture(scope="session")
def ibm_dir() -> Path:
    """Folder of the real recordings; the tests that need them are skipped without."""
    for folder in (
        os.environ.get("PDSIM_IBM_DIR"),
        ROOT.parent / "shared/data/ibm_double_pendulum",
    ):
        if folder and (Path(folder) / "0.csv").is_file():
            return Path(folder)
    pytest.skip("the IBM recordings are not at hand; set PDSIM_IBM_DIR")


@pytest.fixture(scope="session")
def robots_dir() -> Path:
    """Folder of real robots' recordings; the tests that need them are skipped without."""
    for folder in (os.environ.get("PDSIM_DATA_DIR"), ROOT.parent / "shared/data"):
        if folder and (Path(folder) / "dfki_pendubot").is_dir():
            return Path(folder)
    pytest.skip("the recordings of real robots are not at hand; set PDSIM_DATA_DIR")


@pytest.fixture(scope="session")
def trajectories_of():
    """Function that makes the dataset of a trajectories file of arrays."""

    def build(system, observed, states, frame_time, *, inputs=None, splits=None, truth=()):
        """Assemble one recording for each member of the sequences; their lengths may differ.

        Args:
            observed: (frame, channel) of each.
            states: (frame, state) of each; the first is the start, which is known exactly.
            inputs: (frame, input) of each, if the system has some.
            splits: "train" or "test" of each; default: all "train".
            truth: (name, value) pairs of all recordings.
        """
        size = len(system.state)
        if inputs is None:
            inputs = [np.zeros((len(values), len(system.inputs))) for values in observed]
        recordings = [
            Recording(
                run=str(number),
                frame_time=frame_time,
                observed=np.asarray(seen, float),
                input=np.asarray(drive, float),
                states=np.asarray(state, float),
                start=np.asarray(state[0], float),
                start_covariance=np.zeros((size, size)),
                truth=dict(truth),
            )
            for number, (seen, state, drive) in enumerate(
                zip(observed, states, inputs, strict=True)
            )
        ]
        splits = ["train"] * len(recordings) if splits is None else splits
        return trajectory_set(system, recordings, splits, {})

    return build
