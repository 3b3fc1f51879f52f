# Estimators. A job saves a checkpoint after each chunk and resumes from it when it runs again.


rule infer:
    input:
        trajectories=f"{EXPERIMENT}/trajectories.nc",
        fixed_from=fixed_from_file,
        prior_from=prior_from_file,
    output:
        f"{RUN}/posterior.nc",
    log:
        f"{RUN}/logs/infer.log",
    benchmark:
        f"{RUN}/benchmarks/infer.tsv"
    wildcard_constraints:
        run=ESTIMATED,
    # Particles and chains are split among them; a profile sets more: set-threads: {infer: 4}.
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
        options=options("infer"),
        code=code("infer"),
        fixed_from=lambda wildcards, input: named_file(input, "fixed_from"),
        prior_from=lambda wildcards, input: named_file(input, "prior_from"),
    message:
        "Estimating {wildcards.experiment}, {wildcards.run}, seed {wildcards.seed}; log: {log}"
    shell:
        pdsim(
            "infer {params.file:q} --run {wildcards.run:q} --seed {wildcards.seed} "
            "--budget {params.budget:q} --trajectories {input.trajectories:q} "
            "--output {output:q} --cores {threads} {params.fixed_from} {params.prior_from}",
            platforms="{resources.jax_platforms}",
        )


# The search of settings: on the training recordings alone.


rule tune_run:
    input:
        trajectories=f"{EXPERIMENT}/trajectories.nc",
        fixed_from=fixed_from_file,
        prior_from=prior_from_file,
    output:
        f"{EXPERIMENT}/{{run}}/tuning.csv",
    log:
        f"{EXPERIMENT}/{{run}}/logs/tune.log",
    benchmark:
        f"{EXPERIMENT}/{{run}}/benchmarks/tune.tsv"
    wildcard_constraints:
        run=ESTIMATED,
    threads: 1
    resources:
        mem_mb=growing(3000),
        runtime=growing(240),
    params:
        file=experiment_file,
        options=options("tune"),
        code=code("tune"),
        fixed_from=lambda wildcards, input: named_file(input, "fixed_from"),
        prior_from=lambda wildcards, input: named_file(input, "prior_from"),
    message:
        "Searching settings of {wildcards.run} for {wildcards.experiment}; log: {log}"
    shell:
        pdsim(
            "tune {params.file:q} --run {wildcards.run:q} --trajectories {input.trajectories:q} "
            "--output {output:q} {params.fixed_from} {params.prior_from}"
        )


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
        pdsim("gather {input:q} --kind tuning --output {params.stem:q}")
