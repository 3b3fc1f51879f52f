"""A tiny experiment carried through all stages once, by the command line."""

import pytest
import yaml

from pdsim.cli.main import main

RUNS = ("svgd_single", "csvgd_multiple", "csvgd_marginal", "nuts_single")
REFERENCE = "nuts_single"
BAYESSIM = {
    "statistics": ["downsampled", "signature"],
    "densities": ["mdn", "mdrff_rbf"],
    "training_set": {"count": 80, "held_out_count": 40, "noise": True},
    "density": {"epochs": 40, "batch_size": 20, "component_count": 2},
}
VARIANTS = ("bayessim_downsampled_mdn", "bayessim_signature_mdrff_rbf")


@pytest.fixture(scope="session")
def tiny(root, made_once):
    """Folder of the experiment and of all its results, which tests leave as they are."""
    return made_once("tiny", lambda folder: carried_through(root, folder))


def carried_through(root, folder):
    """Run every stage of a tiny experiment in this process."""
    values = yaml.safe_load((root / "config/experiments/demo.yaml").read_text())
    values["recording"]["test"] = values["recording"]["test"][:4]
    runs = {f"{run['method']}_{run['shooting']}": run for run in values["runs"]}
    runs[REFERENCE] = {
        "method": "nuts",
        "shooting": "single",
        "settings": {"doublings": 3, "warmup": 0.8},
    }
    values["runs"], values["reference"] = [runs[name] for name in RUNS], REFERENCE
    del values["detailed"]
    values["likelihood"].setdefault("marginal", {})["varying"] = {"link_1": 0.05}
    values["bayessim"] = BAYESSIM
    values["budgets"] = {"quick": {"particle_count": 12, "iteration_count": 30, "chunk_size": 10}}
    experiment = folder / "tiny.yaml"
    experiment.write_text(yaml.safe_dump(values))

    def pdsim(verb, *arguments, code=0):
        assert main(["--quiet", verb, *map(str, arguments)]) == code

    pdsim("record", experiment, "--output", folder / "recording")
    trajectories = folder / "trajectories.nc"
    pdsim("preprocess", experiment, "--raw", folder / "recording", "--output", trajectories)
    metrics, courses = [], []

    def score(name, run):
        """Roll out, predict and score a posterior; return the files all need."""
        files = ("--trajectories", trajectories, "--posterior", run / "posterior.nc")
        pdsim("simulate", experiment, *files, "--output", run / "rollouts.nc")
        pdsim("predict", experiment, *files, "--output", run / "prediction.nc")
        metrics.append(run / "metrics.csv")
        pdsim(
            "evaluate", experiment, "--run", name, *files, "--rollouts", run / "rollouts.nc",
            "--prediction", run / "prediction.nc",
            "--reference", folder / REFERENCE / "seed0/posterior.nc", "--output", metrics[-1],
        )  # fmt: skip
        return files

    learned = ("--trajectories", trajectories, "--budget", "quick")
    pdsim("training-set", experiment, *learned, "--output", folder / "training_set.nc")
    for variant in VARIANTS:
        name, run = variant.split("_")[1], folder / variant / "seed0"
        statistics, trained = folder / f"{name}.nc", run / "density_model.nc"
        pdsim(
            "statistics", experiment, *learned, "--name", name,
            "--training-set", folder / "training_set.nc", "--output", statistics,
        )  # fmt: skip
        pdsim(
            "train", experiment, "--budget", "quick", "--run", variant,
            "--statistics", statistics, "--output", trained,
        )  # fmt: skip
        pdsim(
            "condition", experiment, *learned, "--run", variant, "--statistics", statistics,
            "--trained", trained, "--output", run / "posterior.nc",
        )  # fmt: skip
    for name in RUNS:
        run = folder / name / "seed0"
        pdsim(
            "infer", experiment, "--run", name, "--budget", "quick",
            "--trajectories", trajectories, "--output", run / "posterior.nc",
        )  # fmt: skip
    for variant in VARIANTS:
        score(variant, folder / variant / "seed0")
    for name in RUNS:
        run = folder / name / "seed0"
        files = score(name, run)
        courses.append(run / "learning_curve.csv")
        pdsim("learning-curve", experiment, "--run", name, *files, "--output", courses[-1])
    pdsim("gather", *metrics, "--output", folder / "metrics.csv")
    found = ("--trajectories", trajectories, "--output", folder / "preflight.json")
    pdsim("preflight", experiment, "--budget", "quick", *found)
    pdsim("gather", *courses, "--kind", "learning_curve", "--output", folder / "learning_curve.csv")
