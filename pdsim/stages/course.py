"""Stage ``course``: the metrics of one posterior as they were after more and more roll-outs."""

from typing import Any

import numpy as np

from pdsim.runtime import device
from pdsim.runtime.files import read_dataset
from pdsim.metrics.long_format import COLUMNS, COURSE_COLUMNS, score_rows, write_rows
from pdsim.systems.simulator import build_simulator
from pdsim.systems.config import SimulatorConfig
from pdsim.stages.evaluate import parameter_scores, scales, trajectory_scores, true_population
from pdsim.stages.simulate import roll_out

# Snapshots that are scored, at most; evenly spread over the logarithm of the roll-outs.
_POINTS = 12


def chosen_snapshots(rollouts: np.ndarray) -> np.ndarray:
    """Pick snapshots evenly over the logarithm of the roll-outs used, first and last included."""
    wanted = np.geomspace(rollouts[0], rollouts[-1], _POINTS)
    return np.unique([np.abs(np.log(rollouts / w)).argmin() for w in wanted])


def course(
    options: dict[str, Any],
    *,
    identity: dict[str, Any],
    trajectories: str,
    posterior: str,
    output: str,
) -> None:
    """Write the metrics of some snapshots in long format.

    Args:
        options: ``simulator``, ``recording``, ``likelihood`` and ``precision`` of the config.
        identity: values of the columns experiment, method, shooting and seed.
    """
    device.configure(options["precision"])
    simulator = SimulatorConfig.model_validate(options["simulator"])
    system, space = build_simulator(simulator)
    data, snapshots = read_dataset(trajectories), read_dataset(posterior, "course")
    draws = np.stack([snapshots[name].values for name in space.names], axis=-1)
    used, seconds = snapshots["rollouts"].values, snapshots["seconds"].values
    test = data["split"].values == "test"
    observed = data["observed"].values[test, 1:]
    population = true_population(options)
    rows = []
    for i in chosen_snapshots(used):
        known = draws[i][np.isfinite(draws[i]).all(axis=1)]
        simulated = roll_out(
            system,
            space,
            known,
            data["smoothed"].values[test, 0],
            frames=observed.shape[1],
            frame_time=data.attrs["frame_time"],
            substeps=simulator.substeps,
            precision=options["precision"],
        )
        result = trajectory_scores(observed, simulated, **scales(options, data))
        if population is not None:
            result |= parameter_scores(known, space, population)
        start = [*(identity[column] for column in COLUMNS[:4]), int(used[i]), float(seconds[i])]
        rows += [[*start, *row] for row in score_rows(result)]
    write_rows(output, COURSE_COLUMNS, rows)
