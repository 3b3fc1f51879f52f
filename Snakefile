from snakemake.utils import min_version

min_version("9.0")


configfile: "config/config.yaml"


# Used with --sdm apptainer only; jobs then need pdsim installed inside.
container: "docker://python:3.12-slim"


include: "workflow/rules/common.smk"
include: "workflow/rules/recordings.smk"
include: "workflow/rules/inference.smk"
include: "workflow/rules/metrics.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/bayessim.smk"
include: "workflow/rules/summary.smk"


# The targets: one for each group of experiments in config/config.yaml.
for group in SETTINGS.groups:

    rule:
        name:
            group
        input:
            group_files(group),
        message:
            f"Everything of group {group} is up to date"


# The likelihood-free variants of every experiment that has some: snakemake bayessim
rule bayessim:
    input:
        [
            path
            for experiment in EXPERIMENTS
            if trains(experiment)
            for path in (
                f"{RESULTS}/{experiment}/tables/table_3.csv",
                f"{RESULTS}/{experiment}/tables/table_1.csv",
                *bayessim_figures(experiment),
            )
        ],
    message:
        "Every BayesSim variant is up to date"


# The searches that chose the settings in the config: snakemake tune
rule tune:
    input:
        [
            f"{RESULTS}/{experiment}/tuning.csv"
            for experiment in EXPERIMENTS
            if tuning_files(experiment)
        ],
    message:
        "Every search is up to date"


default_target = next(iter(SETTINGS.groups))
