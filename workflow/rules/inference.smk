# Estimators. A job saves a checkpoint after each chunk and resumes from it when it runs again.


rule infer:
    input:
        f"{EXPERIMENT}/trajectories.nc",
    output:
        f"{RUN}/posterior.nc",
    log:
        f"{RUN}/logs/infer.log",
    benchmark:
        f"{RUN}/benchmarks/infer.tsv"
    wildcard_constraints:
        shooting="single|multiple",
    threads: 1
    resources:
        mem_mb=growing(3000),
        runtime=growing(240),
        # A profile for machines with a GPU sets gpu=1 and jax_platforms="cuda,cpu".
        gpu=0,
        jax_platforms="cpu",
    params:
        file=experiment_file,
        budget=SETTINGS.budget,
        options=lambda wildcards: json.dumps(
            EXPERIMENTS[wildcards.experiment].inference_options(
                wildcards.method,
                wildcards.shooting,
                EXPERIMENTS[wildcards.experiment].budget(SETTINGS.budget),
            ),
            sort_keys=True,
        ),
        code=code("infer"),
    message:
        "Estimating {wildcards.experiment} with {wildcards.method}, "
        "{wildcards.shooting} shooting, seed {wildcards.seed}"
    shell:
        "JAX_PLATFORMS={resources.jax_platforms} pdsim infer {params.file} "
        "--method {wildcards.method} --shooting {wildcards.shooting} --seed {wildcards.seed} "
        "--budget {params.budget} --trajectories {input} --output {output} >{log} 2>&1 "
        "|| {{ cat {log} >&2; exit 2; }}"


# The search of settings: on the training recordings alone.


rule tune_run:
    input:
        f"{EXPERIMENT}/trajectories.nc",
    output:
        f"{EXPERIMENT}/{{method}}/{{shooting}}/tuning.csv",
    log:
        f"{EXPERIMENT}/{{method}}/{{shooting}}/logs/tune.log",
    benchmark:
        f"{EXPERIMENT}/{{method}}/{{shooting}}/benchmarks/tune.tsv"
    threads: 1
    resources:
        mem_mb=growing(3000),
        runtime=growing(240),
    params:
        file=experiment_file,
        options=lambda wildcards: tuning_options(wildcards),
        code=code("tune"),
    message:
        "Searching settings of {wildcards.method}, {wildcards.shooting} shooting, for "
        "{wildcards.experiment}"
    shell:
        "JAX_PLATFORMS=cpu pdsim tune {params.file} --method {wildcards.method} "
        "--shooting {wildcards.shooting} --trajectories {input} --output {output} >{log} 2>&1 "
        "|| {{ cat {log} >&2; exit 2; }}"


rule gather_tuning:
    input:
        lambda wildcards: tuning_files(wildcards.experiment),
    output:
        multiext(f"{EXPERIMENT}/tuning", ".csv", ".md"),
    log:
        f"{EXPERIMENT}/logs/gather_tuning.log",
    benchmark:
        f"{EXPERIMENT}/benchmarks/gather_tuning.tsv"
    threads: 1
    resources:
        mem_mb=growing(500),
        runtime=growing(10),
    params:
        code=lambda wildcards: code_fingerprint("pdsim.stages.tune"),
        stem=subpath(output[0], strip_suffix=".csv"),
    message:
        "Gathering the searches of {wildcards.experiment}"
    shell:
        "pdsim gather {input} --kind tuning --output {params.stem} >{log} 2>&1 "
        "|| {{ cat {log} >&2; exit 2; }}"
