"""A tiny experiment carried through all stages once, by the command line."""

import pytest
import yaml

from pdsim.cli import main

RUNS = (("svgd", "single"), ("csvgd", "multiple"), ("nuts", "single"))


@pytest.fixture(scope="session")
def tiny(root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiny")
    values = yaml.safe_load((root / "config/experiments/demo.yaml").read_text())
    values["recording"]["test"] = values["recording"]["test"][:4]
    values["runs"].append({"method": "nuts", "shooting": "single", "settings": {"doublings": 3}})
    values["budgets"] = {"quick": {"particle_count": 12, "iteration_count": 30, "chunk_size": 10}}
    experiment = folder / "tiny.yaml"
    experiment.write_text(yaml.safe_dump(values))

    def pdsim(verb, *arguments, code=0):
        assert main(["--quiet", verb, *map(str, arguments)]) == code

    pdsim("record", experiment, "--output", folder / "recording")
    trajectories = folder / "trajectories.nc"
    pdsim("preprocess", experiment, "--raw", folder / "recording", "--output", trajectories)
    metrics, courses = [], []
    for method, shooting in RUNS:
        run = folder / method / shooting / "seed0"
        identity = ("--method", method, "--shooting", shooting)
        files = ("--trajectories", trajectories, "--posterior", run / "posterior.nc")
        pdsim(
            "infer", experiment, *identity, "--budget", "quick",
            "--trajectories", trajectories, "--output", run / "posterior.nc",
        )  # fmt: skip
        pdsim("simulate", experiment, *files, "--output", run / "rollouts.nc")
        metrics.append(run / "metrics.csv")
        pdsim(
            "evaluate", experiment, *identity, *files,
            "--rollouts", run / "rollouts.nc", "--output", metrics[-1],
        )  # fmt: skip
        courses.append(run / "course.csv")
        pdsim("course", experiment, *identity, *files, "--output", courses[-1])
    pdsim("gather", *metrics, "--output", folder / "metrics.csv")
    pdsim("gather", *courses, "--kind", "course", "--output", folder / "course.csv")
    return folder
