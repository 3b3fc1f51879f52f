# Simulation-based calibration: each estimator on many data sets drawn from the prior.


# A job keeps what is finished after each data set, and goes on from there when it runs again.
rule calibrate:
    input:
        f"{EXPERIMENT}/trajectories.nc",
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
    message:
        "Calibrating {wildcards.run} for {wildcards.experiment}"
    shell:
        pdsim(
            "calibrate {params.file:q} --run {wildcards.run:q} --trajectories {input:q} "
            "--output {output:q}"
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
