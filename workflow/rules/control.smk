# Experiments of kind control: each controller in closed loop, then table, figures and report.

CONTROL = f"{CONTROL_RESULTS}/{{controlled}}"


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
