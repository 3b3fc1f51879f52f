# Shared by the rules of experiments of kind control: inputs and params.


def control_file(wildcards):
    return FILES[wildcards.controlled]


def belief_file(wildcards):
    """An input: the posterior that a controller's belief starts from, if any."""
    return earlier_posterior(
        CONTROLLED[wildcards.controlled].controller(wildcards.controller).prior_from,
        f"{FILES[wildcards.controlled]}: prior_from",
    )


def control_logs(wildcards):
    """An input: the log of each controller."""
    return [
        f"{CONTROL_RESULTS}/{wildcards.controlled}/{one.name}/log.nc"
        for one in CONTROLLED[wildcards.controlled].controllers
    ]


def control_figures(wildcards):
    """An input: the figures of the report, in its order."""
    setup = CONTROLLED[wildcards.controlled]
    names = ["path.png", "laps.png"]
    if setup.budget(SETTINGS.control_budget).film:
        names.append("film.gif")
    return [
        f"{CONTROL_RESULTS}/{wildcards.controlled}/figures/{name}" for name in names
    ]


def control_whole(wildcards):
    """A param: all an experiment says, for the stages after the simulations."""
    return CONTROLLED[wildcards.controlled].model_dump_json(exclude={"budgets"})


def control_code(stage):
    """A param: a hash of the library code that a stage depends on."""
    return lambda wildcards: code_fingerprint(
        f"pdsim.stages.{stage}",
        registry.module_name(
            "control.tasks", CONTROLLED[wildcards.controlled].task.name
        ),
    )


def pictured_log(wildcards):
    """An input: the log of the controller whose path is shown."""
    name = CONTROLLED[wildcards.controlled].pictured
    return f"{CONTROL_RESULTS}/{wildcards.controlled}/{name}/log.nc"
