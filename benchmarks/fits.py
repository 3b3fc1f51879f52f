"""Changed experiments fitted and scored, for benchmarks that compare several of one kind."""

import csv
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

EXPERIMENT = "config/experiments/{}.yaml"


def load(name):
    """Return an experiment and the path of its trajectories."""
    from pdsim.config.experiment import load_experiment

    path = f"results/{name}/trajectories.nc"
    if not Path(path).exists():
        sys.exit(f"{path}: no such file; run snakemake {path}")
    return load_experiment(EXPERIMENT.format(name)), path


def viscous(experiment):
    """The experiment without the pendulum's dry friction, where it has one without motors."""
    told = experiment.model_dump(mode="json", exclude_unset=True)
    simulator = told["simulator"]
    if not simulator.get("options", {}).pop("dry_friction", False):
        return experiment
    del simulator["options"]["friction_velocity"]
    for entries in (simulator["parameters"], simulator["single"]["parameters"]):
        for joint in (1, 2):
            del entries[f"dry_friction_{joint}"]
    return type(experiment).model_validate(told)


def fit(name, experiment, trajectories, run):
    """Infer, predict and simulate with seed 0.

    All metrics, the log likelihood, log noise, mean and deviation of each parameter, and of each
    channel the share of held-out frames above the median prediction.

    Args:
        experiment: the experiment ``name``, changed.
        trajectories: path of its trajectories.
        run: whose run, ``least_squares_marginal`` say.
    """
    import jax
    import numpy as np
    import pandas as pd

    from pdsim.config.slices import slice_of
    from pdsim.runtime.files import read_dataset
    from pdsim.stages.evaluate import evaluate
    from pdsim.stages.infer import infer
    from pdsim.stages.predict import predict
    from pdsim.stages.simulate import simulate

    identity = experiment.run(run).identity
    changed = experiment.model_copy(update={"reference": None})

    def cut(stage):
        return slice_of(stage, changed, run=run, budget="paper")

    with TemporaryDirectory() as folder:
        stages = ("infer", "predict", "simulate")
        files = {stage: str(Path(folder) / f"{stage}.nc") for stage in stages}
        common = {"trajectories": trajectories}
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
        values = pd.read_csv(table).set_index("metric")["value"].to_dict()
        likely = read_dataset(files["infer"], "sample_stats")["log_likelihood"].median()
        noise = read_dataset(files["infer"], "noise")
        told = {f"log_{name}": float(np.log(x).mean()) for name, x in noise.data_vars.items()}
        for name, x in read_dataset(files["infer"], "posterior").data_vars.items():
            told |= {f"mean_{name}": float(x.mean()), f"deviation_{name}": float(x.std())}
        found = read_dataset(files["predict"])
        middle = found["predicted_observation"].median("draw")
        seen = read_dataset(trajectories)["observed"].sel(
            trajectory=middle["trajectory"], channel=middle["measured"]
        )
        above = (seen.isel(time=slice(-middle.sizes["time"], None)) > middle).mean(
            ["trajectory", "time"]
        )
        told |= {
            f"above_{name}": float(above.sel(measured=name)) for name in above["measured"].values
        }
    # Programs of many fits would need more memory maps than Linux gives a process.
    jax.clear_caches()
    return values | {"log_likelihood": float(likely)} | told


def finished(name):
    """Rows of a table that an earlier call wrote before it was cut off, label → values."""
    import pandas as pd

    path = Path(f"results/benchmarks/{name}.csv")
    return pd.read_csv(path, index_col="run").to_dict("index") if path.exists() else {}


def write(name, rows):
    """Write rows, label → values, and print them."""
    path = Path(f"results/benchmarks/{name}.csv")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        columns = dict.fromkeys(column for values in rows.values() for column in values)
        writer = csv.DictWriter(file, ["run", *columns])
        writer.writeheader()
        writer.writerows({"run": label} | values for label, values in rows.items())
    print(path.read_text())
