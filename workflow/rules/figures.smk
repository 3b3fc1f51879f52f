# Figures, as PDF for papers and PNG for the report: one rule for each entry of the registry.


def figure_path(name):
    """Where a figure goes, without suffix."""
    of_each_run = FIGURES[name].of_each_run
    return f"{RUN}/{name}" if of_each_run else f"{EXPERIMENT}/figures/{name}"


def figure_inputs(name):
    """An input: the files a figure needs, by kind."""
    figure = FIGURES[name]

    def members(experiment, file):
        if figure.members == "variants":
            return variant_files(experiment, file)
        return run_files(experiment, file, True)

    def files(wildcards):
        experiment = wildcards.experiment
        folder = f"{RESULTS}/{experiment}"
        known = {
            "trajectories": lambda: f"{folder}/trajectories.nc",
            "course": lambda: f"{folder}/course.csv",
            "statistics": lambda: all_statistics(experiment),
            "trained": lambda: variant_files(experiment, "density_model.nc"),
        }
        for kind in ("posterior", "rollouts"):
            if figure.of_each_run:
                known[kind] = lambda kind=kind: (
                    f"{folder}/{wildcards.run}/seed{wildcards.seed}/{kind}.nc"
                )
            else:
                known[kind] = lambda kind=kind: members(experiment, f"{kind}.nc")
        return {kind: known[kind]() for kind in figure.needs}

    return files


def figure_command(name):
    """The command that draws a figure."""
    of_run = "--run {wildcards.run:q} " if FIGURES[name].of_each_run else ""
    files = " ".join(f"--{kind} {{input.{kind}:q}}" for kind in FIGURES[name].needs)
    return pdsim(
        f"plot {name} {{params.file:q}} {of_run}{files} --stem {{params.stem:q}}"
    )


for figure_name in FIGURES:

    rule:
        name:
            f"plot_{figure_name}"
        input:
            unpack(figure_inputs(figure_name)),
        output:
            png=report(
                f"{figure_path(figure_name)}.png",
                caption="../report/figure.rst",
                category="{experiment}",
                labels={"figure": figure_name},
            ),
            pdf=f"{figure_path(figure_name)}.pdf",
        log:
            f"{RUN if FIGURES[figure_name].of_each_run else EXPERIMENT}/logs/plot_{figure_name}.log",
        benchmark:
            f"{RUN if FIGURES[figure_name].of_each_run else EXPERIMENT}/benchmarks/plot_{figure_name}.tsv"
        threads: 1
        resources:
            mem_mb=growing(3000),
            runtime=growing(20),
        params:
            file=experiment_file,
            options=sections(*FIGURES[figure_name].sections),
            caption=FIGURES[figure_name].caption,
            code=code("plot", figure=figure_name),
            stem=subpath(output.png, strip_suffix=".png"),
        message:
            f"Drawing {figure_name} of {{wildcards.experiment}}"
        shell:
            figure_command(figure_name)
