"""The arm that shakes a box: where the truth lies in what was found.

    python benchmarks/panda_box_found.py   # after snakemake panda; seconds

A swing under gravity knows the box's inertias, its friction and its moment m L about the universal
joint only over one another, so numbers over m L stand beside the single ones. Reads
``results/panda_box_*/<run>/seed0/posterior.nc`` of every run that is there and writes
``panda_box_found.csv``, ``panda_box_runs.csv``, ``panda_box_weights.csv`` and
``panda_box_joint.csv`` into ``results/benchmarks``, which were copied to ``docs/results``.
"""

from pathlib import Path

import numpy as np
from fits import write

RUN = "csvgd_multiple"
MASS = 0.92
# The lid is this far below the universal joint; the stand-in's is beside it by the others [m].
BELOW, ASIDE = 0.04, (0.0012, -0.0016)
# Dry friction of the stand-in's universal joint [N m], and its lid's place [m].
OF_THE_MODEL = {
    "joint/u1/friction": 0.0005,
    "joint/u2/friction": 0.0005,
    "body/lid/pos/x": ASIDE[0],
    "body/lid/pos/y": ASIDE[1],
}
LEVELS = (2.5, 50.0, 97.5)


def combinations(numbers):
    """Numbers about the universal joint over m L, of the single ones."""
    length = numbers["com_z"] + BELOW
    moment = MASS * length
    lean = {axis: numbers[f"com_{axis}"] for axis in "xy"}
    return {
        "length about x [m]": (numbers["Ixx"] + moment * length) / moment,
        "length about y [m]": (numbers["Iyy"] + moment * length) / moment,
        "Izz / m L [m]": numbers["Izz"] / moment,
        "Ixy / m L [m]": numbers["Ixy"] / moment,
        "(Ixz − m L com_x) / m L [m]": numbers["Ixz"] / moment - lean["x"],
        "(Iyz − m L com_y) / m L [m]": numbers["Iyz"] / moment - lean["y"],
        "com_x / L [-]": lean["x"] / length,
        "com_y / L [-]": lean["y"] / length,
        "friction_1 / m L [m/s]": numbers["friction_1"] / moment,
        "friction_2 / m L [m/s]": numbers["friction_2"] / moment,
    }


def truth_of(experiment):
    """What the stand-in has of each sought number, the lid's place taken over by the centre.

    Of what the recording's file does not state, the stand-in's model; of the joints' zeros there is
    no truth.
    """
    recording = experiment.recording.model_dump()["parameters"] | OF_THE_MODEL
    sought = experiment.simulator.parameters
    found = {
        name: recording[parameter.sets[0]]
        for name, parameter in sought.items()
        if parameter.sets[0] in recording
    }
    if "com_x" in found:
        found["com_x"] += ASIDE[0]
        found["com_y"] += ASIDE[1]
    return found


def runs_of(name):
    """Names of the runs whose posterior is there."""
    return [
        file.parents[1].name for file in sorted(Path("results", name).glob("*/seed0/posterior.nc"))
    ]


def draws_of(name, run, group="posterior"):
    """Draws of each parameter, (draw,)."""
    from pdsim.runtime.files import read_dataset

    data = read_dataset(f"results/{name}/{run}/seed0/posterior.nc", group)
    return {key: np.asarray(value).ravel() for key, value in data.data_vars.items()}


def box(experiment):
    """Truth, quantiles, the truth's rank among draws and their width over the prior's."""
    name = "panda_box_empty"
    truth, draws, prior = truth_of(experiment), draws_of(name, RUN), draws_of(name, RUN, "prior")
    rows = {}
    for of in (dict, combinations):
        for key, true in of(truth).items():
            rows[key] = row_of(true, of(draws)[key], of(prior)[key])
    return rows


def row_of(true, found, before):
    """One row of the box: a number's truth, its draws and those of the prior."""
    low, middle, high = np.percentile(found, LEVELS)
    return {
        "truth": true,
        "low": low,
        "median": middle,
        "high": high,
        "rank": np.mean(found < true),
        "width": found.std() / before.std(),
    }


def runs(experiment):
    """Of each run on the empty box: work, how likely its draws are, and where on the ridge."""
    from pdsim.runtime.files import read_dataset

    del experiment
    name, rows = "panda_box_empty", {}
    for run in runs_of(name):
        if run.startswith("bayessim"):  # which evaluates nothing
            continue
        file = f"results/{name}/{run}/seed0/posterior.nc"
        history, mixed = (read_dataset(file, group) for group in ("history", "convergence"))
        likelihood = draws_of(name, run, "sample_stats")["log_likelihood"]
        draws = draws_of(name, run)
        length = combinations(draws)["length about x [m]"]
        rows[run] = {
            "evaluations": int(history["evaluations"].sum()),
            "seconds": float(history["seconds"][-1]),
            "best": likelihood.max(),
            "median": np.median(likelihood),
            "r_hat": float(mixed["r_hat"].max()) if "r_hat" in mixed else np.nan,
            "com_z low": np.percentile(draws["com_z"], LEVELS[0]),
            "com_z high": np.percentile(draws["com_z"], LEVELS[2]),
            "length low": np.percentile(length, LEVELS[0]),
            "length high": np.percentile(length, LEVELS[2]),
        }
    return below_the_best(rows, "median")


def below_the_best(rows, *others):
    """With log likelihoods counted from the best draw of all rows."""
    highest = max(row["best"] for row in rows.values())
    for row in rows.values():
        row |= {key: row[key] - highest for key in ("best", *others)}
    return rows


def weights(experiment):
    """Of each run: draws of either labeling, and how far the nearer one is from the truth [mm].

    And how likely the draws are, below the best of their experiment.
    """
    truth = truth_of(experiment)
    names, truth = list(truth), np.array([*truth.values()])
    rows = {}
    # Where the lid's place is sought the box is aside with it, and the weights in it.
    aside = {"panda_box_weights": 0.0, "panda_box_weights_joint": np.tile(ASIDE, 2)}
    for of, moved in aside.items():
        ours = {f"{of}, {run}": places(of, run, names, truth + moved) for run in runs_of(of)}
        rows |= below_the_best(ours, "likely") if ours else {}
    return rows


def places(of, run, names, truth):
    """One row of the weights."""
    found, statistics = (draws_of(of, run, group) for group in ("posterior", "sample_stats"))
    draws = np.stack([found[name] for name in names], axis=1)
    away = [np.linalg.norm(draws - one, axis=1) for one in (truth, truth[[2, 3, 0, 1]])]
    first = away[0] < away[1]
    nearest = 1e3 * np.minimum(*away)
    return {
        "draws": len(draws),
        "best": np.nanmax(statistics["log_likelihood"]),
        "likely": np.nanmedian(statistics["log_likelihood"]),
        "first": int(first.sum()),
        "second": int((~first).sum()),
        "nearest": nearest.min(),
        "median": np.median(nearest),
        "farthest": nearest.max(),
    }


def joint(experiment):
    """The weights of panda_box_weights_joint, all draws with the truth's labeling."""
    truth = truth_of(experiment)
    draws, prior = (
        as_the_truth(draws_of("panda_box_weights_joint", RUN, group), truth)
        for group in ("posterior", "prior")
    )
    moved = dict(zip(truth, np.tile(ASIDE, 2), strict=True))
    return {name: row_of(truth[name] + moved[name], draws[name], prior[name]) for name in truth}


def as_the_truth(draws, truth):
    """Draws of the weights' four coordinates, in that labeling that is nearer to the truth."""
    found, at = np.stack([draws[name] for name in truth]), np.array([*truth.values()])
    away = [np.linalg.norm(one - at[:, None], axis=0) for one in (found, found[[2, 3, 0, 1]])]
    found = np.where(away[0] < away[1], found, found[[2, 3, 0, 1]])
    return dict(zip(truth, found, strict=True))


def main():
    """Make all tables."""
    from pdsim.experiment.load import load_experiment

    for table, name, rows in (
        ("panda_box_found", "panda_box_empty", box),
        ("panda_box_runs", "panda_box_empty", runs),
        ("panda_box_weights", "panda_box_weights", weights),
        ("panda_box_joint", "panda_box_weights", joint),
    ):
        write(table, rows(load_experiment(f"config/experiments/{name}.yaml")))


if __name__ == "__main__":
    main()
