# Shared by all rules. The checked config, and where files are.

import json
import os
import re
import shlex
import sys
from pathlib import Path

from pdsim import registry
from pdsim.experiment.load import load_any
from pdsim.experiment.model import ExperimentConfig
from pdsim.experiment.slices import slice_of
from pdsim.experiment.workflow import check_paths, workflow_config
from pdsim.recordings.ibm import FOLDER_VARIABLE, local_folder
from pdsim.runtime.provenance import code_fingerprint
from pdsim.stages import modules

try:
    SETTINGS = workflow_config(config, "config/config.yaml")
    FILES = SETTINGS.files()
    SETUPS = {name: load_any(path) for name, path in FILES.items()}
    # Of kind identification, and of kind control: each has rules and a budget of its own.
    EXPERIMENTS = {
        name: setup
        for name, setup in SETUPS.items()
        if isinstance(setup, ExperimentConfig)
    }
    CONTROLLED = {
        name: setup for name, setup in SETUPS.items() if name not in EXPERIMENTS
    }
    for name, experiment in EXPERIMENTS.items():
        experiment.budget(SETTINGS.budget)
        check_paths(experiment, FILES[name])
    for experiment in CONTROLLED.values():
        experiment.budget(SETTINGS.control_budget)
except PdsimError as error:
    raise WorkflowError(str(error)) from None

GROUPS = SETTINGS.chosen()
# The paper budget's results are results/<experiment>; another budget's stand beside them.
RESULTS = (
    SETTINGS.results
    if SETTINGS.budget == "paper"
    else f"{SETTINGS.results}/{SETTINGS.budget}"
)
# Of experiments of kind control: a folder for each of their budgets.
CONTROL_RESULTS = f"{SETTINGS.results}/{SETTINGS.control_budget}"
EXPERIMENT = f"{RESULTS}/{{experiment}}"
RUN = f"{EXPERIMENT}/{{run}}/seed{{seed}}"
IBM_FOLDER = local_folder(SETTINGS.ibm_dir)
FIGURES = {
    name: registry.load("figures", name).FIGURE for name in registry.NAMES["figures"]
}


def one_of(names):
    """A pattern that matches these names and no others."""
    return "|".join(sorted(map(re.escape, set(names)))) or "(?!)"


ESTIMATED = one_of(
    run.identity.run for setup in EXPERIMENTS.values() for run in setup.runs
)
TRAINED = one_of(
    variant.run for setup in EXPERIMENTS.values() for variant in setup.variants()
)


wildcard_constraints:
    experiment=one_of(EXPERIMENTS),
    run=f"{ESTIMATED}|{TRAINED}",
    controlled=one_of(CONTROLLED),
    statistic="[a-z]+",
    seed=r"\d+",


# Jobs find the pdsim of the environment that runs Snakemake, activated or not. Every rule has one
# thread; XLA would take all cores. What a job says goes to its log; of a job that fails the end is
# shown, and its exit status stays.
shell.prefix(
    f'export PATH={shlex.quote(str(Path(sys.executable).parent))}:"$PATH" '
    'NPROC="${{NPROC:-1}}"; '
    'logged() {{ local log="$1" status=0; shift; "$@" >"$log" 2>&1 || status=$?; '
    'if [ "$status" -ne 0 ]; then tail -n 40 "$log" >&2; fi; return "$status"; }}; '
)


def pdsim(arguments, platforms="cpu"):
    """A rule's command: a verb of the command line with its arguments."""
    return f"JAX_PLATFORMS={platforms} logged {{log:q}} pdsim {arguments}"


def experiment_file(wildcards):
    return FILES[wildcards.experiment]


def raw_folder(experiment):
    """Where the raw runs of an experiment are."""
    setup = EXPERIMENTS[experiment]
    if hasattr(setup.source, "make"):
        return f"{RESULTS}/{experiment}/recording"
    if setup.recording.source == "ibm":
        return IBM_FOLDER or "data/ibm_double_pendulum"
    return str(setup.folder)


def raw_runs(wildcards):
    """Raw recordings of an experiment: its folder, or its runs."""
    setup, folder = (
        EXPERIMENTS[wildcards.experiment],
        raw_folder(wildcards.experiment),
    )
    if hasattr(setup.source, "make"):
        return [folder]
    paths = list(setup.source.files(setup.recording, folder).values())
    missing = [path for path in paths if not Path(path).is_file()]
    if setup.recording.source == "ibm":
        if missing and IBM_FOLDER:
            raise WorkflowError(
                f"{missing[0]}: no such file, but ibm_dir or {FOLDER_VARIABLE} names this folder. "
                "Name one that holds the IBM recordings <run>.csv, or unset both to download them"
            )
    elif missing:
        raise WorkflowError(
            f"{missing[0]}: no such file, but {FILES[wildcards.experiment]} names it. Relative "
            "names are looked for beside that file, then in PDSIM_DATA_DIR, then in data"
        )
    return paths


def seeds_of(experiment, first_seed=False):
    """The seeds of an experiment's runs at this budget."""
    setup = EXPERIMENTS[experiment]
    count = 1 if first_seed else setup.budget(SETTINGS.budget).seed_count
    return setup.seeds[:count]


def run_files(experiment, name, first_seed=False):
    """One file of each estimator's run and seed of an experiment."""
    return [
        f"{RESULTS}/{experiment}/{run.identity.run}/seed{seed}/{name}"
        for run in EXPERIMENTS[experiment].planned(SETTINGS.budget)
        for seed in seeds_of(experiment, first_seed)
    ]


def reference_file(wildcards):
    """An input: the reference posterior of an experiment, if it has one."""
    setup = EXPERIMENTS[wildcards.experiment]
    if setup.reference is None:
        return []
    folder = f"{RESULTS}/{wildcards.experiment}/{setup.reference}"
    return f"{folder}/seed{setup.seeds[0]}/posterior.nc"


def earlier_posterior(earlier, where):
    """An input: the posterior of another experiment, if one is asked for by the key `where`."""
    if earlier is None:
        return []
    if earlier.experiment not in EXPERIMENTS:
        raise WorkflowError(
            f"{where}.experiment: no group of config/config.yaml that is run names "
            f"{earlier.experiment}; run both by their group"
        )
    return (
        f"{RESULTS}/{earlier.experiment}/{earlier.run}/seed{earlier.seed}/posterior.nc"
    )


def fixed_from_file(wildcards):
    """An input: the posterior of an earlier experiment that this one takes numbers from, if any."""
    return earlier_posterior(
        EXPERIMENTS[wildcards.experiment].simulator.fixed_from,
        f"{FILES[wildcards.experiment]}: simulator.fixed_from",
    )


def prior_from_file(wildcards):
    """An input: the posterior of an earlier experiment that is the prior of this one, if any."""
    return earlier_posterior(
        EXPERIMENTS[wildcards.experiment].simulator.prior_from,
        f"{FILES[wildcards.experiment]}: simulator.prior_from",
    )


def named_file(input, name):
    """An option of a command for an input that may be missing, quoted."""
    path = input.get(name)
    return shlex.join([f"--{name.replace('_', '-')}", path]) if path else ""


def trains(experiment):
    """Whether BayesSim's variants are part of an experiment, at this budget."""
    setup = EXPERIMENTS[experiment]
    return bool(setup.bayessim) and setup.budget(SETTINGS.budget).bayessim


def variant_files(experiment, name):
    """One file of each BayesSim variant of an experiment, with the first seed."""
    setup = EXPERIMENTS[experiment]
    variants = setup.variants() if trains(experiment) else []
    return [
        f"{RESULTS}/{experiment}/{variant.run}/seed{setup.seeds[0]}/{name}"
        for variant in variants
    ]


def all_statistics(experiment):
    """Every statistic of an experiment."""
    return [
        f"{RESULTS}/{experiment}/bayessim/statistics/{statistic}.nc"
        for statistic in EXPERIMENTS[experiment].bayessim.statistics
    ]


def needs_bayessim(name):
    """Whether a figure is one of BayesSim's variants."""
    return FIGURES[name].members == "variants"


def figure_files(experiment, kept=lambda name: True):
    """The figures of an experiment's report, in its order; runs are shown with their first seed."""
    setup = EXPERIMENTS[experiment]
    budget, seed = setup.budget(SETTINGS.budget), setup.seeds[0]
    files = []
    for name, figure in FIGURES.items():
        if not kept(name):
            continue
        if not figure.of_each_run:
            if figure.applies(setup, budget, None):
                files.append(
                    f"{RESULTS}/{experiment}/figures/{name}.{figure.suffixes[0]}"
                )
            continue
        files += [
            f"{RESULTS}/{experiment}/{run.identity.run}/seed{seed}/{name}.{figure.suffixes[0]}"
            for run in setup.planned(SETTINGS.budget)
            if figure.applies(setup, budget, run.identity)
        ]
    return files


def group_files(group):
    """Everything a named target asks for."""
    kinds = {
        experiment: (
            (
                f"{CONTROL_RESULTS}/{experiment}",
                ("report.html", "tables/comparison.csv"),
            )
            if experiment in CONTROLLED
            else (
                f"{RESULTS}/{experiment}",
                ("report.html", "metrics.csv", "tables/table_1.csv"),
            )
        )
        for experiment in GROUPS[group]
    }
    return [f"{folder}/{name}" for folder, names in kinds.values() for name in names]


def statistics_file(wildcards):
    """The statistic a variant is trained on."""
    _, statistic, _ = wildcards.run.split("_", 2)
    return f"{RESULTS}/{wildcards.experiment}/bayessim/statistics/{statistic}.nc"


def prediction_file(wildcards):
    """The prediction of a run, where its experiment has that section."""
    if EXPERIMENTS[wildcards.experiment].prediction is None:
        return {}
    return {"prediction": f"{RUN}/prediction.nc".format(**wildcards)}


def parts(wildcards):
    """What is gathered; learning curves take as long as all else, so they are of the first seed."""
    curves = wildcards.kind == "learning_curve"
    files = run_files(wildcards.experiment, f"{wildcards.kind}.csv", curves)
    if not curves:
        files += variant_files(wildcards.experiment, "metrics.csv")
    return files


def tuning_files(experiment):
    """One search of each run that has something to search."""
    return [
        f"{RESULTS}/{experiment}/{run.identity.run}/tuning.csv"
        for run in EXPERIMENTS[experiment].runs
        if run.tune
    ]


def calibration_files(experiment):
    """The ranks of each run whose model data can be simulated from."""
    return [
        f"{RESULTS}/{experiment}/calibration/{identity.run}.nc"
        for identity in EXPERIMENTS[experiment].calibrated()
    ]


def growing(amount):
    """A resource: once as much in the first attempt, twice in the second."""
    return lambda wildcards, attempt: attempt * amount


def options(stage):
    """A param: the slice of the experiment's config that a stage depends on."""

    def chosen(wildcards):
        part = slice_of(
            stage,
            EXPERIMENTS[wildcards.experiment],
            run=getattr(wildcards, "run", ""),
            budget=SETTINGS.budget,
        )
        return part.model_dump_json()

    return chosen


def sections(*names):
    """A param: sections of the experiment's config that a rule depends on."""
    return lambda wildcards: EXPERIMENTS[wildcards.experiment].sections(*names)


# Stages whose result depends on the code of the system, and of the source.
_SIMULATING = (
    "preflight",
    "infer",
    "simulate",
    "predict",
    "learning_curve",
    "tune",
    "training_set",
    "condition",
    "calibrate",
)
_READING = ("record", "preprocess")


def code(stage, figure=""):
    """A param: a hash of the library code that a rule depends on (Snakemake does not track it)."""

    def fingerprint(wildcards):
        setup = EXPERIMENTS[wildcards.experiment]
        estimates = stage in ("infer", "tune", "calibrate")
        simulates = (
            stage in _SIMULATING
            or (
                stage == "record"
                and setup.recording.source in ("simulated", "arm_path")
            )
            # States that are fitted to functions of them are fitted with the system's code.
            or (stage == "preprocess" and setup.recording.fitted_states is not None)
        )
        # A figure that is given the simulator may simulate.
        drawn = figure and "simulator" in FIGURES[figure].sections
        return code_fingerprint(
            *modules(
                stage,
                system=setup.simulator.system if simulates or drawn else "",
                method=setup.run(wildcards.run).method if estimates else "",
                source=setup.recording.source if stage in _READING else "",
                figure=figure,
                earlier=bool(simulates or drawn)
                and (setup.simulator.fixed_from or setup.simulator.prior_from)
                is not None,
            )
        )

    return fingerprint
