# Shared by all rules. The checked config, and where files are.

import json
import os
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

from pdsim.bayessim.config import split_variant
from pdsim.config.experiment import load_experiment, workflow_config
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.provenance import code_fingerprint
from pdsim.recordings.ibm import FOLDER_VARIABLE, local_folder
from pdsim.stages import modules

# Jobs find the pdsim of the environment that runs Snakemake, activated or not. Every rule has one
# thread; XLA would take all cores.
shell.prefix(
    f'export PATH="{Path(sys.executable).parent}:$PATH" NPROC="${{{{NPROC:-1}}}}"; '
)

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
VARIANT = f"{EXPERIMENT}/bayessim/{{variant}}/seed{{seed}}"
VARIANTS = sorted(
    {
        variant
        for experiment in EXPERIMENTS.values()
        if experiment.bayessim
        for variant in experiment.bayessim.variants()
    }
)
IBM_FOLDER = local_folder(SETTINGS.ibm_dir)


wildcard_constraints:
    experiment="|".join(EXPERIMENTS),
    method="[a-z_]+",
    # Of BayesSim's runs the variant stands where others name their shooting.
    shooting="|".join(["single", "multiple", *VARIANTS]),
    variant="|".join(VARIANTS) or "none",
    statistic="[a-z]+",
    seed=r"\d+",
    run=r"\d+",


def experiment_file(wildcards):
    return f"{SETTINGS.experiment_dir}/{wildcards.experiment}.yaml"


def raw_runs(experiment):
    """Raw recordings of an experiment: its folder, or its runs in their order."""
    recording = EXPERIMENTS[experiment].recording
    if recording.source == "camera":
        return [f"{RESULTS}/{experiment}/recording"]
    folder = IBM_FOLDER or "data/ibm_double_pendulum"
    return [f"{folder}/{run}.csv" for run in recording.run_numbers()]


def run_files(experiment, name, first_seed=False):
    """One file of each run and seed of an experiment."""
    setup = EXPERIMENTS[experiment]
    count = 1 if first_seed else setup.budget(SETTINGS.budget).seed_count
    return [
        f"{RESULTS}/{experiment}/{run.method}/{run.shooting}/seed{seed}/{name}"
        for run in setup.runs
        for seed in setup.seeds[:count]
    ]


def trains(experiment):
    """Whether BayesSim's variants are part of an experiment, at this budget."""
    setup = EXPERIMENTS[experiment]
    return bool(setup.bayessim) and setup.budget(SETTINGS.budget).bayessim


def variant_files(experiment, name):
    """One file of each BayesSim variant of an experiment, with the first seed."""
    setup = EXPERIMENTS[experiment]
    if not trains(experiment):
        return []
    return [
        f"{RESULTS}/{experiment}/bayessim/{variant}/seed{setup.seeds[0]}/{name}"
        for variant in setup.bayessim.variants()
    ]


def statistics_file(experiment, variant):
    """The statistic a variant is trained on."""
    statistic, _ = split_variant(variant)
    return f"{RESULTS}/{experiment}/bayessim/statistics/{statistic}.nc"


def all_statistics(experiment):
    """Every statistic of an experiment."""
    return [
        f"{RESULTS}/{experiment}/bayessim/statistics/{statistic}.nc"
        for statistic in EXPERIMENTS[experiment].bayessim.statistics
    ]


def bayessim_figures(experiment):
    """The figures of BayesSim's variants."""
    names = ["statistics", "training", "calibration", "bayessim_densities"]
    two = len(EXPERIMENTS[experiment].simulator.parameters) == 2
    names += ["bayessim_posteriors"] if two else []
    return [f"{RESULTS}/{experiment}/figures/{name}.png" for name in names]


def figure_files(experiment):
    """The figures of an experiment's report, in its order; runs are shown with their first seed."""
    setup = EXPERIMENTS[experiment]
    names = ["course"] if setup.budget(SETTINGS.budget).course else []
    names += ["convergence", "densities"]
    names += ["landscape"] if setup.landscape else []
    names += ["posteriors"] if len(setup.simulator.parameters) == 2 else []
    figures = [f"{RESULTS}/{experiment}/figures/{name}.png" for name in names]
    for name in ("density.png", "posterior.png", "windows.png"):
        figures += [
            path
            for run, path in zip(setup.runs, run_files(experiment, name, True))
            if run.method in setup.detailed
            and not (name == "windows.png" and run.shooting == "single")
        ]
    if trains(experiment):
        figures += bayessim_figures(experiment)
    return figures


def group_files(group):
    """Everything a named target asks for."""
    return [
        f"{RESULTS}/{experiment}/{name}"
        for experiment in SETTINGS.groups[group]
        for name in ("report.html", "metrics.csv", "tables/table_1.csv")
    ]


def tuning_files(experiment):
    """One search of each run that has something to search."""
    return [
        f"{RESULTS}/{experiment}/{run.method}/{run.shooting}/tuning.csv"
        for run in EXPERIMENTS[experiment].runs
        if run.tune
    ]


def tuning_options(wildcards):
    """A param: what a search of settings depends on."""
    setup = EXPERIMENTS[wildcards.experiment]
    parts = setup.section("simulator", "likelihood", "tuning", "precision")
    run = setup.run(wildcards.method, wildcards.shooting)
    parts["run"] = run.model_dump(mode="json", exclude={"chosen"})
    return json.dumps(parts, sort_keys=True)


def bayessim_options(*names):
    """A param: what a job of BayesSim depends on, sections of the config or of ``bayessim``."""

    def chosen(wildcards):
        setup = EXPERIMENTS[wildcards.experiment]
        options = setup.bayessim_options(setup.budget(SETTINGS.budget))
        options |= options.pop("bayessim")
        return json.dumps({name: options[name] for name in names}, sort_keys=True)

    return chosen


def growing(amount):
    """A resource: once as much in the first attempt, twice in the second."""
    return lambda wildcards, attempt: attempt * amount


def section(*names):
    """A param: sections of the experiment's config that a rule depends on."""
    return lambda wildcards: json.dumps(
        EXPERIMENTS[wildcards.experiment].section(*names), sort_keys=True
    )


def code(stage):
    """A param: a hash of the library code that a rule depends on (Snakemake does not track it)."""

    def fingerprint(wildcards):
        method = wildcards.method if stage in ("infer", "tune") else ""
        system = ""
        if stage in (
            "infer",
            "simulate",
            "preprocess",
            "course",
            "tune",
            "training_set",
            "condition",
        ):
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
