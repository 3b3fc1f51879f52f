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
        mem_mb=3000,
        runtime=30,
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
        mem_mb=3000,
        runtime=30,
    params:
        file=experiment_file,
        options=section("simulator", "likelihood"),
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


rule gather:
    input:
        lambda wildcards: run_files(wildcards.experiment, "metrics.csv"),
    output:
        f"{EXPERIMENT}/metrics.csv",
    log:
        f"{EXPERIMENT}/logs/gather.log",
    benchmark:
        f"{EXPERIMENT}/benchmarks/gather.tsv"
    threads: 1
    resources:
        mem_mb=500,
        runtime=10,
    params:
        code=code("evaluate"),
    message:
        "Gathering the metrics of {wildcards.experiment}"
    shell:
        "pdsim gather {input} --output {output} >{log} 2>&1 || {{ cat {log} >&2; exit 2; }}"
