"""What coverage has a posterior that is right? The trials of training_recordings.py, simulated.

    python benchmarks/coverage_of_the_model.py        # an hour and a half; goes on where it was cut
    python benchmarks/coverage_of_the_model.py fast   # the rows that begin so

One fit of all recordings of a motion gives parameters and noise. With these the model itself makes
all recordings anew: starts, process noise (its size another one in each recording, as predictions
take it to be) and sensor noise. `csvgd` then learns from one of them and predicts the others, as it
does with the real ones. Nothing is wrong with the model here, so what its coverage does is what
coverage does: how far it scatters from one recording of training to the next, in the whole horizon
and in its thirds. Reads ``results/<experiment>/trajectories.nc`` and writes ``results/benchmarks/
coverage_of_the_model.csv``, which was copied to ``docs/results``; every trial is in
``coverage_of_the_model_all.csv`` beside it.
"""

import sys

from fits import load, write
from process_noise import fitted
from training_recordings import COVERAGE, SETTINGS, finished, trial

# Sets of recordings that are simulated of each motion.
WORLDS = {"slow": 4, "fast": 4, "pendubot": 6}
LOW, HIGH = 0.85, 0.95
METHOD = "csvgd"
EVERY = "coverage_of_the_model_all"


def worlds(motion, name):
    """Yield the number of each simulated set of recordings, and the set."""
    import numpy as np

    from pdsim.calibration.simulate import Generator
    from pdsim.runtime.files import read_dataset
    from pdsim.systems.simulator import build_simulator

    experiment, path = load(name)
    data = read_dataset(path)
    generator = Generator(
        simulator=build_simulator(experiment.simulator),
        template=data.assign_coords(split=("trajectory", ["train"] * data.sizes["trajectory"])),
        likelihood=experiment.likelihood,
        shooting="marginal",
        smoothing=experiment.recording.smoothing.build(),
        precision="float64",
    )
    truth = np.asarray(fitted(name)[1])
    spread = experiment.prediction.noise_spread
    for number in range(WORLDS[motion]):
        random = np.random.default_rng(number)
        yield number, generator.data_set(truth, random, spread=spread)


def summary(trials, sets):
    """Coverage over simulated trials: mean, scatter, and how many are within limits."""
    import pandas as pd

    found = pd.DataFrame(trials)[list(COVERAGE)]
    pooled = found["prefix_coverage_90"]
    inside = (found >= LOW) & (found <= HIGH)
    means = found.groupby(sets).mean()
    told = {"trials": len(found)}
    for column in COVERAGE:
        told[column] = found[column].mean()
        told[f"{column}_low"] = found[column].quantile(0.05)
        told[f"{column}_high"] = found[column].quantile(0.95)
        told[f"{column}_of_means"] = means[column].std(ddof=1)
    return told | {
        "error": pooled.std(ddof=1) / len(pooled) ** 0.5,
        "pooled_inside": inside["prefix_coverage_90"].mean(),
        "all_inside": inside.all(axis=1).mean(),
        "prefix_coverage_50": pd.DataFrame(trials)["prefix_coverage_50"].mean(),
        "pareto_k": pd.DataFrame(trials)["pareto_k"].max(),
    }


def main():
    """Make both tables."""
    from pdsim.runtime import device

    device.configure()
    every, rows, begin = finished(EVERY), {}, "".join(sys.argv[1:])
    for motion, (name, recordings) in SETTINGS.items():
        if not motion.startswith(begin):
            continue
        trials, sets = [], []
        for number, data in worlds(motion, name):
            for trained in recordings:
                label = f"{motion}, set {number}, trained on {trained}"
                if label not in every:
                    every[label] = trial(name, METHOD, (trained,), data)
                    write(EVERY, every)
                trials.append(every[label])
                sets.append(number)
        rows[motion] = summary(trials, sets)
        write("coverage_of_the_model", rows)


if __name__ == "__main__":
    main()
