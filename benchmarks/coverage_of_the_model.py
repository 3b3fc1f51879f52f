"""What coverage has a posterior that is right? The trials of real recordings, simulated.

    python benchmarks/coverage_of_the_model.py        # two hours; goes on where it was cut
    python benchmarks/coverage_of_the_model.py fast   # the rows that begin so

`csvgd` learns from as many recordings as the `trusted` experiment of the motion does and predicts
all others; a trial is one choice of them, and no two of a motion's trials have one in common. That
is done with the real recordings, and with ones that the model itself makes: one fit of all
recordings gives parameters and noise, and with these starts, process noise (its size another one
in each recording, as predictions take it to be) and sensor noise are drawn anew. Nothing is wrong
with the model there, so what coverage does then is what coverage does: how far it scatters from
one choice to the next, in the whole horizon and in its thirds. Reads
``results/<experiment>/trajectories.nc`` and writes
``results/benchmarks/coverage_of_the_model.csv``, which was copied to ``docs/results``. Every trial
is in ``coverage_of_the_model_all.csv`` beside it.
"""

import sys
from functools import cache

from fits import finished, load, write
from process_noise import fitted
from training_recordings import COVERAGE, SETS, trial
from windows import SETTINGS

_THREES = [(i, i + 1, i + 2) for i in range(0, 21, 3)]
# Recordings of training of each trial; the first are those of the experiment.
TRIALS = {"slow": _THREES, "fast": _THREES, "pendubot": SETS["pendubot"]["one"]}
# Sets of recordings that are simulated of each motion.
WORLDS = {"slow": 3, "fast": 3, "pendubot": 3}
LOW, HIGH = 0.85, 0.95
# What COVERAGE is of.
PARTS = ("whole", "first third", "second third", "last third")
SCORES = (*COVERAGE, "prefix_coverage_50", "prefix_rmse_median", "prefix_crps", "pareto_k")
METHOD = "csvgd"
EVERY = "coverage_of_the_model_all"
REAL = "real"


@cache
def generator(name):
    """Return what makes recordings as those of an experiment, fitted to all of them, by a seed."""
    import numpy as np

    from pdsim.calibration.simulate import Generator
    from pdsim.runtime.files import read_dataset
    from pdsim.systems.simulator import build_simulator

    experiment, path = load(name)
    data = read_dataset(path)
    model = Generator(
        simulator=build_simulator(experiment.simulator),
        template=data.assign_coords(split=("trajectory", ["train"] * data.sizes["trajectory"])),
        likelihood=experiment.likelihood,
        shooting="marginal",
        smoothing=experiment.recording.smoothing.build(),
        precision="float64",
    )
    truth = np.asarray(fitted(name)[1])
    spread = experiment.prediction.noise_spread
    return lambda seed: model.data_set(truth, np.random.default_rng(seed), spread=spread)


def rows_of(motion, trials, sets):
    """Coverage of the trials in the whole horizon and its thirds, real ones beside simulated."""
    import numpy as np
    import pandas as pd

    found = pd.DataFrame(trials)[list(COVERAGE)]
    is_real = np.asarray(sets) == REAL
    real, made = found[is_real], found[~is_real]
    inside = (made >= LOW) & (made <= HIGH)
    of_sets = made.groupby(np.asarray(sets)[~is_real]).mean()
    for part, column in zip(PARTS, COVERAGE, strict=True):
        one = made[column]
        told = {
            "real_first": real[column].iloc[0],
            "below_first": (one < real[column].iloc[0]).mean(),
            "real": real[column].mean(),
            "real_lowest": real[column].min(),
            "real_highest": real[column].max(),
            "mean": one.mean(),
            "set_lowest": of_sets[column].min(),
            "set_highest": of_sets[column].max(),
            "low": one.quantile(0.05),
            "high": one.quantile(0.95),
            "inside": inside[column].mean(),
            "trials": len(one),
            "all_inside": inside.all(axis=1).mean() if part == PARTS[0] else None,
        }
        yield f"{motion}, {part}", told


def main():
    """Make both tables."""
    from pdsim.runtime import device

    device.configure()
    every, rows, begin = finished(EVERY), {}, "".join(sys.argv[1:])
    for motion, name in SETTINGS.items():
        if not motion.startswith(begin):
            continue
        trials, sets = [], []
        for world in (None, *range(WORLDS[motion])):
            of = REAL if world is None else f"set {world}"
            for trained in TRIALS[motion]:
                label = f"{motion}, {of}, trained on {', '.join(map(str, trained))}"
                if label not in every:
                    data = None if world is None else generator(name)(world)
                    every[label] = trial(name, METHOD, trained, data, shown=SCORES)
                    write(EVERY, every)
                trials.append(every[label])
                sets.append(of)
        rows |= rows_of(motion, trials, sets)
        write("coverage_of_the_model", rows)


if __name__ == "__main__":
    main()
