"""Throughput of roll-outs and their gradients on the double pendulum.

Run with ``make bench``. Forward is the log likelihood of every particle, gradient is its value and
gradient with respect to parameters and shooting variables. Cases of one shape alternate, and the
median over repetitions counts, so that the ratio stands on a noisy machine.
"""

import json
import statistics
import time
from pathlib import Path

import numpy as np

from pdsim.runtime import device

EXPERIMENT = "config/experiments/ibm_calibrated.yaml"
STEPS, REPETITIONS = 400, 15
OUTPUT = Path("results/benchmarks/pendulum.json")


def build(dtype, particles, windows):
    """Return compiled forward and gradient functions and their arguments."""
    import jax
    import jax.numpy as jnp

    from pdsim.config.experiment import load_experiment
    from pdsim.likelihood.problem import Position
    from pdsim.likelihood.shooting import shooting_problem
    from pdsim.systems.simulator import build_simulator

    rng = np.random.default_rng(0)
    system, space = build_simulator(load_experiment(EXPERIMENT).simulator)
    recording = rng.normal(size=(1, STEPS + 1, 4))
    problem = shooting_problem(
        system,
        space,
        recording,
        recording,
        np.ones(4),
        window_count=windows,
        combination="sum",
        frame_time=1 / 500,
        substeps=1,
        dtype=dtype,
    )
    guess = problem.start_shooting()
    position = Position(
        jnp.asarray(rng.uniform(0.3, 0.7, size=(particles, space.dimension)), dtype),
        jnp.broadcast_to(guess, (particles, *guess.shape)),
    )
    forward = jax.jit(lambda position, problem: problem.evaluate(position)[0].sum())
    return forward, jax.jit(jax.value_and_grad(forward)), (position, problem)


def seconds(function, arguments) -> float:
    """Time one call."""
    import jax

    began = time.perf_counter()
    jax.block_until_ready(function(*arguments))
    return time.perf_counter() - began


def measure(dtype, particles, windows) -> dict:
    """Measure one case."""
    forward, gradient, arguments = build(dtype, particles, windows)
    for function in (forward, gradient):
        seconds(function, arguments)
    times = [
        (seconds(forward, arguments), seconds(gradient, arguments)) for _ in range(REPETITIONS)
    ]
    scale = 1e9 / (particles * STEPS)
    forward_ns, gradient_ns = (
        scale * statistics.median(column) for column in zip(*times, strict=True)
    )
    return {
        "dtype": dtype,
        "particles": particles,
        "steps": STEPS,
        "windows": windows,
        "forward_ns": round(forward_ns, 3),
        "gradient_ns": round(gradient_ns, 3),
        "ratio": round(gradient_ns / forward_ns, 3),
    }


def main() -> None:
    """Measure all cases, print a table, write a JSON list."""
    cases = []
    print(
        f"{'dtype':8} {'particles':>9} {'windows':>7} {'forward':>9} {'gradient':>9} {'ratio':>6}"
    )
    print(f"{'':8} {'':>9} {'':>7} {'[ns/particle-step]':>19}")
    for dtype in ("float64", "float32"):
        device.configure(dtype)
        for particles in (100, 1000):
            for windows in (1, 10):
                case = measure(dtype, particles, windows)
                cases.append(case)
                print(
                    f"{dtype:8} {particles:9d} {windows:7d} {case['forward_ns']:9.1f} "
                    f"{case['gradient_ns']:9.1f} {case['ratio']:6.2f}"
                )
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    OUTPUT.write_text(json.dumps(cases, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
