# BayesSim: simulations from the prior, their statistics, a density for each variant, a posterior.


rule training_set:
    input:
        f"{EXPERIMENT}/trajectories.nc",
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
        options=bayessim_options("simulator", "training_set", "precision"),
        code=code("training_set"),
    message:
        "Simulating what BayesSim learns from, for {wildcards.experiment}"
    shell:
        "JAX_PLATFORMS=cpu pdsim training-set {params.file} --budget {params.budget} "
        "--trajectories {input} --output {output} >{log} 2>&1 || {{ cat {log} >&2; exit 2; }}"


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
        options=bayessim_options("statistic", "precision"),
        code=code("statistics"),
    message:
        "Computing statistic {wildcards.statistic} for {wildcards.experiment}"
    shell:
        "JAX_PLATFORMS=cpu pdsim statistics {params.file} --budget {params.budget} "
        "--name {wildcards.statistic} --trajectories {input.trajectories} "
        "--training-set {input.training_set} --output {output} >{log} 2>&1 "
        "|| {{ cat {log} >&2; exit 2; }}"


rule train:
    input:
        statistics=lambda wildcards: statistics_file(
            wildcards.experiment, wildcards.variant
        ),
    output:
        f"{VARIANT}/density_model.nc",
    log:
        f"{VARIANT}/logs/train.log",
    benchmark:
        f"{VARIANT}/benchmarks/train.tsv"
    threads: 1
    resources:
        mem_mb=growing(3000),
        runtime=growing(120),
    params:
        file=experiment_file,
        budget=SETTINGS.budget,
        options=bayessim_options("density", "precision"),
        code=code("train"),
    message:
        "Training {wildcards.variant} for {wildcards.experiment}, seed {wildcards.seed}"
    shell:
        "JAX_PLATFORMS=cpu pdsim train {params.file} --budget {params.budget} "
        "--variant {wildcards.variant} --seed {wildcards.seed} "
        "--statistics {input.statistics} --output {output} >{log} 2>&1 "
        "|| {{ cat {log} >&2; exit 2; }}"


rule condition:
    input:
        trajectories=f"{EXPERIMENT}/trajectories.nc",
        statistics=lambda wildcards: statistics_file(
            wildcards.experiment, wildcards.variant
        ),
        trained=f"{VARIANT}/density_model.nc",
    output:
        f"{VARIANT}/posterior.nc",
    log:
        f"{VARIANT}/logs/condition.log",
    benchmark:
        f"{VARIANT}/benchmarks/condition.tsv"
    threads: 1
    resources:
        mem_mb=growing(3000),
        runtime=growing(30),
    params:
        file=experiment_file,
        budget=SETTINGS.budget,
        options=bayessim_options(
            "simulator", "likelihood", "density", "budget", "precision"
        ),
        code=code("condition"),
    message:
        "Conditioning {wildcards.variant} on the recording of {wildcards.experiment}"
    shell:
        "JAX_PLATFORMS=cpu pdsim condition {params.file} --budget {params.budget} "
        "--variant {wildcards.variant} --seed {wildcards.seed} "
        "--trajectories {input.trajectories} --statistics {input.statistics} "
        "--trained {input.trained} --output {output} >{log} 2>&1 "
        "|| {{ cat {log} >&2; exit 2; }}"


rule plot_statistics:
    input:
        trajectories=f"{EXPERIMENT}/trajectories.nc",
        statistics=lambda wildcards: all_statistics(wildcards.experiment),
    output:
        png=report(
            f"{EXPERIMENT}/figures/statistics.png",
            caption="../report/statistics.rst",
            category="{experiment}",
        ),
        pdf=f"{EXPERIMENT}/figures/statistics.pdf",
    log:
        f"{EXPERIMENT}/logs/plot_statistics.log",
    benchmark:
        f"{EXPERIMENT}/benchmarks/plot_statistics.tsv"
    threads: 1
    resources:
        mem_mb=growing(3000),
        runtime=growing(20),
    params:
        file=experiment_file,
        options=section("title", "bayessim"),
        code=code("plot"),
        stem=subpath(output.png, strip_suffix=".png"),
    message:
        "Drawing the input statistics of {wildcards.experiment}"
    shell:
        "JAX_PLATFORMS=cpu pdsim plot statistics {params.file} "
        "--trajectories {input.trajectories} --statistics {input.statistics} "
        "--stem {params.stem} >{log} 2>&1 || {{ cat {log} >&2; exit 2; }}"


rule plot_training:
    input:
        lambda wildcards: variant_files(wildcards.experiment, "density_model.nc"),
    output:
        png=report(
            f"{EXPERIMENT}/figures/training.png",
            caption="../report/training.rst",
            category="{experiment}",
        ),
        pdf=f"{EXPERIMENT}/figures/training.pdf",
    log:
        f"{EXPERIMENT}/logs/plot_training.log",
    benchmark:
        f"{EXPERIMENT}/benchmarks/plot_training.tsv"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(20),
    params:
        file=experiment_file,
        options=section("title"),
        code=code("plot"),
        stem=subpath(output.png, strip_suffix=".png"),
    message:
        "Drawing the training of BayesSim on {wildcards.experiment}"
    shell:
        "JAX_PLATFORMS=cpu pdsim plot training {params.file} --trained {input} "
        "--stem {params.stem} >{log} 2>&1 || {{ cat {log} >&2; exit 2; }}"


rule plot_calibration:
    input:
        statistics=lambda wildcards: all_statistics(wildcards.experiment),
        trained=lambda wildcards: variant_files(
            wildcards.experiment, "density_model.nc"
        ),
    output:
        png=report(
            f"{EXPERIMENT}/figures/calibration.png",
            caption="../report/calibration.rst",
            category="{experiment}",
        ),
        pdf=f"{EXPERIMENT}/figures/calibration.pdf",
    log:
        f"{EXPERIMENT}/logs/plot_calibration.log",
    benchmark:
        f"{EXPERIMENT}/benchmarks/plot_calibration.tsv"
    threads: 1
    resources:
        mem_mb=growing(3000),
        runtime=growing(20),
    params:
        file=experiment_file,
        options=section("title", "bayessim"),
        code=code("plot"),
        stem=subpath(output.png, strip_suffix=".png"),
    message:
        "Drawing the calibration of BayesSim on {wildcards.experiment}"
    shell:
        "JAX_PLATFORMS=cpu pdsim plot calibration {params.file} "
        "--statistics {input.statistics} --trained {input.trained} "
        "--stem {params.stem} >{log} 2>&1 || {{ cat {log} >&2; exit 2; }}"


# All variants in one picture, as the runs' own figures: roll-outs, and posteriors of two lengths.


use rule plot_densities as plot_bayessim_densities with:
    input:
        trajectories=f"{EXPERIMENT}/trajectories.nc",
        rollouts=lambda wildcards: variant_files(wildcards.experiment, "rollouts.nc"),
        posteriors=lambda wildcards: variant_files(wildcards.experiment, "posterior.nc"),
    output:
        png=report(
            f"{EXPERIMENT}/figures/bayessim_densities.png",
            caption="../report/densities.rst",
            category="{experiment}",
        ),
        pdf=f"{EXPERIMENT}/figures/bayessim_densities.pdf",
    log:
        f"{EXPERIMENT}/logs/plot_bayessim_densities.log",
    benchmark:
        f"{EXPERIMENT}/benchmarks/plot_bayessim_densities.tsv"


use rule plot_posteriors as plot_bayessim_posteriors with:
    input:
        lambda wildcards: variant_files(wildcards.experiment, "posterior.nc"),
    output:
        png=report(
            f"{EXPERIMENT}/figures/bayessim_posteriors.png",
            caption="../report/posteriors.rst",
            category="{experiment}",
        ),
        pdf=f"{EXPERIMENT}/figures/bayessim_posteriors.pdf",
    log:
        f"{EXPERIMENT}/logs/plot_bayessim_posteriors.log",
    benchmark:
        f"{EXPERIMENT}/benchmarks/plot_bayessim_posteriors.tsv"


rule table_3:
    input:
        f"{EXPERIMENT}/metrics.csv",
    output:
        multiext(f"{EXPERIMENT}/tables/table_3", ".csv", ".md", ".tex"),
    log:
        f"{EXPERIMENT}/logs/table_3.log",
    benchmark:
        f"{EXPERIMENT}/benchmarks/table_3.tsv"
    threads: 1
    resources:
        mem_mb=growing(500),
        runtime=growing(10),
    params:
        file=experiment_file,
        options=section("paper_table", "bayessim"),
        code=code("summarise"),
        stem=subpath(output[0], strip_suffix=".csv"),
    message:
        "Writing Table III of {wildcards.experiment}"
    shell:
        "JAX_PLATFORMS=cpu pdsim table {params.file} --metrics {input} "
        "--table-3 {params.stem} >{log} 2>&1 || {{ cat {log} >&2; exit 2; }}"
