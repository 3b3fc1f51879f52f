"""Where a job's time goes: start, tracing, compilation, and the work itself.

    python benchmarks/where_time_goes.py [--turns 3]

One estimate and what follows from it, each stage in a process of its own as the workflow runs it:
first with an empty compile cache, then with the one that is there by then, several turns in all.
Wall time, least, median and most. Needs the IBM recordings (``PDSIM_IBM_DIR``).

    python benchmarks/where_time_goes.py --workflow results

Sums up instead what Snakemake wrote of each job of a finished run (``benchmarks/*.tsv``), by rule.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
EXPERIMENT = ROOT / "config/experiments/ibm_calibrated.yaml"
PARTS = ("start", "trace", "compile", "work")
# Runs in the process of the job: what JAX reports of itself, and what is left of the time.
JOB = """
import json, sys, time
begin = time.perf_counter()
from pdsim.cli.main import main
import jax.monitoring
import pdsim.systems.rollout
start = time.perf_counter() - begin
spans = {"compile": [], "trace": []}
kinds = {"backend_compile_duration": "compile", "jaxpr_to_mlir_module_duration": "trace",
         "jaxpr_trace_duration": "trace"}
def report(event, seconds, **_):
    kind = kinds.get(event.rsplit("/", 1)[-1])
    if kind:
        spans[kind].append((time.perf_counter() - seconds, time.perf_counter()))
def covered(spans):
    # One program is traced within another.
    total, end = 0.0, 0.0
    for first, last in sorted(spans):
        total += max(last - max(first, end), 0.0)
        end = max(end, last)
    return total
jax.monitoring.register_event_duration_secs_listener(report)
code = main(sys.argv[2:])
whole = time.perf_counter() - begin
compiled = covered(spans["compile"])
both = covered(spans["compile"] + spans["trace"])
work = whole - start - both
parts = {"start": start, "trace": both - compiled, "compile": compiled, "work": work}
with open(sys.argv[1], "w") as file:
    json.dump(parts, file)
sys.exit(code)
"""


def job(report: Path, cache: Path, *arguments) -> dict[str, float]:
    """Seconds of one command by part, from the first import to the end."""
    environment = os.environ | {"JAX_COMPILATION_CACHE_DIR": str(cache), "JAX_PLATFORMS": "cpu"}
    words = [sys.executable, "-c", JOB, str(report), "--quiet", *map(str, arguments)]
    subprocess.run(words, check=True, cwd=ROOT, env=environment)
    return json.loads(report.read_text())


def stages(folder: Path, cache: Path) -> dict[str, dict[str, float]]:
    """Seconds by part of an inference job at the quick budget and of its scores."""
    trajectories, posterior = folder / "trajectories.nc", folder / "posterior.nc"
    rollouts, report = folder / "rollouts.nc", folder / "report.json"
    run = ("--run", "csvgd_multiple", "--trajectories", trajectories)
    drawn = ("--posterior", posterior)
    commands = {
        "preprocess": ("--raw", os.environ["PDSIM_IBM_DIR"], "--output", trajectories),
        "infer": (*run, "--budget", "quick", "--output", posterior),
        "simulate": ("--trajectories", trajectories, *drawn, "--output", rollouts),
        "evaluate": (*run, *drawn, "--rollouts", rollouts, "--output", folder / "metrics.csv"),
    }
    return {
        stage: job(report, cache, stage, EXPERIMENT, *arguments)
        for stage, arguments in commands.items()
    }


def spread(values) -> str:
    """Least, median and most, to print."""
    low, middle, high = np.min(values), np.median(values), np.max(values)
    return f"{low:.1f}, {middle:.1f}, {high:.1f}"


def measure(turns: int) -> None:
    """Run all stages in turns and print the table."""
    found = defaultdict(list)
    for _ in range(turns):
        with tempfile.TemporaryDirectory() as place:
            for cache in ("empty", "warm"):
                for stage, parts in stages(Path(place), Path(place) / "cache").items():
                    found[stage, cache].append([parts[part] for part in PARTS])
    print("| stage | compile cache | start | trace | compile | work | together |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for (stage, cache), rows in found.items():
        columns = [*np.transpose(rows), np.sum(rows, axis=1)]
        print(f"| {stage} | {cache} | {' | '.join(map(spread, columns))} |")


def workflow(results: Path) -> None:
    """Print the time of a finished run's jobs by rule."""
    times = defaultdict(list)
    for path in results.rglob("benchmarks/*.tsv"):
        with path.open() as file:
            row = next(csv.DictReader(file, delimiter="\t"))
        times[path.stem].append((float(row["s"]), float(row["cpu_time"])))
    total = sum(wall for rows in times.values() for wall, _ in rows)
    print("| rule | jobs | seconds a job | processor, a job | together [min] | share |")
    print("|---|---:|---:|---:|---:|---:|")
    for rule, rows in sorted(times.items(), key=lambda item: -sum(w for w, _ in item[1])):
        wall, processor = np.transpose(rows)
        print(
            f"| {rule} | {len(rows)} | {spread(wall)} | {spread(processor)} "
            f"| {wall.sum() / 60:.1f} | {wall.sum() / total:.0%} |"
        )
    print(f"\n{total / 60:.1f} minutes of jobs")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--workflow", type=Path)
    options = parser.parse_args()
    if options.workflow:
        workflow(options.workflow)
    else:
        measure(options.turns)
