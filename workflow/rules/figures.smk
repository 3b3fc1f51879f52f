# Figures, most as PDF for papers and PNG for the report: one rule for each entry of the registry.


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
            "learning_curve": lambda: f"{folder}/learning_curve.csv",
            "statistics": lambda: all_statistics(experiment),
            "calibration": lambda: calibration_files(experiment),
            "trained": lambda: variant_files(experiment, "density_model.nc"),
        }
        for kind in ("posterior", "rollouts", "prediction"):
            if figure.of_each_run:
                known[kind] = lambda kind=kind: (
                    f"{folder}/{wildcards.run}/seed{wildcards.seed}/{kind}.nc"
                )
            else:
                known[kind] = lambda kind=kind: members(experiment, f"{kind}.nc")
        # A figure that is given the simulator may simulate.
        earlier = fixed_from_file(wildcards) if "simulator" in figure.sections else []
        return {kind: known[kind]() for kind in figure.needs} | {"fixed_from": earlier}

    return files


def figure_arguments(name):
    """A param: what the command needs to draw a figure, quoted."""

    def arguments(wildcards, input):
        words = [name, FILES[wildcards.experiment]]
        if FIGURES[name].of_each_run:
            words += ["--run", wildcards.run]
        if input.get("fixed_from"):
            words += ["--fixed-from", input.get("fixed_from")]
        for kind in FIGURES[name].needs:
            files = input.get(kind)
            words += [
                f"--{kind.replace('_', '-')}",
                *([files] if isinstance(files, str) else files),
            ]
        return shlex.join(words)

    return arguments


for figure_name in FIGURES:

    rule:
        name:
            f"plot_{figure_name}"
        input:
            unpack(figure_inputs(figure_name)),
        output:
            shown=report(
                f"{figure_path(figure_name)}.{FIGURES[figure_name].suffixes[0]}",
                caption="../report/figure.rst",
                category="{experiment}",
                subcategory=(
                    "{run}" if FIGURES[figure_name].of_each_run else "all runs"
                ),
                labels={"figure": figure_name.replace("_", " ")},
            ),
            others=[
                f"{figure_path(figure_name)}.{suffix}"
                for suffix in FIGURES[figure_name].suffixes[1:]
            ],
        log:
            f"{RUN if FIGURES[figure_name].of_each_run else EXPERIMENT}/logs/plot_{figure_name}.log",
        benchmark:
            f"{RUN if FIGURES[figure_name].of_each_run else EXPERIMENT}/benchmarks/plot_{figure_name}.tsv"
        threads: 1
        resources:
            mem_mb=growing(3000),
            runtime=growing(20),
        params:
            arguments=figure_arguments(figure_name),
            options=sections(*FIGURES[figure_name].sections),
            caption=FIGURES[figure_name].caption,
            code=code("plot", figure=figure_name),
            stem=subpath(
                output.shown, strip_suffix=f".{FIGURES[figure_name].suffixes[0]}"
            ),
        message:
            f"Drawing {figure_name} of {{wildcards.experiment}}"
            + (", {wildcards.run}" if FIGURES[figure_name].of_each_run else "")
        shell:
            pdsim("plot {params.arguments} --stem {params.stem:q}")
