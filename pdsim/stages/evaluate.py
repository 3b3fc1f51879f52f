"""Stage ``evaluate``: every metric of one posterior, in long format."""

from pathlib import Path

import numpy as np

from pdsim.experiment.slices import Evaluate
from pdsim.inference.identity import Identity
from pdsim.likelihood.noise import channel_noise
from pdsim.metrics.catalogue import scores
from pdsim.metrics.long_format import COLUMNS, score_rows, write_rows
from pdsim.metrics.metric import Evidence
from pdsim.posterior import read_draws, read_posterior
from pdsim.recordings.trajectories import load_trajectories
from pdsim.runtime import device
from pdsim.runtime.files import read_dataset
from pdsim.systems.simulator import build_simulator


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
    force: bool = False,
) -> None:
    """Write one posterior's metrics.

    Args:
        experiment: its name, a column of the table.
        reference: posterior file to compare the draws with, if any. To itself a posterior has no
            distance, and no metric of one.
        prediction: file of stage ``predict``, where recordings are predicted from a prefix.
        force: as in ``pdsim.posterior.read_posterior``.
    """
    device.configure(options.precision)
    if reference is not None and Path(reference).resolve() == Path(posterior).resolve():
        reference = None
    system, space, _ = build_simulator(options.simulator)
    data, rolled = load_trajectories(trajectories, system), read_dataset(rollouts)
    found = read_posterior(posterior, force=force)
    predicted = None if prediction is None else read_dataset(prediction)
    for path, made in ((rollouts, rolled), (prediction, predicted)):
        if path is not None and made is not None:
            found.check_made_from(path, made)
    evidence = Evidence(
        data,
        space,
        found.of(space),
        rolled["simulated"].values.astype(np.float64),
        channel_noise(options.likelihood, data),
        reference=None if reference is None else read_draws(reference, space),
        fitted=rolled["fitted"].values.astype(np.float64),
        stats=found.stats,
        history=read_dataset(posterior, "history"),
        convergence=read_dataset(posterior, "convergence"),
        prediction=predicted,
    )
    rows = [[experiment, *identity, seed, *row] for row in score_rows(scores(evidence))]
    write_rows(output, COLUMNS, rows)
