"""The arm that shakes a box: where the truth lies in what `trusted_box` and its weights find.

    python benchmarks/trusted_box.py   # minutes: the weights are fitted here

Reads the posterior of `trusted_box` by ``least_squares`` that ``make panda`` writes. The weights
are fitted with it as their prior, from where it ended, noise included, and places that are not the
truth: from the middle of the limits the fit does not arrive.
Writes ``trusted_box_found.csv`` and ``trusted_box_weights.csv`` into ``results/benchmarks``, which
were copied to ``docs/results``. A Gaussian has one labeling of the weights: that of its start, in
which the first has the larger x, as in the stand-in.
"""

from pathlib import Path

import numpy as np
from fits import load, write
from panda_box_found import ASIDE, combinations, draws_of, row_of, truth_of

RUN = "least_squares_marginal"
EMPTY, FULL = "trusted_box", "trusted_box_weights"
FITTED = f"results/benchmarks/{FULL}.nc"
# Where the weights begin [m].
PLACES = {"weight1_x": 0.05, "weight1_y": 0.02, "weight2_x": -0.05, "weight2_y": -0.02}


def fit_weights():
    """Write the posterior of the weights."""
    from pdsim.config.next_prior import with_next_prior
    from pdsim.config.slices import slice_of
    from pdsim.stages.infer import infer

    earlier = f"results/{EMPTY}/{RUN}/seed0/posterior.nc"
    experiment, trajectories = load(FULL)
    experiment = with_next_prior(experiment, earlier)
    before = draws_of(EMPTY, RUN) | draws_of(EMPTY, RUN, "noise")
    start = {name: float(np.median(values)) for name, values in before.items()} | PLACES
    run = experiment.run(RUN)
    run = run.model_copy(update={"settings": run.settings | {"start": start}})
    others = [one for one in experiment.runs if one.identity != run.identity]
    changed = experiment.model_copy(update={"runs": [run, *others]})
    Path(FITTED).parent.mkdir(parents=True, exist_ok=True)
    infer(
        slice_of("infer", changed, run=RUN, budget="paper"),
        identity=run.identity,
        seed=0,
        trajectories=trajectories,
        output=FITTED,
    )


def rows_of(name, draws, prior):
    """Truth and draws of all that has a truth, and of numbers over m L.

    The weights lie in a box that is aside, with its lid.
    """
    truth = truth_of(load(name)[0])
    for key in truth:
        if key.startswith("weight"):
            truth[key] += ASIDE["xy".index(key[-1])]
    rows = {}
    for of in (dict, combinations):
        for key, true in of(truth).items():
            rows[key] = row_of(true, of(draws)[key], of(prior)[key])
    return rows


def main():
    """Write both tables."""
    from pdsim.runtime.files import read_dataset

    write(f"{EMPTY}_found", rows_of(EMPTY, draws_of(EMPTY, RUN), draws_of(EMPTY, RUN, "prior")))
    fit_weights()
    posterior, prior = (
        {key: np.asarray(x).ravel() for key, x in read_dataset(FITTED, group).data_vars.items()}
        for group in ("posterior", "prior")
    )
    write(FULL, rows_of(FULL, posterior, prior))


if __name__ == "__main__":
    main()
