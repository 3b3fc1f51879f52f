# Roll-outs of posteriors, and how well they match the recordings.


rule simulate:
    input:
        trajectories=f"{EXPERIMENT}/trajectories.nc",
        posterior=f"{RUN}/posterior.nc",
    output:
        f"{RUN}/rollouts.nc",
    log:
        f"{RUN}/logs/simulate.log",
    benchmark:
        f"{RUN}/benchmarks/simulate.tsv"
    threads: 1
    resources:
        mem_mb=growing(3000),
        runtime=growing(30),
    params:
        file=experiment_file,
        options=section("simulator", "precision"),
        code=code("simulate"),
    message:
        "Rolling out {wildcards.experiment}, {wildcards.method}, {wildcards.shooting} shooting, "
        "seed {wildcards.seed}"
    shell:
        "JAX_PLATFORMS=cpu pdsim simulate {params.file} --trajectories {input.trajectories} "
        "--posterior {input.posterior} --output {output} >{log} 2>&1 "
        "|| {{ cat {log} >&2; exit 2; }}"


rule evaluate:
    input:
        trajectories=f"{EXPERIMENT}/trajectories.nc",
        posterior=f"{RUN}/posterior.nc",
        rollouts=f"{RUN}/rollouts.nc",
    output:
        f"{RUN}/metrics.csv",
    log:
        f"{RUN}/logs/evaluate.log",
    benchmark:
        f"{RUN}/benchmarks/evaluate.tsv"
    threads: 1
    resources:
        mem_mb=growing(3000),
        runtime=growing(30),
    params:
        file=experiment_file,
        options=section("simulator", "recording", "likelihood"),
        code=code("evaluate"),
    message:
        "Scoring {wildcards.experiment}, {wildcards.method}, {wildcards.shooting} shooting, "
        "seed {wildcards.seed}"
    shell:
        "JAX_PLATFORMS=cpu pdsim evaluate {params.file} --method {wildcards.method} "
        "--shooting {wildcards.shooting} --seed {wildcards.seed} "
        "--trajectories {input.trajectories} --posterior {input.posterior} "
        "--rollouts {input.rollouts} --output {output} >{log} 2>&1 "
        "|| {{ cat {log} >&2; exit 2; }}"


rule course:
    input:
        trajectories=f"{EXPERIMENT}/trajectories.nc",
        posterior=f"{RUN}/posterior.nc",
    output:
        f"{RUN}/course.csv",
    log:
        f"{RUN}/logs/course.log",
    benchmark:
        f"{RUN}/benchmarks/course.tsv"
    threads: 1
    resources:
        mem_mb=growing(3000),
        runtime=growing(60),
    params:
        file=experiment_file,
        options=section("simulator", "recording", "likelihood", "precision"),
        code=code("course"),
    message:
        "Scoring the course of {wildcards.experiment}, {wildcards.method}, "
        "{wildcards.shooting} shooting, seed {wildcards.seed}"
    shell:
        "JAX_PLATFORMS=cpu pdsim course {params.file} --method {wildcards.method} "
        "--shooting {wildcards.shooting} --seed {wildcards.seed} "
        "--trajectories {input.trajectories} --posterior {input.posterior} "
        "--output {output} >{log} 2>&1 || {{ cat {log} >&2; exit 2; }}"


rule gather:
    input:
        # A course takes as long as all else of a run, so it is that of the first seed.
        lambda wildcards: run_files(
            wildcards.experiment,
            f"{wildcards.kind}.csv",
            first_seed=wildcards.kind == "course",
        )
        + (
            variant_files(wildcards.experiment, "metrics.csv")
            if wildcards.kind == "metrics"
            else []
        ),
    output:
        f"{EXPERIMENT}/{{kind}}.csv",
    log:
        f"{EXPERIMENT}/logs/gather_{{kind}}.log",
    benchmark:
        f"{EXPERIMENT}/benchmarks/gather_{{kind}}.tsv"
    wildcard_constraints:
        kind="metrics|course",
    threads: 1
    resources:
        mem_mb=growing(500),
        runtime=growing(10),
    params:
        code=lambda wildcards: code_fingerprint("pdsim.metrics.long_format"),
    message:
        "Gathering the {wildcards.kind} of {wildcards.experiment}"
    shell:
        "pdsim gather {input} --kind {wildcards.kind} --output {output} >{log} 2>&1 || {{ cat {log} >&2; exit 2; }}"
