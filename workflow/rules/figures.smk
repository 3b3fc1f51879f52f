# Figures, as PDF for papers and PNG for the report.


rule plot_density:
    input:
        trajectories=EXPERIMENT + "/trajectories.nc",
        rollouts=RUN + "/rollouts.nc",
    output:
        png=report(
            RUN + "/density.png", caption="../report/density.rst", category="{experiment}"
        ),
        pdf=RUN + "/density.pdf",
    log:
        RUN + "/logs/plot_density.log",
    benchmark:
        RUN + "/benchmarks/plot_density.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        file=experiment_file,
        options=section("title"),
        code=code("plot"),
        stem=subpath(output.png, strip_suffix=".png"),
    message:
        "Drawing roll-outs of {wildcards.experiment}, {wildcards.method}, {wildcards.shooting}"
    shell:
        "JAX_PLATFORMS=cpu {PDSIM} plot density {params.file} --method {wildcards.method} "
        "--shooting {wildcards.shooting} --trajectories {input.trajectories} "
        "--rollouts {input.rollouts} --stem {params.stem} >{log} 2>&1 "
        "|| {{ cat {log} >&2; exit 2; }}"


rule plot_posterior:
    input:
        RUN + "/posterior.nc",
    output:
        png=report(
            RUN + "/posterior.png", caption="../report/posterior.rst", category="{experiment}"
        ),
        pdf=RUN + "/posterior.pdf",
    log:
        RUN + "/logs/plot_posterior.log",
    benchmark:
        RUN + "/benchmarks/plot_posterior.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        file=experiment_file,
        options=section("title", "simulator"),
        code=code("plot"),
        stem=subpath(output.png, strip_suffix=".png"),
    message:
        "Drawing the posterior of {wildcards.experiment}, {wildcards.method}, {wildcards.shooting}"
    shell:
        "JAX_PLATFORMS=cpu {PDSIM} plot posterior {params.file} --method {wildcards.method} "
        "--shooting {wildcards.shooting} --posterior {input} --stem {params.stem} >{log} 2>&1 "
        "|| {{ cat {log} >&2; exit 2; }}"


rule plot_windows:
    input:
        trajectories=EXPERIMENT + "/trajectories.nc",
        posterior=RUN + "/posterior.nc",
    output:
        png=report(
            RUN + "/windows.png", caption="../report/windows.rst", category="{experiment}"
        ),
        pdf=RUN + "/windows.pdf",
    log:
        RUN + "/logs/plot_windows.log",
    benchmark:
        RUN + "/benchmarks/plot_windows.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        file=experiment_file,
        options=section("title", "simulator"),
        code=code("plot"),
        stem=subpath(output.png, strip_suffix=".png"),
    message:
        "Drawing the windows of {wildcards.experiment}, {wildcards.method}"
    shell:
        "JAX_PLATFORMS=cpu {PDSIM} plot windows {params.file} --method {wildcards.method} "
        "--trajectories {input.trajectories} --posterior {input.posterior} "
        "--stem {params.stem} >{log} 2>&1 || {{ cat {log} >&2; exit 2; }}"


rule plot_convergence:
    input:
        lambda wildcards: run_files(wildcards.experiment, "posterior.nc"),
    output:
        png=report(
            EXPERIMENT + "/figures/convergence.png",
            caption="../report/convergence.rst",
            category="{experiment}",
        ),
        pdf=EXPERIMENT + "/figures/convergence.pdf",
    log:
        EXPERIMENT + "/logs/plot_convergence.log",
    benchmark:
        EXPERIMENT + "/benchmarks/plot_convergence.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        file=experiment_file,
        options=section("title"),
        code=code("plot"),
        stem=subpath(output.png, strip_suffix=".png"),
    message:
        "Drawing the convergence of {wildcards.experiment}"
    shell:
        "JAX_PLATFORMS=cpu {PDSIM} plot convergence {params.file} --posterior {input} "
        "--stem {params.stem} >{log} 2>&1 || {{ cat {log} >&2; exit 2; }}"


rule plot_landscape:
    input:
        EXPERIMENT + "/trajectories.nc",
    output:
        png=report(
            EXPERIMENT + "/figures/landscape.png",
            caption="../report/landscape.rst",
            category="{experiment}",
        ),
        pdf=EXPERIMENT + "/figures/landscape.pdf",
    log:
        EXPERIMENT + "/logs/plot_landscape.log",
    benchmark:
        EXPERIMENT + "/benchmarks/plot_landscape.tsv"
    threads: 1
    resources:
        mem_mb=3000,
        runtime=20,
    params:
        file=experiment_file,
        options=section("title", "simulator", "likelihood", "landscape"),
        code=code("plot"),
        stem=subpath(output.png, strip_suffix=".png"),
    message:
        "Drawing the likelihood landscape of {wildcards.experiment}"
    shell:
        "JAX_PLATFORMS=cpu {PDSIM} plot landscape {params.file} --trajectories {input} "
        "--stem {params.stem} >{log} 2>&1 || {{ cat {log} >&2; exit 2; }}"
