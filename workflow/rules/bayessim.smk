# BayesSim: simulations from the prior, their statistics, a density for each variant, a posterior.


rule training_set:
    input:
        trajectories=f"{EXPERIMENT}/trajectories.nc",
        fixed_from=fixed_from_file,
        prior_from=prior_from_file,
    output:
        f"{EXPERIMENT}/bayessim/training_set.nc",
    log:
        f"{EXPERIMENT}/bayessim/logs/training_set.log",
    benchmark:
        f"{EXPERIMENT}/bayessim/benchmarks/training_set.tsv"
    threads: 1
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        file=experiment_file,
        budget=SETTINGS.budget,
        options=options("training_set"),
        code=code("training_set"),
        fixed_from=lambda wildcards, input: named_file(input, "fixed_from"),
        prior_from=lambda wildcards, input: named_file(input, "prior_from"),
    message:
        "Simulating what BayesSim learns from, for {wildcards.experiment}; log: {log}"
    shell:
        pdsim(
            "training-set {params.file:q} --budget {params.budget:q} --trajectories {input.trajectories:q} "
            "--output {output:q} {params.fixed_from} {params.prior_from}"
        )


rule statistics:
    input:
        trajectories=f"{EXPERIMENT}/trajectories.nc",
        training_set=f"{EXPERIMENT}/bayessim/training_set.nc",
    output:
        f"{EXPERIMENT}/bayessim/statistics/{{statistic}}.nc",
    log:
        f"{EXPERIMENT}/bayessim/logs/statistics_{{statistic}}.log",
    benchmark:
        f"{EXPERIMENT}/bayessim/benchmarks/statistics_{{statistic}}.tsv"
    threads: 1
    resources:
        mem_mb=growing(4000),
        runtime=growing(30),
    params:
        file=experiment_file,
        budget=SETTINGS.budget,
        options=options("statistics"),
        code=code("statistics"),
    message:
        "Computing statistic {wildcards.statistic} for {wildcards.experiment}"
    shell:
        pdsim(
            "statistics {params.file:q} --budget {params.budget:q} --name {wildcards.statistic} "
            "--trajectories {input.trajectories:q} --training-set {input.training_set:q} "
            "--output {output:q}"
        )


rule train:
    input:
        statistics_file,
    output:
        f"{RUN}/density_model.nc",
    log:
        f"{RUN}/logs/train.log",
    benchmark:
        f"{RUN}/benchmarks/train.tsv"
    wildcard_constraints:
        run=TRAINED,
    threads: 1
    resources:
        mem_mb=growing(3000),
        runtime=growing(120),
    params:
        file=experiment_file,
        budget=SETTINGS.budget,
        options=options("train"),
        code=code("train"),
    message:
        "Training {wildcards.run} for {wildcards.experiment}, seed {wildcards.seed}; log: {log}"
    shell:
        pdsim(
            "train {params.file:q} --budget {params.budget:q} --run {wildcards.run:q} "
            "--seed {wildcards.seed} --statistics {input:q} --output {output:q}"
        )


rule condition:
    input:
        trajectories=f"{EXPERIMENT}/trajectories.nc",
        statistics=statistics_file,
        trained=f"{RUN}/density_model.nc",
        fixed_from=fixed_from_file,
        prior_from=prior_from_file,
    output:
        f"{RUN}/posterior.nc",
    log:
        f"{RUN}/logs/condition.log",
    benchmark:
        f"{RUN}/benchmarks/condition.tsv"
    wildcard_constraints:
        run=TRAINED,
    threads: 1
    resources:
        mem_mb=growing(3000),
        runtime=growing(30),
    params:
        file=experiment_file,
        budget=SETTINGS.budget,
        options=options("condition"),
        code=code("condition"),
        fixed_from=lambda wildcards, input: named_file(input, "fixed_from"),
        prior_from=lambda wildcards, input: named_file(input, "prior_from"),
    message:
        "Conditioning {wildcards.run} on the recording of {wildcards.experiment}"
    shell:
        pdsim(
            "condition {params.file:q} --budget {params.budget:q} --run {wildcards.run:q} "
            "--seed {wildcards.seed} --trajectories {input.trajectories:q} "
            "--statistics {input.statistics:q} --trained {input.trained:q} "
            "--output {output:q} {params.fixed_from} {params.prior_from}"
        )
