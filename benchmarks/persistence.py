"""How persistent is what a model misses? Two tables.

    python benchmarks/persistence.py fits      # each recording fitted by itself: minutes
    python benchmarks/persistence.py from-zero # csvgd with ρ from 0 on: a quarter of an hour

Both read ``results/<experiment>/trajectories.nc`` of the trusted experiments, which
``snakemake trusted`` writes, and write a table to ``results/benchmarks``,
from where that of the fits was copied to ``docs/results``.
"""

import argparse
import csv
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

SETTINGS = {"slow": "trusted_calibrated", "fast": "trusted_chaotic"}
FROM_ZERO = (0.0, 0.95)
SCORES = (
    "prefix_coverage_90",
    "prefix_coverage_90_first",
    "prefix_coverage_90_second",
    "prefix_coverage_90_third",
    "prefix_rmse_median",
)
# Starts and iterations of a fit, at most.
FIT = {"particle_count": 32, "iteration_count": 400}


def load(name):
    """Return an experiment and the path of its trajectories."""
    from pdsim.config.experiment import load_experiment

    path = f"results/{name}/trajectories.nc"
    if not Path(path).exists():
        sys.exit(f"{path}: no such file; run snakemake {path}")
    return load_experiment(f"config/experiments/{name}.yaml"), path


def fits(name):
    """Fit each recording by itself: optima and deviations of the simulator's parameters."""
    import xarray as xr

    from pdsim.config.runs import WorkConfig
    from pdsim.inference import load_estimator
    from pdsim.inference.least_squares import Settings
    from pdsim.inference.runner import run
    from pdsim.likelihood.marginal_data import marginal_problem
    from pdsim.likelihood.noise import noise_model
    from pdsim.runtime.files import read_dataset
    from pdsim.systems.simulator import build_simulator
    from pdsim.trajectories import select

    experiment, path = load(name)
    data = read_dataset(path)
    simulator = build_simulator(experiment.simulator)
    config = experiment.likelihood.marginal
    noise = noise_model(config, simulator, select(data, "train"))
    estimator = load_estimator("least_squares", Settings(), WorkConfig(**FIT))
    count = simulator.space.dimension
    found = []
    for number in range(data.sizes["trajectory"]):
        one = data.isel(trajectory=[number])
        one["split"] = xr.full_like(one["split"], "train")
        problem = marginal_problem(
            simulator,
            one,
            noise,
            start_deviation=config.start,
            window_count=experiment.likelihood.window_count,
            combination="product",
            iterations=config.iterations,
        )
        fitted = estimator.convergence(
            problem, run(estimator, problem, seed=0, chunk_size=20).state
        )
        found.append([np.asarray(fitted[key])[:count] for key in ("optimum", "deviation")])
        print(name, number, *found[-1], flush=True)
    optima, deviations = np.moveaxis(np.array(found), 1, 0)
    ratio = optima.std(axis=0, ddof=1) / deviations[0]
    return {
        "scatter": np.median(ratio),
        "scatter lowest": ratio.min(),
        "scatter highest": ratio.max(),
    }


def from_zero(name):
    """Scores of csvgd's predictions where ρ may be anything from 0 on."""
    import pandas as pd

    from pdsim.config.slices import slice_of
    from pdsim.stages.evaluate import evaluate
    from pdsim.stages.infer import infer
    from pdsim.stages.predict import predict
    from pdsim.stages.simulate import simulate

    experiment, path = load(name)
    marginal = experiment.likelihood.marginal.model_copy(update={"correlation": FROM_ZERO})
    likelihood = experiment.likelihood.model_copy(update={"marginal": marginal})
    experiment = experiment.model_copy(update={"likelihood": likelihood, "reference": None})
    which = "csvgd_marginal"
    identity = experiment.run(which).identity

    def cut(stage):
        return slice_of(stage, experiment, run=which, budget="paper")

    with TemporaryDirectory() as folder:
        files = {
            stage: str(Path(folder) / f"{stage}.nc") for stage in ("infer", "predict", "simulate")
        }
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
    return {score: values[score] for score in SCORES}


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
    """Make one of the tables."""
    from pdsim.runtime import device

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("fits", "from-zero"))
    what = parser.parse_args().what
    device.configure()
    measure = {"fits": fits, "from-zero": from_zero}[what]
    rows = {motion: measure(name) for motion, name in SETTINGS.items()}
    write(f"persistence_{what.replace('-', '_')}", rows)


if __name__ == "__main__":
    main()
