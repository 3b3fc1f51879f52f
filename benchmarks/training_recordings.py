"""Coverage over the choice of the recordings of training: one, three or six, all others held out.

    python benchmarks/training_recordings.py            # some hours; goes on where it was cut
    python benchmarks/training_recordings.py pendubot   # the rows that begin so

All held-out recordings of one fit are predicted with the same posterior of the parameters, so their
errors depend on one another: whether 0.9 of them are covered is one trial, not twenty. Here the
trial is repeated on other recordings of the same motion with `csvgd` and `least_squares`, with one
recording of training and with several at once; `nuts` makes two of the trials with three. The
pendulum's markers are as they were read, its friction is viscous, there is no drag, and the spread
of process noise over recordings is the default: as in the experiments when the table was made
(``pendulum_model.py`` has what came after). The pendubot's recordings are seconds of four logs: the
first of each is trained on, and nothing of its log is held out. Reads the pendulum's raw
recordings, from the folder in ``PDSIM_IBM_DIR``, and ``results/trusted_pendubot/trajectories.nc``;
writes ``results/benchmarks/training_recordings.csv``, which was copied to ``docs/results``; every
trial is in ``training_recordings_all.csv`` beside it.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from fits import EXPERIMENT, finished, fit, load, read, viscous, write
from windows import SETTINGS

_PENDULUM = {
    "one": [(i,) for i in range(6)],
    "three": [(i, i + 1, i + 2) for i in (0, 3, 6, 9)],
    "six": [tuple(range(i, i + 6)) for i in (0, 6, 12)],
}
# Recordings of training of each trial, by how many there are.
SETS = {
    "slow": _PENDULUM,
    "fast": _PENDULUM,
    "pendubot": {
        "one": [(0,), (1,), (5,), (9,)],
        "three": [(0, 1, 5), (0, 1, 9), (0, 5, 9), (1, 5, 9)],
    },
}
COVERAGE = (
    "prefix_coverage_90",
    "prefix_coverage_90_first",
    "prefix_coverage_90_second",
    "prefix_coverage_90_third",
)
# Means of log q of the rates.
NOISE = ("log_process_dq0", "log_process_dq1")
SCORES = (
    *COVERAGE,
    "prefix_coverage_50",
    "prefix_rmse_median",
    "prefix_crps",
    "pareto_k",
    "r_hat",
    *NOISE,
)


def default_spread(experiment):
    """The experiment with the default spread of process noise over recordings."""
    prediction = type(experiment.prediction)(prefix=experiment.prediction.prefix)
    return experiment.model_copy(update={"prediction": prediction})


def setting(experiment):
    """The experiment as it was when the tables were made."""
    return default_spread(viscous(experiment))


def trial(name, method, trained, data=None, change=lambda experiment: experiment, shown=SCORES):
    """Scores of a fit to some of the experiment's recordings (or of others), the rest held out.

    Args:
        change: makes another experiment of it.
        shown: which of the scores of ``fits.fit``.
    """
    import numpy as np

    from pdsim.experiment.load import load_experiment
    from pdsim.runtime.files import read_dataset, write_dataset

    if data is None:
        data = read_dataset(load(name)[1])
    experiment = load_experiment(EXPERIMENT.format(name))
    split = np.where(np.isin(np.arange(data.sizes["trajectory"]), trained), "train", "test")
    data = data.assign_coords(split=("trajectory", split))
    logs = data["run"].values
    data = data.isel(trajectory=(split == "train") | ~np.isin(logs, logs[list(trained)]))
    with TemporaryDirectory() as folder:
        changed = str(Path(folder) / "trajectories.nc")
        write_dataset(changed, data)
        scores = fit(name, change(experiment), changed, f"{method}_marginal")
    return {key: scores.get(key, np.nan) for key in shown}


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
        "pareto_k": found["pareto_k"].max(),
        "r_hat": found["r_hat"].max(),
        **found[list(NOISE)].std().to_dict(),
    }


def groups():
    """Label of a row, experiment, method, and the recordings of training of each of its trials."""
    for motion, name in SETTINGS.items():
        for count, sets in SETS[motion].items():
            for method in ("least_squares", "csvgd"):
                yield f"{motion}, {count}, {method}", name, method, sets
            if count == "three" and motion != "pendubot":
                yield f"{motion}, {count}, nuts", name, "nuts", sets[:2]


def main():
    """Make both tables."""
    from pdsim.runtime import device

    device.configure()
    every, rows, begin = finished("training_recordings_all"), {}, "".join(sys.argv[1:])
    for row, name, method, sets in groups():
        if not row.startswith(begin):
            continue
        trials, data = [], None if row.startswith("pendubot") else read(name, offsets=False)
        for trained in sets:
            label = f"{row}, trained on {', '.join(map(str, trained))}"
            if label not in every:
                every[label] = trial(name, method, trained, data, setting)
                write("training_recordings_all", every)
            trials.append(every[label])
        rows[row] = summary(trials)
        write("training_recordings", rows)


if __name__ == "__main__":
    main()
