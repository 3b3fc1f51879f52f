# Tables and the report of an experiment.

TABLES = [
    f"{name}.{suffix}"
    for name in ("comparison", "table_1", "table_2")
    for suffix in ("csv", "md", "tex")
]


rule table:
    input:
        f"{EXPERIMENT}/metrics.csv",
    output:
        multiext(f"{EXPERIMENT}/tables/", *TABLES),
    log:
        f"{EXPERIMENT}/logs/table.log",
    benchmark:
        f"{EXPERIMENT}/benchmarks/table.tsv"
    threads: 1
    resources:
        mem_mb=growing(500),
        runtime=growing(10),
    params:
        file=experiment_file,
        options=options("table"),
        code=code("table"),
        folder=subpath(output[0], parent=True),
    message:
        "Writing the tables of {wildcards.experiment}"
    shell:
        pdsim("table {params.file:q} --metrics {input:q} --folder {params.folder:q}")


# The same tables cut at a number of roll-outs: ask for tables/rollouts_100000/table_1.csv.
rule cut_table:
    input:
        f"{EXPERIMENT}/learning_curve.csv",
    output:
        multiext(f"{EXPERIMENT}/tables/rollouts_{{count}}/", *TABLES),
    log:
        f"{EXPERIMENT}/logs/table_{{count}}.log",
    benchmark:
        f"{EXPERIMENT}/benchmarks/table_{{count}}.tsv"
    wildcard_constraints:
        count=r"\d+",
    threads: 1
    resources:
        mem_mb=growing(500),
        runtime=growing(10),
    params:
        file=experiment_file,
        options=options("table"),
        code=code("table"),
        folder=subpath(output[0], parent=True),
    message:
        "Writing the tables of {wildcards.experiment} at {wildcards.count} roll-outs"
    shell:
        pdsim(
            "table {params.file:q} --metrics {input:q} --rollouts {wildcards.count} "
            "--folder {params.folder:q}"
        )


rule table_3:
    input:
        f"{EXPERIMENT}/metrics.csv",
    output:
        multiext(f"{EXPERIMENT}/tables/table_3", ".csv", ".md", ".tex"),
    log:
        f"{EXPERIMENT}/logs/table_3.log",
    benchmark:
        f"{EXPERIMENT}/benchmarks/table_3.tsv"
    threads: 1
    resources:
        mem_mb=growing(500),
        runtime=growing(10),
    params:
        file=experiment_file,
        options=options("table"),
        code=code("table"),
        stem=subpath(output[0], strip_suffix=".csv"),
    message:
        "Writing Table III of {wildcards.experiment}"
    shell:
        pdsim("table {params.file:q} --metrics {input:q} --table-3 {params.stem:q}")


rule preflight:
    input:
        trajectories=f"{EXPERIMENT}/trajectories.nc",
        fixed_from=fixed_from_file,
    output:
        f"{EXPERIMENT}/preflight.json",
    log:
        f"{EXPERIMENT}/logs/preflight.log",
    benchmark:
        f"{EXPERIMENT}/benchmarks/preflight.tsv"
    threads: 1
    resources:
        mem_mb=growing(3000),
        runtime=growing(60),
    params:
        file=experiment_file,
        budget=SETTINGS.budget,
        options=options("preflight"),
        code=code("preflight"),
        fixed_from=lambda wildcards, input: named_file(input, "fixed_from"),
    message:
        "Looking at what {wildcards.experiment} can find"
    shell:
        pdsim(
            "preflight {params.file:q} --budget {params.budget:q} "
            "--trajectories {input.trajectories:q} --output {output:q} {params.fixed_from}"
        )


rule write_report:
    input:
        metrics=f"{EXPERIMENT}/metrics.csv",
        trajectories=f"{EXPERIMENT}/trajectories.nc",
        preflight=f"{EXPERIMENT}/preflight.json",
        posteriors=lambda wildcards: run_files(wildcards.experiment, "posterior.nc")
        + variant_files(wildcards.experiment, "posterior.nc"),
        figures=lambda wildcards: figure_files(wildcards.experiment),
    output:
        report(
            f"{EXPERIMENT}/report.html",
            caption="../report/report.rst",
            category="{experiment}",
            labels={"figure": "report"},
        ),
    log:
        f"{EXPERIMENT}/logs/report.log",
    benchmark:
        f"{EXPERIMENT}/benchmarks/report.tsv"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        file=experiment_file,
        options=options("report"),
        code=code("report"),
    message:
        "Writing {output}"
    shell:
        pdsim(
            "report {params.file:q} --metrics {input.metrics:q} "
            "--trajectories {input.trajectories:q} --preflight {input.preflight:q} "
            "--posteriors {input.posteriors:q} "
            "--figures {input.figures:q} --output {output:q}"
        )
