"""How long may a window be at whose end process noise acts? Fits with several lengths.

    python benchmarks/windows.py   # a quarter of an hour

Reads ``results/<experiment>/trajectories.nc``, which ``snakemake`` writes if asked, and writes
``results/benchmarks/windows.csv``, which was copied to ``docs/results``.
"""

import csv
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

SETTINGS = {
    "slow": "trusted_calibrated",
    "fast": "trusted_chaotic",
    "pendubot": "trusted_pendubot",
}
# Windows of a training recording.
COUNTS = {
    "trusted_calibrated": (10, 20, 40, 80),
    "trusted_chaotic": (10, 20, 40, 80),
    "trusted_pendubot": (10, 25, 50, 100),
}
SCORES = (
    "prefix_coverage_90",
    "prefix_coverage_90_first",
    "prefix_coverage_90_second",
    "prefix_coverage_90_third",
    "prefix_rmse_median",
    "prefix_crps",
)


def load(name):
    """Return an experiment and the path of its trajectories."""
    from pdsim.config.experiment import load_experiment

    path = f"results/{name}/trajectories.nc"
    if not Path(path).exists():
        sys.exit(f"{path}: no such file; run snakemake {path}")
    return load_experiment(f"config/experiments/{name}.yaml"), path


def windows(name):
    """Fits with windows of several lengths: likelihoods, and scores of predictions."""
    import pandas as pd

    from pdsim.config.slices import slice_of
    from pdsim.runtime.files import read_dataset
    from pdsim.stages.evaluate import evaluate
    from pdsim.stages.infer import infer
    from pdsim.stages.predict import predict
    from pdsim.stages.simulate import simulate

    experiment, path = load(name)
    which = "least_squares_marginal"
    identity = experiment.run(which).identity
    found = {}
    for count in COUNTS[name]:
        likelihood = experiment.likelihood.model_copy(update={"window_count": count})
        changed = experiment.model_copy(update={"likelihood": likelihood, "reference": None})

        def cut(stage, changed=changed):
            return slice_of(stage, changed, run=which, budget="paper")

        with TemporaryDirectory() as folder:
            names = ("infer", "predict", "simulate")
            files = {stage: str(Path(folder) / f"{stage}.nc") for stage in names}
            common = {"trajectories": path}
            infer(cut("infer"), identity=identity, seed=0, output=files["infer"], **common)
            common["posterior"] = files["infer"]
            predict(cut("predict"), seed=0, output=files["predict"], **common)
            simulate(cut("simulate"), output=files["simulate"], **common)
            table = str(Path(folder) / "metrics.csv")
            evaluate(
                cut("evaluate"),
                experiment=name,
                identity=identity,
                seed=0,
                rollouts=files["simulate"],
                prediction=files["predict"],
                output=table,
                **common,
            )
            values = pd.read_csv(table).set_index("metric")["value"]
            likely = read_dataset(files["infer"], "sample_stats")["log_likelihood"].median()
        found[count] = {"log_likelihood": float(likely)} | {key: values[key] for key in SCORES}
    return found


def write(name, rows):
    """Write rows, label → values."""
    path = Path(f"results/benchmarks/{name}.csv")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["run", *next(iter(rows.values()))])
        writer.writerows([label, *values.values()] for label, values in rows.items())
    print(path.read_text())


def main():
    """Make the table."""
    from pdsim.runtime import device

    device.configure()
    rows = {
        f"{motion}, {count} windows": scores
        for motion, name in SETTINGS.items()
        for count, scores in windows(name).items()
    }
    write("windows", rows)


if __name__ == "__main__":
    main()
