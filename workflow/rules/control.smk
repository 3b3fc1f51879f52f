# Experiments of kind control: each controller in closed loop, then table, figures and report.

CONTROL = f"{CONTROL_RESULTS}/{{controlled}}"


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


# A job keeps what is finished after each chunk, and goes on from there when it runs again.
rule control_loop:
    input:
        prior_from=belief_file,
    output:
        f"{CONTROL}/{{controller}}/log.nc",
    log:
        f"{CONTROL}/{{controller}}/logs/control.log",
    benchmark:
        f"{CONTROL}/{{controller}}/benchmarks/control.tsv"
    threads: 1
    resources:
        mem_mb=growing(3000),
        runtime=growing(480),
    params:
        file=control_file,
        budget=SETTINGS.control_budget,
        options=lambda wildcards: CONTROLLED[wildcards.controlled]
        .run(wildcards.controller, SETTINGS.control_budget)
        .model_dump_json(),
        code=control_code("control"),
        prior_from=lambda wildcards, input: named_file(input, "prior_from"),
    message:
        "Controlling {wildcards.controlled} by {wildcards.controller}; log: {log}"
    shell:
        pdsim(
            "control {params.file:q} --controller {wildcards.controller:q} "
            "--budget {params.budget:q} --output {output:q} --cores {threads} "
            "{params.prior_from}"
        )


rule control_table:
    input:
        control_logs,
    output:
        multiext(f"{CONTROL}/tables/", "laps.csv", "by_lap.csv", *TABLES[:3]),
    log:
        f"{CONTROL}/logs/table.log",
    benchmark:
        f"{CONTROL}/benchmarks/table.tsv"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        file=control_file,
        options=control_whole,
        code=control_code("control_table"),
        folder=subpath(output[0], parent=True),
    message:
        "Writing the table of {wildcards.controlled}"
    shell:
        pdsim(
            "control-table {params.file:q} --logs {input:q} --folder {params.folder:q}"
        )


rule control_laps:
    input:
        f"{CONTROL}/tables/laps.csv",
    output:
        png=f"{CONTROL}/figures/laps.png",
        pdf=f"{CONTROL}/figures/laps.pdf",
    log:
        f"{CONTROL}/logs/laps.log",
    benchmark:
        f"{CONTROL}/benchmarks/laps.tsv"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        file=control_file,
        options=control_whole,
        code=control_code("control_plot"),
        stem=subpath(output.png, strip_suffix=".png"),
    message:
        "Drawing the laps of {wildcards.controlled}"
    shell:
        pdsim(
            "control-plot laps {params.file:q} --file {input:q} --stem {params.stem:q}"
        )


rule control_path:
    input:
        pictured_log,
    output:
        png=f"{CONTROL}/figures/path.png",
        pdf=f"{CONTROL}/figures/path.pdf",
    log:
        f"{CONTROL}/logs/path.log",
    benchmark:
        f"{CONTROL}/benchmarks/path.tsv"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        file=control_file,
        options=control_whole,
        code=control_code("control_plot"),
        stem=subpath(output.png, strip_suffix=".png"),
    message:
        "Drawing the paths of {wildcards.controlled}"
    shell:
        pdsim(
            "control-plot path {params.file:q} --file {input:q} --stem {params.stem:q}"
        )


rule control_film:
    input:
        pictured_log,
    output:
        f"{CONTROL}/figures/film.gif",
    log:
        f"{CONTROL}/logs/film.log",
    benchmark:
        f"{CONTROL}/benchmarks/film.tsv"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(20),
    params:
        file=control_file,
        options=control_whole,
        code=control_code("control_plot"),
        stem=subpath(output[0], strip_suffix=".gif"),
    message:
        "Filming {wildcards.controlled}"
    shell:
        pdsim(
            "control-plot film {params.file:q} --file {input:q} --stem {params.stem:q}"
        )


rule control_report:
    input:
        logs=control_logs,
        figures=control_figures,
    output:
        report(
            f"{CONTROL}/report.html",
            caption="../report/report.rst",
            category="{controlled}",
            labels={"figure": "report"},
        ),
    log:
        f"{CONTROL}/logs/report.log",
    benchmark:
        f"{CONTROL}/benchmarks/report.tsv"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        file=control_file,
        options=control_whole,
        code=control_code("control_report"),
    message:
        "Writing {output}"
    shell:
        pdsim(
            "control-report {params.file:q} --logs {input.logs:q} "
            "--figures {input.figures:q} --output {output:q}"
        )
