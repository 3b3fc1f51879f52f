"""Stage ``learning_curve``: a posterior's metrics as they were after more and more roll-outs."""

import numpy as np

from pdsim import registry
from pdsim.experiment.slices import Evaluate
from pdsim.inference.identity import Identity
from pdsim.likelihood.noise import channel_noise
from pdsim.metrics.catalogue import scores
from pdsim.metrics.long_format import LEARNING_CURVE_COLUMNS, score_rows, write_rows
from pdsim.metrics.metric import Evidence
from pdsim.posterior import read_posterior
from pdsim.recordings.trajectories import inputs_of, is_test, load_trajectories
from pdsim.runtime import device
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import read_dataset
from pdsim.systems.ensemble import roll_out
from pdsim.systems.simulator import build_simulator

# Snapshots that are scored, at most; evenly spread over the logarithm of the roll-outs.
_POINTS = 12


def chosen_snapshots(rollouts: np.ndarray) -> np.ndarray:
    """Pick snapshots evenly over the logarithm of the roll-outs used, first and last included."""
    wanted = np.geomspace(rollouts[0], rollouts[-1], _POINTS)
    return np.unique([np.abs(np.log(rollouts / w)).argmin() for w in wanted])


def learning_curve(
    options: Evaluate,
    *,
    experiment: str,
    identity: Identity,
    seed: int,
    trajectories: str,
    posterior: str,
    output: str,
    force: bool = False,
) -> None:
    """Write the held-out metrics of some snapshots in long format.

    Args:
        experiment: its name, a column of the table.
        force: as in ``pdsim.posterior.read_posterior``.
    """
    device.configure(options.precision)
    simulator = build_simulator(options.simulator)
    space = simulator.space
    whole = load_trajectories(trajectories, simulator.system)
    read_posterior(posterior, force=force)
    snapshots = read_dataset(posterior, "course")
    missing = [name for name in space.names if name not in snapshots]
    if missing:
        raise PdsimError(f"{posterior}: course: has no {missing[0]}, which the experiment seeks")
    draws = np.stack([snapshots[name].values for name in space.names], axis=-1)
    used, seconds = snapshots["rollouts"].values, snapshots["seconds"].values
    test = is_test(whole)
    if not test.any():
        raise PdsimError(f"{trajectories}: no recording is held out: there is no learning curve")
    noise = channel_noise(options.likelihood, whole)
    shape = (whole.sizes["time"] - 1, whole.sizes["channel"])
    rows = []
    for i in chosen_snapshots(used):
        known = draws[i][np.isfinite(draws[i]).all(axis=1)]
        simulated = np.full((len(test), len(known), *shape), np.nan)
        simulated[test] = roll_out(
            simulator,
            known,
            whole["start"].values[test],
            inputs_of(whole)[test],
            frame_time=whole.attrs["frame_time"],
            precision=options.precision,
        )
        evidence = Evidence(whole, space, known, simulated, noise)
        found = scores(evidence, registry.LEARNING_CURVE_METRICS)
        start = [experiment, *identity, seed, int(used[i]), float(seconds[i])]
        rows += [[*start, *row] for row in score_rows(found)]
    write_rows(output, LEARNING_CURVE_COLUMNS, rows)
