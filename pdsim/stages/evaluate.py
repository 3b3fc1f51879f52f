"""Stage ``evaluate``: every metric of one posterior, in long format."""

from pathlib import Path

import numpy as np

from pdsim.config.slices import Evaluate
from pdsim.identity import Identity
from pdsim.likelihood.noise import channel_noise
from pdsim.metrics.catalogue import scores
from pdsim.metrics.long_format import COLUMNS, score_rows, write_rows
from pdsim.metrics.metric import Evidence
from pdsim.posterior import read_draws
from pdsim.runtime import device
from pdsim.runtime.files import read_dataset
from pdsim.systems.simulator import build_simulator
from pdsim.trajectories import load_trajectories


def evaluate(
    options: Evaluate,
    *,
    experiment: str,
    identity: Identity,
    seed: int,
    trajectories: str,
    posterior: str,
    rollouts: str,
    output: str,
    reference: str | None = None,
    prediction: str | None = None,
) -> None:
    """Write one posterior's metrics.

    Args:
        experiment: its name, a column of the table.
        reference: posterior file to compare the draws with, if any. To itself a posterior has no
            distance, and no metric of one.
        prediction: file of stage ``predict``, where recordings are predicted from a prefix.
    """
    device.configure(options.precision)
    if reference is not None and Path(reference).resolve() == Path(posterior).resolve():
        reference = None
    system, space, _ = build_simulator(options.simulator)
    data, rolled = load_trajectories(trajectories, system), read_dataset(rollouts)
    evidence = Evidence(
        data,
        space,
        read_draws(posterior, space),
        rolled["simulated"].values.astype(np.float64),
        channel_noise(options.likelihood, data),
        reference=None if reference is None else read_draws(reference, space),
        fitted=rolled["fitted"].values.astype(np.float64),
        stats=read_dataset(posterior, "sample_stats"),
        history=read_dataset(posterior, "history"),
        convergence=read_dataset(posterior, "convergence"),
        prediction=None if prediction is None else read_dataset(prediction),
    )
    rows = [[experiment, *identity, seed, *row] for row in score_rows(scores(evidence))]
    write_rows(output, COLUMNS, rows)
