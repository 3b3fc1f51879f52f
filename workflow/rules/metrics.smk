# Roll-outs of posteriors, and how well they match the recordings.


rule simulate:
    input:
        trajectories=f"{EXPERIMENT}/trajectories.nc",
        posterior=f"{RUN}/posterior.nc",
        fixed_from=fixed_from_file,
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
        options=options("simulate"),
        code=code("simulate"),
        fixed_from=lambda wildcards, input: named_file(input, "fixed_from"),
    message:
        "Rolling out {wildcards.experiment}, {wildcards.run}, seed {wildcards.seed}"
    shell:
        pdsim(
            "simulate {params.file:q} --trajectories {input.trajectories:q} "
            "--posterior {input.posterior:q} --output {output:q} {params.fixed_from}"
        )


rule predict:
    input:
        trajectories=f"{EXPERIMENT}/trajectories.nc",
        posterior=f"{RUN}/posterior.nc",
        fixed_from=fixed_from_file,
    output:
        f"{RUN}/prediction.nc",
    log:
        f"{RUN}/logs/predict.log",
    benchmark:
        f"{RUN}/benchmarks/predict.tsv"
    threads: 1
    resources:
        mem_mb=growing(3000),
        runtime=growing(30),
    params:
        file=experiment_file,
        options=options("predict"),
        code=code("predict"),
        fixed_from=lambda wildcards, input: named_file(input, "fixed_from"),
    message:
        "Predicting from a prefix: {wildcards.experiment}, {wildcards.run}, seed {wildcards.seed}"
    shell:
        pdsim(
            "predict {params.file:q} --seed {wildcards.seed} "
            "--trajectories {input.trajectories:q} --posterior {input.posterior:q} "
            "--output {output:q} {params.fixed_from}"
        )


rule evaluate:
    input:
        unpack(prediction_file),
        trajectories=f"{EXPERIMENT}/trajectories.nc",
        posterior=f"{RUN}/posterior.nc",
        rollouts=f"{RUN}/rollouts.nc",
        reference=reference_file,
        fixed_from=fixed_from_file,
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
        options=options("evaluate"),
        code=code("evaluate"),
        prediction=lambda wildcards, input: named_file(input, "prediction"),
        reference=lambda wildcards, input: named_file(input, "reference"),
        fixed_from=lambda wildcards, input: named_file(input, "fixed_from"),
    message:
        "Scoring {wildcards.experiment}, {wildcards.run}, seed {wildcards.seed}"
    shell:
        pdsim(
            "evaluate {params.file:q} --run {wildcards.run:q} --seed {wildcards.seed} "
            "--trajectories {input.trajectories:q} --posterior {input.posterior:q} "
            "--rollouts {input.rollouts:q} {params.prediction} {params.reference} "
            "--output {output:q} {params.fixed_from}"
        )


rule learning_curve:
    input:
        trajectories=f"{EXPERIMENT}/trajectories.nc",
        posterior=f"{RUN}/posterior.nc",
        fixed_from=fixed_from_file,
    output:
        f"{RUN}/learning_curve.csv",
    log:
        f"{RUN}/logs/learning_curve.log",
    benchmark:
        f"{RUN}/benchmarks/learning_curve.tsv"
    threads: 1
    resources:
        mem_mb=growing(3000),
        runtime=growing(60),
    params:
        file=experiment_file,
        options=options("learning_curve"),
        code=code("learning_curve"),
        fixed_from=lambda wildcards, input: named_file(input, "fixed_from"),
    message:
        "Scoring the learning curve of {wildcards.experiment}, {wildcards.run}, seed {wildcards.seed}"
    shell:
        pdsim(
            "learning-curve {params.file:q} --run {wildcards.run:q} --seed {wildcards.seed} "
            "--trajectories {input.trajectories:q} --posterior {input.posterior:q} "
            "--output {output:q} {params.fixed_from}"
        )


rule gather:
    input:
        parts,
    output:
        f"{EXPERIMENT}/{{kind}}.csv",
    log:
        f"{EXPERIMENT}/logs/gather_{{kind}}.log",
    benchmark:
        f"{EXPERIMENT}/benchmarks/gather_{{kind}}.tsv"
    wildcard_constraints:
        kind="metrics|learning_curve",
    threads: 1
    resources:
        mem_mb=growing(500),
        runtime=growing(10),
    params:
        code=lambda wildcards: code_fingerprint("pdsim.metrics.long_format"),
    message:
        "Gathering the {wildcards.kind} of {wildcards.experiment}"
    shell:
        pdsim("gather {input:q} --kind {wildcards.kind} --output {output:q}")
