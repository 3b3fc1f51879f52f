"""The posterior of one experiment as an input of the next one's jobs."""

import re

import pytest
import yaml

pytestmark = pytest.mark.slow

FILE = "results/quick/first/least_squares_single/seed0/posterior.nc"


@pytest.fixture
def project(root, fresh_project):
    """Two experiments, the second with the first's posterior as its prior."""
    folder = fresh_project.folder / "config"
    path = root / "config/experiments/calibration_oscillator.yaml"
    values = yaml.safe_load(path.read_text())
    values["runs"] = [{"method": "least_squares", "shooting": "single"}]
    values["runs"][0]["tune"] = {"start_count": [2, 4]}
    values["likelihood"]["noise"] = {"x": 0.01, "dx": 0.1}
    values["bayessim"] = {"statistics": ["downsampled"], "densities": ["mdn"]}
    values["budgets"]["quick"]["learning_curve"] = False
    for name in ("first", "second"):
        if name == "second":
            earlier = {"experiment": "first", "run": "least_squares_single"}
            values["simulator"]["prior_from"] = earlier
        (folder / f"experiments/{name}.yaml").write_text(yaml.safe_dump(values, sort_keys=False))
    write_groups(fresh_project, ["first", "second"])
    return fresh_project


def write_groups(project, experiments):
    settings = {"groups": {"both": experiments}, "budget": "quick"}
    (project.folder / "config/config.yaml").write_text(yaml.safe_dump(settings))


def jobs(project, *targets):
    """What a dry run says of each job of the second experiment, by its rule."""
    told = project.snakemake("--dry-run", "--printshellcmds", *targets).stdout
    found = {}
    for text in re.split(r"\n(?=rule |Job \d+:|\[)", told):
        command = re.search(r"logged \S+ pdsim (\S+) config/experiments/second", text)
        if command:
            found[command[1]] = text
    return found


def test_the_posterior_is_an_input_wherever_the_prior_counts(project):
    """Jobs wait for the experiment whose posterior is their prior, and only those that need it."""
    targets = [
        f"results/quick/second/{name}"
        for name in ("report.html", "tuning.csv", "tables/calibration.csv")
    ]
    found = jobs(project, *targets)
    for verb in ("infer", "tune", "calibrate", "training-set", "condition"):
        assert re.search(rf"Input files updated by another job: .*{FILE}", found[verb]), verb
        assert f"--prior-from {FILE}" in found[verb]
    # What is simulated of a posterior does not ask for the prior.
    for verb in ("simulate", "evaluate", "report"):
        assert FILE not in found[verb], verb


def test_an_experiment_that_is_not_run_is_named(project):
    """A prior from an experiment outside the group is refused with what to do."""
    write_groups(project, ["second"])
    result = project.snakemake("both", "--dry-run", check=False)
    assert result.returncode != 0
    assert "second.yaml: simulator.prior_from.experiment: " in result.stdout + result.stderr
    assert "run both by their group" in result.stdout + result.stderr
