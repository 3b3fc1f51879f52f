"""Stage ``preflight``: what the recordings can tell, and what the runs will cost."""

import time

from pdsim.preflight import findings
from pdsim.preflight.config import Preflight
from pdsim.preflight.cost import costs
from pdsim.preflight.findings import Findings, write_preflight
from pdsim.preflight.preflight import preflight as look
from pdsim.recordings.trajectories import load_trajectories, select, window_length
from pdsim.runtime import device
from pdsim.runtime.errors import PdsimError
from pdsim.systems.simulator import build_simulator


def examine(options: Preflight, trajectories: str) -> Findings:
    """Look at a model and its training recordings.

    Raises:
        PdsimError: there is nothing to compare, or nothing can be simulated.
    """
    device.configure(options.precision)
    simulator = build_simulator(options.simulator)
    train = select(load_trajectories(trajectories, simulator.system), "train")
    frames = int(train["length"].values.max())
    if all(run.shooting != "single" for run in options.planned):
        frames = window_length(frames, options.likelihood.window_count)
    return look(simulator, options.likelihood, train, frames)


def preflight(options: Preflight, trajectories: str) -> findings.Preflight:
    """Look at an experiment; a reason stands for what cannot be found."""
    device.configure(options.precision)
    system = build_simulator(options.simulator).system
    data = load_trajectories(trajectories, system)
    # A process does what each run's does first: it has started, and read.
    start = time.process_time()
    try:
        found, reason = examine(options, trajectories), ""
    except PdsimError as error:
        found, reason = None, str(error)
    return findings.Preflight(found, reason, costs(options, data, start))


def write(options: Preflight, *, trajectories: str, output: str) -> None:
    """Write what the report tells."""
    write_preflight(output, preflight(options, trajectories))
