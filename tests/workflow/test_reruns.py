"""Incremental reruns: what changed is done again, and nothing else."""

import pytest

pytestmark = pytest.mark.slow

EXPERIMENT = "config/experiments/tiny.yaml"
PLOTS = {
    "plot_density",
    "plot_densities",
    "plot_posterior",
    "plot_posteriors",
    "plot_windows",
    "plot_convergence",
    "plot_learning_curve",
    "plot_landscape",
    "plot_prediction",
    "plot_pit",
    "plot_recordings",
}
AFTER_INFERENCE = {"simulate", "predict", "evaluate", "learning_curve", "gather", "table"}
AFTER_INFERENCE |= {"write_report"}
AFTER_INFERENCE |= PLOTS - {"plot_landscape", "plot_recordings"}


def test_everything_asked_for_is_there(project):
    """One run of the workflow makes every kind of file that it promises."""
    results = project.folder / "results/quick/tiny"
    for name in (
        "report.html",
        "metrics.csv",
        "tables/comparison.csv",
        "tables/comparison.md",
        "tables/comparison.tex",
        "tables/table_1.csv",
        "tables/table_2.md",
        "learning_curve.csv",
        "figures/learning_curve.pdf",
        "figures/landscape.pdf",
        "csvgd_multiple/seed0/posterior.nc",
        "svgd_single/seed0/metrics.csv",
    ):
        assert (results / name).stat().st_size > 0, name
    left = [p for p in results.rglob("*") if "partial" in p.name or p.suffix == ".npz"]
    assert left == []


def test_jobs_write_their_outputs_logs_and_benchmarks_alone(project):
    """No job leaves files that no rule declares, in the results or anywhere else."""
    table = project.snakemake("tiny", "--summary").stdout.splitlines()
    declared = {project.folder / line.split("\t")[0] for line in table[1:]}
    assert len(declared) > 20
    stray = [
        path
        for path in (project.folder / "results/quick/tiny").rglob("*")
        if path.is_file()
        and path.parent.name not in ("logs", "benchmarks")
        and declared.isdisjoint([path, *path.parents])
    ]
    assert stray == []
    beside = {path.name for path in project.folder.iterdir()}
    assert beside == {"pdsim", "workflow", "config", "Snakefile", "results", ".snakemake"}
    files = [path for place in project.elsewhere for path in place.rglob("*") if path.is_file()]
    assert files == []


def test_logs_hold_our_own_messages_and_no_other_library_s(project):
    """Logs stay readable: libraries do not write into them."""
    lines = [
        line
        for path in (project.folder / "results/quick/tiny").rglob("logs/*.log")
        for line in path.read_text().splitlines()
        if line.startswith("INFO ")
    ]
    assert lines
    assert [line for line in lines if not line.startswith("INFO pdsim.")] == []


def test_a_second_run_does_nothing(project):
    """A finished workflow is finished."""
    assert project.planned() == {}


CASES = {
    "an estimator's setting: its runs, and the scores of all, since it is the reference": (
        EXPERIMENT,
        "    step_size: 0.03\n- method: csvgd",
        "    step_size: 0.02\n- method: csvgd",
        # What a run costs depends on how its settings take slopes.
        AFTER_INFERENCE - {"plot_windows"} | {"infer", "preflight"},
        {"infer": 1, "simulate": 1, "predict": 1, "evaluate": 2},
    ),
    "the prefix: predictions and their scores": (
        EXPERIMENT,
        "prefix: 40",
        "prefix: 41",
        {"predict", "plot_prediction", "plot_pit", "evaluate", "gather", "table", "write_report"},
        {"predict": 2, "evaluate": 2},
    ),
    "the reference: scores": (
        EXPERIMENT,
        "reference: svgd_single",
        "reference: csvgd_multiple",
        {"evaluate", "gather", "table", "write_report"},
        {"evaluate": 2},
    ),
    "the likelihood: all inference, and the metrics": (
        EXPERIMENT,
        "noise_relative: 0.1",
        "noise_relative: 0.2",
        AFTER_INFERENCE | {"infer", "plot_landscape", "preflight"},
        {"infer": 2, "evaluate": 2},
    ),
    "the title: figures and report": (
        EXPERIMENT,
        "title: Synthetic",
        "title: Another",
        PLOTS | {"write_report"},
        {},
    ),
    "what the camera saw: everything": (
        EXPERIMENT,
        "com_y_2: 2.0",
        "com_y_2: 2.1",
        AFTER_INFERENCE | PLOTS | {"record", "preprocess", "infer", "preflight"},
        {"record": 1, "preprocess": 1, "infer": 2, "evaluate": 2},
    ),
    "a run's words: nothing but the report": (
        EXPERIMENT,
        "- method: csvgd\n",
        "- method: csvgd\n  chosen: by hand\n",
        {"write_report"},
        {},
    ),
    "a combination that is asked for: nothing but the report": (
        EXPERIMENT,
        "reach: link_1 + link_2 [m]",
        "reach: link_1 + link_2 [cm]",
        {"write_report"},
        {},
    ),
    "what the report shows: the pictures that are new": (
        EXPERIMENT,
        "landscape:\n",
        "detailed: [csvgd]\nlandscape:\n",
        {"write_report"},
        {},
    ),
    "another budget's size: nothing": (
        EXPERIMENT,
        "iteration_count: 1500",
        "iteration_count: 1600",
        set(),
        {},
    ),
    "a figure module: its figure, and the one that is built on it": (
        "pdsim/figures/density.py",
        "figsize=(4.5 ",
        "figsize=(4.4 ",
        {"plot_density", "plot_densities", "write_report"},
        {},
    ),
    "what all figures share: all of them": (
        "pdsim/figures/style.py",
        "import ",
        "_NEW = 1\nimport ",
        PLOTS | {"write_report"},
        {},
    ),
    "the likelihood's code: inference, no preprocessing": (
        "pdsim/likelihood/shooting.py",
        "- 0.5 * error",
        "- 0.50001 * error",
        AFTER_INFERENCE | {"infer", "plot_landscape", "preflight"},
        {"infer": 2, "preprocess": 0},
    ),
    "the system's dynamics: inference": (
        "pdsim/systems/pendulum_motion.py",
        "viscous = k.f2 * vw",
        "viscous = 2 * k.f2 * vw",
        None,
        {"infer": 2, "simulate": 2, "plot_landscape": 1, "preprocess": 0, "preflight": 1},
    ),
    "another system's dynamics: nothing": (
        "pdsim/systems/oscillator.py",
        "pull / p",
        "2 * pull / p",
        set(),
        {},
    ),
    "another source's code: nothing": (
        "pdsim/recordings/table.py",
        "leave one of them out",
        "leave either of them out",
        set(),
        {},
    ),
    "one estimator's code: its runs only": (
        "pdsim/inference/mdmm.py",
        "tight / loose,",
        "1.0 * tight / loose,",
        AFTER_INFERENCE | {"infer"},
        {"infer": 1, "simulate": 1, "predict": 1, "evaluate": 1},
    ),
    "a metric: scores": (
        "pdsim/metrics/coverage.py",
        "(1 - level) / 2",
        "(1.0 - level) / 2",
        {"evaluate", "learning_curve", "gather", "table", "write_report", "plot_learning_curve"},
        {},
    ),
    "a comment: nothing": (
        "pdsim/inference/stein.py",
        "    count = jnp.maximum",
        "    # A comment.\n    count = jnp.maximum",
        set(),
        {},
    ),
    "a docstring: nothing": (
        "pdsim/likelihood/shooting.py",
        "One window is single shooting",
        "A single window is single shooting",
        set(),
        {},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_change_reruns_what_depends_on_it(project, case):
    """A change of code, config or data reruns just the jobs that it concerns."""
    path, old, new, rules, counts = CASES[case]
    restore = project.change(path, old, new)
    try:
        planned = project.planned()
    finally:
        restore()
    if rules is not None:
        assert set(planned) == rules
    for rule, count in counts.items():
        assert planned.get(rule, 0) == count, rule


def test_a_changed_checkout_time_reruns_nothing(project):
    """Contents count and not times, so a fresh checkout reruns nothing."""
    for path in (project.folder / "pdsim").rglob("*.py"):
        path.touch()
    (project.folder / EXPERIMENT).touch()
    assert project.planned() == {}


def test_another_budget_does_not_touch_these_results(project):
    """Results of two budgets stand side by side."""
    output = project.snakemake("tiny", "--dry-run", "--config", "budget=long").stdout
    assert "results/long/tiny" in output
    assert "results/quick/tiny" not in output
