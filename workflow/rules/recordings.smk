# Raw recordings, and the trajectories cut out of them.


rule download:
    output:
        "data/ibm_double_pendulum/{run}.csv",
    log:
        RESULTS + "/logs/download/{run}.log",
    benchmark:
        RESULTS + "/benchmarks/download/{run}.tsv"
    threads: 1
    resources:
        mem_mb=200,
        runtime=10,
    retries: 2
    message:
        "Downloading run {wildcards.run} of the IBM recordings"
    shell:
        "{PDSIM} download --run {wildcards.run} --output {output} >{log} 2>&1 "
        "|| {{ cat {log} >&2; exit 2; }}"


rule record:
    output:
        EXPERIMENT + "/recording/{run}.csv",
    log:
        EXPERIMENT + "/logs/record_{run}.log",
    benchmark:
        EXPERIMENT + "/benchmarks/record_{run}.tsv"
    threads: 1
    resources:
        mem_mb=500,
        runtime=10,
    params:
        file=experiment_file,
        options=section("recording"),
        code=code("record"),
    message:
        "Recording run {wildcards.run} of {wildcards.experiment} with a synthetic camera"
    shell:
        "{PDSIM} record {params.file} --run {wildcards.run} --output {output} >{log} 2>&1 "
        "|| {{ cat {log} >&2; exit 2; }}"


rule preprocess:
    input:
        lambda wildcards: raw_runs(wildcards.experiment),
    output:
        EXPERIMENT + "/trajectories.nc",
    log:
        EXPERIMENT + "/logs/preprocess.log",
    benchmark:
        EXPERIMENT + "/benchmarks/preprocess.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        file=experiment_file,
        options=section("recording"),
        code=code("preprocess"),
    message:
        "Cutting the trajectories of {wildcards.experiment}"
    shell:
        "{PDSIM} preprocess {params.file} --raw {input} --output {output} >{log} 2>&1 "
        "|| {{ cat {log} >&2; exit 2; }}"
