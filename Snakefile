from snakemake.exceptions import WorkflowError
from snakemake.utils import min_version

from pdsim.experiment.workflow import check_file, workflow_config
from pdsim.runtime.errors import PdsimError

min_version("9.0")

try:
    workflow_config(check_file("config/config.yaml"), "config/config.yaml")
    # Those of --configfile Snakemake has read already.
    for path in workflow.configfiles:
        check_file(path)
except PdsimError as error:
    raise WorkflowError(str(error)) from None


configfile: "config/config.yaml"


# Used with --sdm apptainer only; jobs then need pdsim installed inside. `snakemake --lint` asks for one.
container: "docker://python:3.12-slim"


include: "workflow/rules/common.smk"
include: "workflow/rules/recordings.smk"
include: "workflow/rules/inference.smk"
include: "workflow/rules/bayessim.smk"
include: "workflow/rules/calibration.smk"
include: "workflow/rules/metrics.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/summary.smk"
include: "workflow/rules/common_control.smk"
include: "workflow/rules/control.smk"


# The targets: one for each group of experiments in config/config.yaml, or the one experiment asked
# for by --config experiment=<file>. The first is the default.
taken = {rule.name for rule in workflow.rules} | {"bayessim", "tune", "calibration"}
for group in GROUPS:
    if group in taken:
        raise WorkflowError(
            f"{group}: this is the name of a rule; give the group, or the experiment file, another"
        )

    rule:
        name:
            group
        default_target: group == next(iter(GROUPS))
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
                *figure_files(experiment, kept=lambda name: needs_bayessim(name)),
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


# Simulation-based calibration of every experiment that asks for it: snakemake calibration
rule calibration:
    input:
        [
            path
            for experiment in EXPERIMENTS
            if calibration_files(experiment)
            for path in (
                f"{RESULTS}/{experiment}/tables/calibration.csv",
                f"{RESULTS}/{experiment}/figures/sbc.png",
            )
        ],
    message:
        "Every calibration is up to date"
