# Raw recordings, and the trajectories cut out of them.


rule download:
    output:
        "data/ibm_double_pendulum/{run}.csv",
    log:
        f"{RESULTS}/logs/download/{{run}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/download/{{run}}.tsv"
    retries: 2
    threads: 1
    resources:
        mem_mb=growing(200),
        runtime=growing(10),
    message:
        "Downloading run {wildcards.run} of the IBM recordings"
    shell:
        "pdsim download --run {wildcards.run} --output {output} >{log} 2>&1 "
        "|| {{ cat {log} >&2; exit 2; }}"


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
        options=section("recording"),
        code=code("record"),
    message:
        "Recording {wildcards.experiment} with a synthetic camera"
    shell:
        "pdsim record {params.file} --output {output} >{log} 2>&1 "
        "|| {{ cat {log} >&2; exit 2; }}"


rule preprocess:
    input:
        lambda wildcards: raw_runs(wildcards.experiment),
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
        options=section("recording"),
        code=code("preprocess"),
    message:
        "Cutting the trajectories of {wildcards.experiment}"
    shell:
        "pdsim preprocess {params.file} --raw {input} --output {output} >{log} 2>&1 "
        "|| {{ cat {log} >&2; exit 2; }}"
