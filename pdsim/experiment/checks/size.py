"""Work and memory that an experiment asks for, before any of it is spent."""

from collections.abc import Iterator
from typing import NamedTuple

from pdsim.experiment.model import ExperimentConfig
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.memory import physical_memory

# Settings that say how many points an iteration evaluates at least.
_COUNTS = ("chain_count", "start_count", "fit_count")
# Bytes of a number in arithmetic, and of its copy for the file.
_NUMBER, _WRITTEN = {"float64": 8, "float32": 4}, 4

# Steps of one recording; those of all shipped experiments have less than a hundred thousand.
_MOST_STEPS = 100_000_000


def check_work(experiment: ExperimentConfig) -> None:
    """Refuse more chains or starts than the largest budget has evaluations.

    Raises:
        PdsimError: names the key from the top of the file.
    """
    work = {name: b.particle_count * b.iteration_count for name, b in experiment.budgets.items()}
    largest = max(work, key=lambda name: work[name])
    for i, run in enumerate(experiment.runs):
        settings = run.choice.settings
        for key in _COUNTS:
            count, most = settings.get(key), work[largest] * run.effort
            if isinstance(count, int) and count > most:
                raise PdsimError(
                    f"runs.{i}.settings.{key}: {count:,} is more than the largest budget "
                    f"({largest}: particle_count · iteration_count = {most:,} evaluations) pays "
                    f"for, and a first iteration evaluates each; lower {key}"
                )


def check_steps(experiment: ExperimentConfig) -> None:
    """Refuse more steps of one recording than anybody waits for.

    Raises:
        PdsimError: names the key from the top of the file.
    """
    recording = experiment.recording
    made = "steps" if hasattr(recording, "steps") else "substeps"
    camera = getattr(recording, "camera", None)
    frames = getattr(recording if camera is None else camera, "frame_count", 0)
    counts = {
        "simulator.substeps": (experiment.simulator.substeps, _longest(experiment)),
        f"recording.{made}": (getattr(recording, made, 1), frames),
    }
    for key, (steps, length) in counts.items():
        if steps * length > _MOST_STEPS:
            raise PdsimError(
                f"{key}: {steps:,} steps in each of {length:,} frames are {steps * length:,}, and "
                f"no job does more than {_MOST_STEPS:,}; lower {key}, or the number of frames"
            )


def _longest(experiment: ExperimentConfig, *splits: str) -> int:
    """Frames of the longest window; 0 where they are not known before the recordings are read."""
    windows = experiment.recording.resolve(None, 1.0)
    return max((w.last - w.first for w in windows if not splits or w.split in splits), default=0)


class Need(NamedTuple):
    """What a stage holds in memory at once, at least.

    Attributes:
        key: whose count decides.
        amount: its value.
        what: is counted.
        size: of all [bytes].
    """

    key: str
    amount: int
    what: str
    size: int


def needs(experiment: ExperimentConfig, budget: str = "") -> Iterator[Need]:
    """What the stages hold, as far as it is known before the recordings are read.

    Args:
        budget: that alone; empty: all of them.
    """
    recording, number = experiment.recording, _NUMBER[experiment.precision]
    channels = len(experiment.system().channels)
    windows = recording.resolve(None, 1.0)
    # `pdsim simulate` holds roll-outs and the copy that it writes; what it needs beyond them does
    # not grow with draws (`pdsim.systems.ensemble`).
    row = _longest(experiment) * channels * (number + _WRITTEN)
    for name, work in experiment.budgets.items():
        if budget in ("", name):
            key, count = f"budgets.{name}.particle_count", work.particle_count
            yield Need(key, count, "roll-outs of {} draws", count * len(windows) * row)
    if experiment.prediction is not None:
        count, test = experiment.prediction.samples, sum(w.split == "test" for w in windows)
        size = count * test * _longest(experiment, "test") * channels * (number + _WRITTEN)
        yield Need("prediction.samples", count, "predictions by {} samples", size)
    if experiment.bayessim is not None:
        one = _longest(experiment, "train") * channels * _WRITTEN
        for name, work in experiment.budgets.items():
            if budget in ("", name) and work.bayessim:
                whole = experiment.trained(name).training_set
                for key in ("count", "held_out_count"):
                    count = getattr(whole, key)
                    where = f"bayessim.training_set.{key}"
                    yield Need(where, count, "simulations of {} parameters", count * one)
    camera = getattr(recording, "camera", None)
    if hasattr(experiment.source, "make"):
        frames = getattr(recording if camera is None else camera, "frame_count", 0)
        key = "recording.frame_count" if camera is None else "recording.camera.frame_count"
        yield Need(key, frames, "recordings of {} frames", frames * channels * number)


def check_memory(experiment: ExperimentConfig, budget: str = "") -> None:
    """Refuse counts whose arrays this machine's memory cannot hold.

    Args:
        budget: that alone; empty: all of them.

    Raises:
        PdsimError: names the key from the top of the file.
    """
    memory = physical_memory()
    for need in needs(experiment, budget):
        if memory is not None and need.size > memory:
            what = need.what.format(f"{need.amount:,}")
            most = int(need.amount * memory / need.size)
            raise PdsimError(
                f"{need.key}: the {what} take {_gigabytes(need.size)} or more, and this machine "
                f"has {_gigabytes(memory)}; use less than {most:,}, or fewer or shorter windows in "
                "recording"
            )


def _gigabytes(size: float) -> str:
    return f"{size / 2**30:,.3g} GB" if size < 1e3 * 2**30 else f"{size / 2**30:,.0f} GB"
