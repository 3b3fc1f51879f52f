"""Work and memory that an experiment asks for, before any of it is spent."""

from pdsim.experiment.model import ExperimentConfig
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.memory import physical_memory

# Settings that say how many points an iteration evaluates at least.
_COUNTS = ("chain_count", "start_count")
# Bytes of a number in arithmetic, and of its copy for the file.
_NUMBER, _WRITTEN = {"float64": 8, "float32": 4}, 4


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


def rollout_bytes(experiment: ExperimentConfig, particle_count: int) -> int:
    """Memory of the roll-outs of every draw from every recording [bytes].

    ``pdsim simulate`` holds them and the copy it writes; what it needs beyond them does not grow
    with draws (``pdsim.systems.ensemble``). 0 where the lengths of the recordings are not known
    before they are read.
    """
    windows = experiment.recording.resolve(None, 1.0)
    if not windows:
        return 0
    longest = max(window.last - window.first for window in windows)
    channels = len(experiment.system().channels)
    number = _NUMBER[experiment.precision] + _WRITTEN
    return particle_count * len(windows) * longest * channels * number


def check_memory(experiment: ExperimentConfig, budget: str = "") -> None:
    """Refuse budgets whose roll-outs this machine's memory cannot hold.

    Args:
        budget: that alone; empty: all of them.

    Raises:
        PdsimError: names the key from the top of the file.
    """
    memory = physical_memory()
    for name, work in experiment.budgets.items():
        needed = rollout_bytes(experiment, work.particle_count)
        if memory is not None and needed > memory and budget in ("", name):
            fitting = int(work.particle_count * memory / needed)
            raise PdsimError(
                f"budgets.{name}.particle_count: the roll-outs of {work.particle_count:,} draws "
                f"take {_gigabytes(needed)} or more, and this machine has {_gigabytes(memory)}; "
                f"use less than {fitting:,}, or fewer or shorter windows in recording"
            )


def _gigabytes(size: float) -> str:
    return f"{size / 2**30:,.3g} GB" if size < 1e3 * 2**30 else f"{size / 2**30:,.0f} GB"
