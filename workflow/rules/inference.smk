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
    threads: 1
    resources:
        mem_mb=3000,
        runtime=240,
        # A profile for machines with a GPU sets gpu=1 and jax_platforms="cuda,cpu".
        gpu=0,
        jax_platforms="cpu",
    params:
        file=experiment_file,
        budget=SETTINGS.budget,
        options=lambda wildcards: json.dumps(
            EXPERIMENTS[wildcards.experiment].inference_options(
                wildcards.method, SETTINGS.budget
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
