# Tables and the report of an experiment.


rule table:
    input:
        f"{EXPERIMENT}/metrics.csv",
    output:
        multiext(
            f"{EXPERIMENT}/tables/",
            *(
                f"{name}.{suffix}"
                for name in ("comparison", "table_1", "table_2")
                for suffix in ("csv", "md", "tex")
            ),
        ),
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
        options=section("paper_table"),
        code=code("summarise"),
        folder=subpath(output[0], parent=True),
    message:
        "Writing the tables of {wildcards.experiment}"
    shell:
        "JAX_PLATFORMS=cpu pdsim table {params.file} --metrics {input} "
        "--folder {params.folder} >{log} 2>&1 || {{ cat {log} >&2; exit 2; }}"


# The same tables cut at a number of roll-outs: ask for tables/rollouts_100000/table_1.csv.
rule cut_table:
    input:
        f"{EXPERIMENT}/course.csv",
    output:
        multiext(
            f"{EXPERIMENT}/tables/rollouts_{{count}}/",
            *(
                f"{name}.{suffix}"
                for name in ("comparison", "table_1", "table_2")
                for suffix in ("csv", "md", "tex")
            ),
        ),
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
        options=section("paper_table"),
        code=code("summarise"),
        folder=subpath(output[0], parent=True),
    message:
        "Writing the tables of {wildcards.experiment} at {wildcards.count} roll-outs"
    shell:
        "JAX_PLATFORMS=cpu pdsim table {params.file} --metrics {input} "
        "--rollouts {wildcards.count} --folder {params.folder} >{log} 2>&1 "
        "|| {{ cat {log} >&2; exit 2; }}"


rule write_report:
    input:
        metrics=f"{EXPERIMENT}/metrics.csv",
        trajectories=f"{EXPERIMENT}/trajectories.nc",
        posteriors=lambda wildcards: run_files(wildcards.experiment, "posterior.nc")
        + variant_files(wildcards.experiment, "posterior.nc"),
        figures=lambda wildcards: figure_files(wildcards.experiment),
    output:
        report(
            f"{EXPERIMENT}/report.html",
            caption="../report/report.rst",
            category="{experiment}",
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
        options=section(
            "title",
            "description",
            "notes",
            "simulator",
            "recording",
            "paper_table",
            "runs",
            "bayessim",
            "seeds",
        ),
        code=code("summarise"),
    message:
        "Writing {output}"
    shell:
        "JAX_PLATFORMS=cpu pdsim report {params.file} --metrics {input.metrics} "
        "--trajectories {input.trajectories} --posteriors {input.posteriors} "
        "--figures {input.figures} --output {output} >{log} 2>&1 "
        "|| {{ cat {log} >&2; exit 2; }}"
