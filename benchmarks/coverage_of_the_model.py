"""What coverage has a posterior that is right? The trials of training_recordings.py, simulated.

    python benchmarks/coverage_of_the_model.py        # an hour; goes on where it was cut
    python benchmarks/coverage_of_the_model.py fast   # the rows that begin so

One fit of all recordings of a motion gives parameters and noise. With these the model itself makes
all recordings anew: starts, process noise (its size another one in each recording, as predictions
take it to be) and sensor noise. `csvgd` then learns from one of them and predicts the others, as it
does with the real ones. Friction and the spread of process noise are those of
``training_recordings.py``. Nothing is wrong with the model here, so what its coverage does is what
coverage does: how far it scatters from one recording of training to the next, in the whole horizon
and in its thirds. Reads ``results/<experiment>/trajectories.nc`` and, for the real trials,
``docs/results/training_recordings.csv``; writes ``results/benchmarks/coverage_of_the_model.csv``,
which was copied to ``docs/results``. Every trial is in ``coverage_of_the_model_all.csv`` beside it.
"""

import sys

from fits import finished, load, write
from process_noise import fitted
from training_recordings import COVERAGE, SETS, setting, trial
from windows import SETTINGS

# Sets of recordings that are simulated of each motion.
WORLDS = {"slow": 3, "fast": 2, "pendubot": 3}
LOW, HIGH = 0.85, 0.95
# What COVERAGE is of.
PARTS = ("whole", "first third", "second third", "last third")
METHOD = "csvgd"
EVERY = "coverage_of_the_model_all"


def worlds(motion, name):
    """Yield the number of each simulated set of recordings, and the set."""
    import numpy as np

    from pdsim.calibration.simulate import Generator
    from pdsim.runtime.files import read_dataset
    from pdsim.systems.simulator import build_simulator

    experiment, path = load(name)
    experiment = setting(experiment)
    data = read_dataset(path)
    generator = Generator(
        simulator=build_simulator(experiment.simulator),
        template=data.assign_coords(split=("trajectory", ["train"] * data.sizes["trajectory"])),
        likelihood=experiment.likelihood,
        shooting="marginal",
        smoothing=experiment.recording.smoothing.build(),
        precision="float64",
    )
    truth = np.asarray(fitted(name, setting)[1])
    spread = experiment.prediction.noise_spread
    for number in range(WORLDS[motion]):
        random = np.random.default_rng(number)
        yield number, generator.data_set(truth, random, spread=spread)


def rows_of(motion, trials, sets):
    """Coverage of simulated trials in the whole horizon and its thirds, beside the real ones'."""
    import pandas as pd

    found = pd.DataFrame(trials)[list(COVERAGE)]
    inside = (found >= LOW) & (found <= HIGH)
    of_sets = found.groupby(sets).mean()
    real = pd.read_csv("docs/results/training_recordings.csv", index_col="run")
    for part, column in zip(PARTS, COVERAGE, strict=True):
        one = found[column]
        told = {
            "real": real.loc[f"{motion}, one, {METHOD}", column],
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
        for number, data in worlds(motion, name):
            for trained in SETS[motion]["one"]:
                label = f"{motion}, set {number}, trained on {trained[0]}"
                if label not in every:
                    every[label] = trial(name, METHOD, trained, data, change=setting)
                    write(EVERY, every)
                trials.append(every[label])
                sets.append(number)
        rows |= rows_of(motion, trials, sets)
        write("coverage_of_the_model", rows)


if __name__ == "__main__":
    main()
