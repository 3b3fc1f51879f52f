"""Coverage over the choice of recordings of training: each choice in turn, all others held out.

    python benchmarks/training_recordings.py   # two hours of one core; goes on where it was cut off

All held-out recordings of one fit are predicted with the same posterior of the parameters, so their
errors depend on one another: whether 0.9 of them are covered is one trial, not twenty. Here the
trial is repeated with other recordings of the same motion, one or three of them at once. Reads
``results/<experiment>/trajectories.nc`` and writes ``results/benchmarks/training_recordings.csv``,
which was copied to ``docs/results``, and every trial to ``training_recordings_all.csv`` beside it.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from fits import fit, load, write

SETTINGS = {"slow": "trusted_calibrated", "fast": "trusted_chaotic"}
RUNS = {"csvgd": "csvgd_marginal", "least_squares": "least_squares_marginal"}
# Recordings of training of each trial, by how many there are.
TRIALS = {1: [(0,), (1,), (2,), (3,), (4,), (5,)], 3: [(0, 1, 2), (3, 4, 5)]}
COVERAGE = (
    "prefix_coverage_90",
    "prefix_coverage_90_first",
    "prefix_coverage_90_second",
    "prefix_coverage_90_third",
)
SCORES = (*COVERAGE, "prefix_coverage_50", "prefix_rmse_median", "prefix_crps", "pareto_k")


def trial(name, run, trained):
    """Scores of a fit to some of the experiment's recordings, the others held out."""
    import numpy as np

    from pdsim.runtime.files import read_dataset, write_dataset

    experiment, path = load(name)
    data = read_dataset(path)
    used = np.isin(np.arange(data.sizes["trajectory"]), trained)
    data = data.assign_coords(split=("trajectory", np.where(used, "train", "test")))
    with TemporaryDirectory() as folder:
        changed = str(Path(folder) / "trajectories.nc")
        write_dataset(changed, data)
        scores = fit(name, experiment, changed, run)
    return {key: scores.get(key, float("nan")) for key in SCORES}


def finished():
    """Trials of an earlier call that was cut off, label → scores."""
    import pandas as pd

    path = Path("results/benchmarks/training_recordings_all.csv")
    return pd.read_csv(path, index_col="run").to_dict("index") if path.exists() else {}


def summary(trials):
    """Means over trials, with a standard error: trials share held-out recordings, so a guide."""
    import pandas as pd

    found = pd.DataFrame(trials)
    coverage = found["prefix_coverage_90"]
    return found[list(COVERAGE)].mean().to_dict() | {
        "trials": len(found),
        "error": coverage.std() / len(found) ** 0.5,
        "lowest": coverage.min(),
        "highest": coverage.max(),
        "prefix_rmse_median": found["prefix_rmse_median"].median(),
        "prefix_crps": found["prefix_crps"].median(),
    }


def main():
    """Make both tables."""
    from pdsim.runtime import device

    device.configure()
    every, rows = finished(), {}
    for count, choices in TRIALS.items():
        for method, run in RUNS.items():
            for motion, name in SETTINGS.items():
                trials = []
                for trained in choices:
                    shown = " ".join(map(str, trained))
                    label = f"{motion}, {method}, trained on {shown}"
                    if label not in every:
                        every[label] = trial(name, run, trained)
                        write("training_recordings_all", every)
                    trials.append(every[label])
                rows[f"{motion}, {method}, {count} of training"] = summary(trials)
                write("training_recordings", rows)


if __name__ == "__main__":
    main()
