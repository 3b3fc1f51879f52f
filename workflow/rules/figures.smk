# Figures, as PDF for papers and PNG for the report.


rule plot_density:
    input:
        trajectories=f"{EXPERIMENT}/trajectories.nc",
        rollouts=f"{RUN}/rollouts.nc",
    output:
        png=report(
            f"{RUN}/density.png",
            caption="../report/density.rst",
            category="{experiment}",
        ),
        pdf=f"{RUN}/density.pdf",
    log:
        f"{RUN}/logs/plot_density.log",
    benchmark:
        f"{RUN}/benchmarks/plot_density.tsv"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(10),
    params:
        file=experiment_file,
        options=section("title"),
        code=code("plot"),
        stem=subpath(output.png, strip_suffix=".png"),
    message:
        "Drawing roll-outs of {wildcards.experiment}, {wildcards.method}, {wildcards.shooting}"
    shell:
        "JAX_PLATFORMS=cpu pdsim plot density {params.file} --method {wildcards.method} "
        "--shooting {wildcards.shooting} --trajectories {input.trajectories} "
        "--rollouts {input.rollouts} --stem {params.stem} >{log} 2>&1 "
        "|| {{ cat {log} >&2; exit 2; }}"


rule plot_posterior:
    input:
        f"{RUN}/posterior.nc",
    output:
        png=report(
            f"{RUN}/posterior.png",
            caption="../report/posterior.rst",
            category="{experiment}",
        ),
        pdf=f"{RUN}/posterior.pdf",
    log:
        f"{RUN}/logs/plot_posterior.log",
    benchmark:
        f"{RUN}/benchmarks/plot_posterior.tsv"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(10),
    params:
        file=experiment_file,
        options=section("title", "simulator"),
        code=code("plot"),
        stem=subpath(output.png, strip_suffix=".png"),
    message:
        "Drawing the posterior of {wildcards.experiment}, {wildcards.method}, {wildcards.shooting}"
    shell:
        "JAX_PLATFORMS=cpu pdsim plot posterior {params.file} --method {wildcards.method} "
        "--shooting {wildcards.shooting} --posterior {input} --stem {params.stem} >{log} 2>&1 "
        "|| {{ cat {log} >&2; exit 2; }}"


rule plot_windows:
    input:
        trajectories=f"{EXPERIMENT}/trajectories.nc",
        posterior=f"{RUN}/posterior.nc",
    output:
        png=report(
            f"{RUN}/windows.png",
            caption="../report/windows.rst",
            category="{experiment}",
        ),
        pdf=f"{RUN}/windows.pdf",
    log:
        f"{RUN}/logs/plot_windows.log",
    benchmark:
        f"{RUN}/benchmarks/plot_windows.tsv"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(10),
    params:
        file=experiment_file,
        options=section("title", "simulator"),
        code=code("plot"),
        stem=subpath(output.png, strip_suffix=".png"),
    message:
        "Drawing the windows of {wildcards.experiment}, {wildcards.method}"
    shell:
        "JAX_PLATFORMS=cpu pdsim plot windows {params.file} --method {wildcards.method} "
        "--trajectories {input.trajectories} --posterior {input.posterior} "
        "--stem {params.stem} >{log} 2>&1 || {{ cat {log} >&2; exit 2; }}"


rule plot_convergence:
    input:
        lambda wildcards: run_files(wildcards.experiment, "posterior.nc", True),
    output:
        png=report(
            f"{EXPERIMENT}/figures/convergence.png",
            caption="../report/convergence.rst",
            category="{experiment}",
        ),
        pdf=f"{EXPERIMENT}/figures/convergence.pdf",
    log:
        f"{EXPERIMENT}/logs/plot_convergence.log",
    benchmark:
        f"{EXPERIMENT}/benchmarks/plot_convergence.tsv"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(10),
    params:
        file=experiment_file,
        options=section("title"),
        code=code("plot"),
        stem=subpath(output.png, strip_suffix=".png"),
    message:
        "Drawing the convergence of {wildcards.experiment}"
    shell:
        "JAX_PLATFORMS=cpu pdsim plot convergence {params.file} --posterior {input} "
        "--stem {params.stem} >{log} 2>&1 || {{ cat {log} >&2; exit 2; }}"


rule plot_landscape:
    input:
        f"{EXPERIMENT}/trajectories.nc",
    output:
        png=report(
            f"{EXPERIMENT}/figures/landscape.png",
            caption="../report/landscape.rst",
            category="{experiment}",
        ),
        pdf=f"{EXPERIMENT}/figures/landscape.pdf",
    log:
        f"{EXPERIMENT}/logs/plot_landscape.log",
    benchmark:
        f"{EXPERIMENT}/benchmarks/plot_landscape.tsv"
    threads: 1
    resources:
        mem_mb=growing(3000),
        runtime=growing(20),
    params:
        file=experiment_file,
        options=section("title", "simulator", "likelihood", "landscape"),
        code=code("plot"),
        stem=subpath(output.png, strip_suffix=".png"),
    message:
        "Drawing the likelihood landscape of {wildcards.experiment}"
    shell:
        "JAX_PLATFORMS=cpu pdsim plot landscape {params.file} --trajectories {input} "
        "--stem {params.stem} >{log} 2>&1 || {{ cat {log} >&2; exit 2; }}"


rule plot_course:
    input:
        f"{EXPERIMENT}/course.csv",
    output:
        png=report(
            f"{EXPERIMENT}/figures/course.png",
            caption="../report/course.rst",
            category="{experiment}",
        ),
        pdf=f"{EXPERIMENT}/figures/course.pdf",
    log:
        f"{EXPERIMENT}/logs/plot_course.log",
    benchmark:
        f"{EXPERIMENT}/benchmarks/plot_course.tsv"
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
        "Drawing the course of {wildcards.experiment}"
    shell:
        "JAX_PLATFORMS=cpu pdsim plot course {params.file} --course {input} "
        "--stem {params.stem} >{log} 2>&1 || {{ cat {log} >&2; exit 2; }}"


rule plot_densities:
    input:
        trajectories=f"{EXPERIMENT}/trajectories.nc",
        rollouts=lambda wildcards: run_files(wildcards.experiment, "rollouts.nc", True),
        posteriors=lambda wildcards: run_files(
            wildcards.experiment, "posterior.nc", True
        ),
    output:
        png=report(
            f"{EXPERIMENT}/figures/densities.png",
            caption="../report/densities.rst",
            category="{experiment}",
        ),
        pdf=f"{EXPERIMENT}/figures/densities.pdf",
    log:
        f"{EXPERIMENT}/logs/plot_densities.log",
    benchmark:
        f"{EXPERIMENT}/benchmarks/plot_densities.tsv"
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
        "Drawing the roll-outs of all runs of {wildcards.experiment}"
    shell:
        "JAX_PLATFORMS=cpu pdsim plot densities {params.file} --trajectories {input.trajectories} "
        "--rollouts {input.rollouts} --posterior {input.posteriors} "
        "--stem {params.stem} >{log} 2>&1 || {{ cat {log} >&2; exit 2; }}"


rule plot_posteriors:
    input:
        lambda wildcards: run_files(wildcards.experiment, "posterior.nc", True),
    output:
        png=report(
            f"{EXPERIMENT}/figures/posteriors.png",
            caption="../report/posteriors.rst",
            category="{experiment}",
        ),
        pdf=f"{EXPERIMENT}/figures/posteriors.pdf",
    log:
        f"{EXPERIMENT}/logs/plot_posteriors.log",
    benchmark:
        f"{EXPERIMENT}/benchmarks/plot_posteriors.tsv"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(20),
    params:
        file=experiment_file,
        options=section("title", "simulator", "recording"),
        code=code("plot"),
        stem=subpath(output.png, strip_suffix=".png"),
    message:
        "Drawing the posteriors of {wildcards.experiment}"
    shell:
        "JAX_PLATFORMS=cpu pdsim plot posteriors {params.file} --posterior {input} "
        "--stem {params.stem} >{log} 2>&1 || {{ cat {log} >&2; exit 2; }}"
