"""Throughput of roll-outs and their gradients on the double pendulum.

Run with ``make bench``. Forward is the log likelihood of every particle, gradient is its value and
gradient with respect to parameters and shooting variables. Cases of one shape alternate, and the
median over repetitions counts, so that ratios stand on a noisy machine.

``--against CHECKOUT`` measures another checkout beside this one, in a process of its own; the two
take turns, count by count.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

EXPERIMENT = "config/experiments/ibm_calibrated.yaml"
STEPS, REPETITIONS = 400, 15
OUTPUT = Path("results/benchmarks/pendulum.json")
EULER, RK4 = "semi_implicit_euler", "rk4"


def build(
    dtype, particles, windows, integrator=EULER, *, steps=STEPS, trajectories=1, parameters=None
):
    """Return compiled forward and gradient functions and their arguments.

    Args:
        parameters: how many of the experiment's are estimated; None: all.
    """
    import jax
    import jax.numpy as jnp

    from pdsim.experiment.load import load_experiment
    from pdsim.inference.gradients import value_and_gradient
    from pdsim.likelihood.problem import Position
    from pdsim.likelihood.shooting import shooting_problem
    from pdsim.recordings.recording import unsmoothed
    from pdsim.recordings.trajectories import trajectory_set
    from pdsim.systems.simulator import build_simulator

    rng = np.random.default_rng(0)
    config = load_experiment(EXPERIMENT).simulator
    kept = dict(list(config.parameters.items())[:parameters])
    changed = {"integrator": integrator, "substeps": 1, "parameters": kept}
    simulator = build_simulator(config.model_copy(update=changed))
    recordings = [
        unsmoothed(str(i), 1 / 500, rng.normal(size=(steps + 1, 4)), np.zeros((steps + 1, 0)), 4)
        for i in range(trajectories)
    ]
    data = trajectory_set(simulator.system, recordings, ["train"] * trajectories, {})
    data["states"][:] = data["observed"].values
    data["start"][:] = data["observed"].values[:, 0]
    problem = shooting_problem(
        simulator, data, np.ones(4), window_count=windows, combination="sum", dtype=dtype
    )
    guess = problem.start_shooting()
    coordinates = rng.uniform(0.3, 0.7, size=(particles, simulator.space.dimension))
    position = Position(
        jnp.asarray(coordinates, dtype), jnp.broadcast_to(guess, (particles, *guess.shape))
    )
    forward = jax.jit(lambda position, problem: problem.evaluate(position)[0].sum())
    gradient = jax.jit(
        lambda position, problem: value_and_gradient(type(problem).evaluate, problem, position)
    )
    return forward, gradient, (position, problem)


def seconds(function, arguments) -> float:
    """Time one call."""
    import jax

    began = time.perf_counter()
    jax.block_until_ready(function(*arguments))
    return time.perf_counter() - began


class Here:
    """This checkout, in this process."""

    def prepare(self, case: dict) -> None:
        """Build and compile a case."""
        from pdsim.runtime import device

        device.configure(case["dtype"])
        extra = {} if case["integrator"] == EULER else {"integrator": case["integrator"]}
        shape = (case["dtype"], case["particles"], case["windows"])
        self.forward, self.gradient, self.arguments = build(*shape, **extra)
        for function in (self.forward, self.gradient):
            seconds(function, self.arguments)

    def count(self) -> tuple[float, float]:
        """Time one forward and one gradient."""
        return seconds(self.forward, self.arguments), seconds(self.gradient, self.arguments)


# What another checkout runs: its own ``build``, and two calls for each line it reads.
_THERE = """
import json, sys
sys.path[:0] = [".", "benchmarks"]
import pendulum
try:
    from pdsim.runtime import device
except ImportError:
    from pdsim import device
for line in sys.stdin:
    case = json.loads(line)
    if case:
        device.configure(case["dtype"])
        forward, gradient, arguments = pendulum.build(
            case["dtype"], case["particles"], case["windows"])
        pendulum.seconds(forward, arguments), pendulum.seconds(gradient, arguments)
    times = [pendulum.seconds(forward, arguments), pendulum.seconds(gradient, arguments)]
    print(json.dumps(times), flush=True)
"""


class There:
    """Another checkout, in a process of its own."""

    def __init__(self, checkout: Path):
        environment = os.environ | {"PYTHONPATH": str(checkout)}
        self.process = subprocess.Popen(
            [sys.executable, "-c", _THERE],
            cwd=checkout,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def _ask(self, case: dict) -> tuple[float, float]:
        self.process.stdin.write(json.dumps(case) + "\n")
        self.process.stdin.flush()
        forward, gradient = json.loads(self.process.stdout.readline())
        return forward, gradient

    def prepare(self, case: dict) -> None:
        """Build and compile a case."""
        self._ask(case)

    def count(self) -> tuple[float, float]:
        """Time one forward and one gradient."""
        return self._ask({})


def measure(case: dict, checkouts: dict, repetitions: int) -> list[dict]:
    """Measure one case in every checkout, in turns.

    ``forward_beside`` and ``gradient_beside`` are medians over the turns of this checkout's time
    over the other's.
    """
    for checkout in checkouts.values():
        checkout.prepare(case)
    times: dict[str, list] = {name: [] for name in checkouts}
    for _ in range(repetitions):
        for name, checkout in checkouts.items():
            times[name].append(checkout.count())
    scale = 1e9 / (case["particles"] * STEPS)
    results = []
    for name, pairs in times.items():
        forward, gradient = (
            scale * statistics.median(column) for column in zip(*pairs, strict=True)
        )
        ratios = [g / f for f, g in pairs]
        turns = list(zip(times["here"], pairs, strict=True))
        beside = [statistics.median(h[i] / o[i] for h, o in turns) for i in (0, 1)]
        results.append(
            {
                **case,
                "checkout": name,
                "steps": STEPS,
                "forward_ns": round(forward, 3),
                "gradient_ns": round(gradient, 3),
                "ratio": round(gradient / forward, 3),
                "ratio_low": round(min(ratios), 3),
                "ratio_high": round(max(ratios), 3),
                "forward_beside": round(beside[0], 3),
                "gradient_beside": round(beside[1], 3),
            }
        )
    return results


def main() -> None:
    """Measure all cases, print a table, write a JSON list."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="measured in turns")
    parser.add_argument("--repetitions", type=int, default=REPETITIONS, help="counts of each case")
    a = parser.parse_args()
    checkouts: dict = {"here": Here()}
    if a.against:
        checkouts["there"] = There(a.against.resolve())
    results = []
    print(f"{'dtype':8} {'integrator':20} {'particles':>9} {'windows':>7} {'checkout':8} "
          f"{'forward':>9} {'gradient':>9} {'ratio':>6}  ratio from to  here/there")  # fmt: skip
    print(f"{'':56} {'[ns/particle-step]':>19}")
    cases = [
        {"dtype": dtype, "integrator": integrator, "particles": particles, "windows": windows}
        for dtype in ("float64", "float32")
        for integrator in (EULER, RK4)
        for particles in (100, 1000)
        for windows in (1, 10)
    ]
    for case in cases:
        both = checkouts if case["integrator"] == EULER else {"here": checkouts["here"]}
        for result in measure(case, both, a.repetitions):
            results.append(result)
            print(
                f"{result['dtype']:8} {result['integrator']:20} {result['particles']:9d} "
                f"{result['windows']:7d} {result['checkout']:8} {result['forward_ns']:9.1f} "
                f"{result['gradient_ns']:9.1f} {result['ratio']:6.2f}  {result['ratio_low']:.2f} "
                f"{result['ratio_high']:.2f}   {result['forward_beside']:.3f} "
                f"{result['gradient_beside']:.3f}",
                flush=True,
            )
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    OUTPUT.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
