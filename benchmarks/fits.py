"""Changed experiments fitted and scored, for benchmarks that compare several of one kind."""

import csv
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

EXPERIMENT = "config/experiments/{}.yaml"
# Of either joint of the pendulum, over S1y.
VISCOUS = {
    "lower": 1e-5,
    "upper": 0.1,
    "unit": "N m s",
    "scale": "log",
    "prior": "half_cauchy",
    "median": 1e-3,
}


def load(name):
    """Return an experiment and the path of its trajectories."""
    from pdsim.experiment.load import load_experiment

    path = f"results/{name}/trajectories.nc"
    if not Path(path).exists():
        sys.exit(f"{path}: no such file; run snakemake {path}")
    return load_experiment(EXPERIMENT.format(name)), path


def read(name, *, offsets):
    """Trajectories of the pendulum's raw recordings, with markers moved onto the axes or not."""
    from pdsim.experiment.load import load_experiment
    from pdsim.experiment.slices import slice_of
    from pdsim.recordings import ibm
    from pdsim.runtime.files import read_dataset
    from pdsim.stages.preprocess import preprocess

    folder = os.environ.get(ibm.FOLDER_VARIABLE)
    if not folder:
        sys.exit(f"name the folder of the raw recordings: {ibm.FOLDER_VARIABLE}")
    experiment = load_experiment(EXPERIMENT.format(name))
    recording = experiment.recording.model_copy(update={"marker_offsets": offsets})
    options = slice_of("preprocess", experiment.model_copy(update={"recording": recording}))
    with TemporaryDirectory() as made:
        path = str(Path(made) / "trajectories.nc")
        preprocess(options, raw=ibm.files(recording, folder), output=path)
        return read_dataset(path)


def varying(experiment, between):
    """The experiment with these deviations between recordings, and no others."""
    marginal = experiment.likelihood.marginal.model_copy(update={"varying": between})
    likelihood = experiment.likelihood.model_copy(update={"marginal": marginal})
    return experiment.model_copy(update={"likelihood": likelihood})


def sought(experiment, **numbers):
    """The pendulum's experiment with these numbers sought, in a range, or fixed, at a value.

    Those that single masses would be are not asked for. Parameters are in the system's order, which
    random numbers depend on.
    """
    told = experiment.model_dump(mode="json", exclude_unset=True)
    simulator = told["simulator"]
    simulator.pop("single", None)
    fixed = simulator.setdefault("fixed", {})
    for name, number in numbers.items():
        for entries in (simulator["parameters"], fixed):
            entries.pop(name, None)
        (simulator["parameters"] if isinstance(number, dict) else fixed)[name] = number
    order = list(experiment.system().parameters)
    entries = simulator["parameters"]
    simulator["parameters"] = {name: entries[name] for name in sorted(entries, key=order.index)}
    return type(experiment).model_validate(told)


def dry_alone(experiment):
    """The pendulum's experiment without viscous friction."""
    return sought(experiment, friction_1=0.0, friction_2=0.0)


def both_frictions(experiment):
    """The pendulum's experiment with viscous friction beside the dry one; one with motors as is."""
    if "dry_friction" not in experiment.simulator.options:
        return experiment
    return sought(experiment, friction_1=VISCOUS, friction_2=VISCOUS)


def _without(experiment, option, number, given):
    """The pendulum's experiment less an option, its ``number`` of both joints and what it needs."""
    told = experiment.model_dump(mode="json", exclude_unset=True)
    simulator = told["simulator"]
    # With motors there are no such options.
    if not simulator.get("options", {}).pop(option, False):
        return experiment
    for section in ("options", "fixed"):
        simulator[section].pop(given, None)
    for joint in (1, 2):
        simulator["parameters"].pop(f"{number}_{joint}")
    simulator.pop("single", None)
    return type(experiment).model_validate(told)


def still_air(experiment):
    """The pendulum's experiment without drag, and with the same numbers in all recordings."""
    return _without(varying(experiment, {}), "air_drag", "drag", "drag_arm")


def viscous(experiment):
    """The experiment as ``still_air`` makes it, with viscous friction in place of the dry one."""
    both = both_frictions(still_air(experiment))
    return _without(both, "dry_friction", "dry_friction", "friction_velocity")


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

    from pdsim.experiment.slices import slice_of
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
