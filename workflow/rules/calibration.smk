# Simulation-based calibration: each estimator on many data sets drawn from the prior.


# A job keeps what is finished after each data set, and goes on from there when it runs again.
rule calibrate:
    input:
        trajectories=f"{EXPERIMENT}/trajectories.nc",
        fixed_from=fixed_from_file,
        prior_from=prior_from_file,
    output:
        f"{EXPERIMENT}/calibration/{{run}}.nc",
    log:
        f"{EXPERIMENT}/calibration/logs/{{run}}.log",
    benchmark:
        f"{EXPERIMENT}/calibration/benchmarks/{{run}}.tsv"
    wildcard_constraints:
        run=ESTIMATED,
    threads: 1
    resources:
        mem_mb=growing(3000),
        runtime=growing(480),
    params:
        file=experiment_file,
        options=options("calibrate"),
        code=code("calibrate"),
        fixed_from=lambda wildcards, input: named_file(input, "fixed_from"),
        prior_from=lambda wildcards, input: named_file(input, "prior_from"),
    message:
        "Calibrating {wildcards.run} for {wildcards.experiment}; log: {log}"
    shell:
        pdsim(
            "calibrate {params.file:q} --run {wildcards.run:q} --trajectories {input.trajectories:q} "
            "--output {output:q} {params.fixed_from} {params.prior_from}"
        )


rule gather_calibration:
    input:
        lambda wildcards: calibration_files(wildcards.experiment),
    output:
        multiext(f"{EXPERIMENT}/tables/calibration", ".csv", ".md", "_parameters.csv"),
    log:
        f"{EXPERIMENT}/logs/gather_calibration.log",
    benchmark:
        f"{EXPERIMENT}/benchmarks/gather_calibration.tsv"
    threads: 1
    resources:
        mem_mb=growing(500),
        runtime=growing(10),
    params:
        code=lambda wildcards: code_fingerprint("pdsim.tables.calibration"),
        stem=subpath(output[0], strip_suffix=".csv"),
    message:
        "Gathering the calibration of {wildcards.experiment}"
    shell:
        pdsim("gather {input:q} --kind calibration --output {params.stem:q}")
