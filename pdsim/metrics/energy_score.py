"""Energy score of predicted trajectories (Gneiting and Raftery, 2007)."""

import numpy as np

from pdsim.metrics.distance import pair_distances
from pdsim.metrics.metric import Evidence, Metric
from pdsim.metrics.score import Score, finite_rows, undefined


def energy_score(observed: np.ndarray, simulated: np.ndarray) -> Score:
    """Mean over trajectories of E‖X − y‖ − ½ E‖X − X'‖, over √dimension.

    X and X' are independent draws' roll-outs, y the recording, each one long vector. Proper: the
    expectation is smallest when the roll-outs have the distribution of the recordings. For a
    single draw it is the root-mean-square error in scaled units.

    Args:
        observed: (trajectory, time, channel), scaled channels.
        simulated: (trajectory, draw, time, channel), scaled, from matched start states.
    """
    scores = []
    for y, draws in zip(observed, simulated, strict=True):
        seen = np.isfinite(y.ravel())
        x = finite_rows(draws.reshape(len(draws), -1)[:, seen])
        if len(x) == 0:
            return undefined("no draw has a finite roll-out for some trajectory")
        miss = np.linalg.norm(x - y.ravel()[seen], axis=1).mean()
        # Of n² ordered pairs; those of a draw with itself are 0.
        spread = pair_distances(x).mean()
        scores.append((miss - 0.5 * spread) / np.sqrt(seen.sum()))
    return Score(float(np.mean(scores)))


def _held_out(evidence: Evidence) -> Score:
    test, spread = evidence.test, evidence.spread
    return energy_score(evidence.observed[test] / spread, evidence.simulated[test] / spread)


METRICS = (Metric("energy_score", "energy score [-]", _held_out, "low", held_out=True),)
