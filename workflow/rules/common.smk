# Shared by all rules. The checked config, and where files are.

import json
import os
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

from pdsim.config import load_experiment, workflow_config
from pdsim.errors import PdsimError
from pdsim.provenance import code_fingerprint
from pdsim.recordings.ibm import FOLDER_VARIABLE, local_folder
from pdsim.stages import modules

# Jobs find the pdsim of the environment that runs Snakemake, activated or not.
shell.prefix(f'export PATH="{Path(sys.executable).parent}:$PATH"; ')

try:
    SETTINGS = workflow_config(config, "config/config.yaml")
    EXPERIMENTS = {
        name: load_experiment(f"{SETTINGS.experiment_dir}/{name}.yaml")
        for group in SETTINGS.groups.values()
        for name in group
    }
    for experiment in EXPERIMENTS.values():
        experiment.budget(SETTINGS.budget)
except PdsimError as error:
    raise WorkflowError(str(error)) from None

# The paper budget's results are results/<experiment>; another budget's stand beside them.
RESULTS = (
    SETTINGS.results
    if SETTINGS.budget == "paper"
    else f"{SETTINGS.results}/{SETTINGS.budget}"
)
EXPERIMENT = f"{RESULTS}/{{experiment}}"
RUN = f"{EXPERIMENT}/{{method}}/{{shooting}}/seed{{seed}}"
IBM_FOLDER = local_folder(SETTINGS.ibm_dir)


wildcard_constraints:
    experiment="|".join(EXPERIMENTS),
    method="[a-z_]+",
    shooting="single|multiple",
    seed=r"\d+",
    run=r"\d+",


def experiment_file(wildcards):
    return f"{SETTINGS.experiment_dir}/{wildcards.experiment}.yaml"


def raw_runs(experiment):
    """Raw recordings of an experiment, sorted by run."""
    recording = EXPERIMENTS[experiment].recording
    runs = sorted({window.run for window in recording.train + recording.test})
    if recording.source == "camera":
        folder = f"{RESULTS}/{experiment}/recording"
    else:
        folder = IBM_FOLDER or "data/ibm_double_pendulum"
    return [f"{folder}/{run}.csv" for run in runs]


def run_files(experiment, name):
    """One file of each run and seed of an experiment."""
    setup = EXPERIMENTS[experiment]
    return [
        f"{RESULTS}/{experiment}/{run.method}/{run.shooting}/seed{seed}/{name}"
        for run in setup.runs
        for seed in setup.seeds
        if not (name == "windows.png" and run.shooting == "single")
    ]


def figure_files(experiment):
    """The figures of an experiment's report, in its order; runs are shown with their first seed."""
    first = f"/seed{EXPERIMENTS[experiment].seeds[0]}/"
    figures = [f"{RESULTS}/{experiment}/figures/convergence.png"]
    if EXPERIMENTS[experiment].landscape:
        figures.insert(0, f"{RESULTS}/{experiment}/figures/landscape.png")
    for name in ("density.png", "posterior.png", "windows.png"):
        figures += [path for path in run_files(experiment, name) if first in path]
    return figures


def group_files(group):
    """Everything a named target asks for."""
    return [
        f"{RESULTS}/{experiment}/{name}"
        for experiment in SETTINGS.groups[group]
        for name in ("report.html", "metrics.csv", "tables/comparison.csv")
    ]


def section(*names):
    """A param: sections of the experiment's config that a rule depends on."""
    return lambda wildcards: json.dumps(
        EXPERIMENTS[wildcards.experiment].section(*names), sort_keys=True
    )


def code(stage):
    """A param: a hash of the library code that a rule depends on (Snakemake does not track it)."""

    def fingerprint(wildcards):
        method = getattr(wildcards, "method", "") if stage == "infer" else ""
        system = ""
        if stage in ("infer", "simulate", "preprocess"):
            system = EXPERIMENTS[wildcards.experiment].simulator.system
        return code_fingerprint(*modules(stage, system=system, method=method))

    return fingerprint


if IBM_FOLDER:
    for experiment, setup in EXPERIMENTS.items():
        if setup.recording.source == "ibm":
            missing = [
                path for path in raw_runs(experiment) if not Path(path).is_file()
            ]
            if missing:
                raise WorkflowError(
                    f"{missing[0]}: no such file, but ibm_dir or {FOLDER_VARIABLE} names this "
                    "folder. Name one that holds the IBM recordings <run>.csv, or unset both to "
                    "download them"
                )
