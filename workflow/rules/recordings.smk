# Raw recordings, and the trajectories cut out of them.


rule download:
    output:
        "data/ibm_double_pendulum/{number}.csv",
    log:
        f"{RESULTS}/logs/download/{{number}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/download/{{number}}.tsv"
    wildcard_constraints:
        number=r"\d+",
    retries: 2
    threads: 1
    resources:
        mem_mb=growing(200),
        runtime=growing(10),
    message:
        "Downloading run {wildcards.number} of the IBM recordings"
    shell:
        pdsim("download --run {wildcards.number} --output {output:q}")


rule record:
    output:
        directory(f"{EXPERIMENT}/recording"),
    log:
        f"{EXPERIMENT}/logs/record.log",
    benchmark:
        f"{EXPERIMENT}/benchmarks/record.tsv"
    threads: 1
    resources:
        mem_mb=growing(500),
        runtime=growing(10),
    params:
        file=experiment_file,
        options=options("record"),
        code=code("record"),
    message:
        "Recording {wildcards.experiment}"
    shell:
        pdsim("record {params.file:q} --output {output:q}")


rule preprocess:
    input:
        raw_runs,
    output:
        f"{EXPERIMENT}/trajectories.nc",
    log:
        f"{EXPERIMENT}/logs/preprocess.log",
    benchmark:
        f"{EXPERIMENT}/benchmarks/preprocess.tsv"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        file=experiment_file,
        folder=lambda wildcards: raw_folder(wildcards.experiment),
        options=options("preprocess"),
        code=code("preprocess"),
    message:
        "Cutting the trajectories of {wildcards.experiment}"
    shell:
        pdsim(
            "preprocess {params.file:q} --raw {params.folder:q} --output {output:q}"
        )
