"""What an evaluation costs, in time and in memory, as each of its sizes grows.

    python benchmarks/scale.py

The double pendulum's log likelihood (forward), its gradient and the tangents of all parameters, by
particles, windows, steps, parameters and trajectories; and chains of hinges from a robot's file, by
joints. One size at a time moves away from 300 particles, one window, 400 steps, eleven parameters
and one trajectory. Beside them runs the floor in C (``floor.py``), which tells a change of the
machine's load from one of the size.

Time is the processor's, the least of several turns; memory is what XLA asks for: arguments, result
and what it holds between. Writes ``results/benchmarks/scale.json`` and the figure of docs/images.
"""

import argparse
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pendulum
from floor import Floor, compiled, in_turns
from pendulum import EULER

USUAL = {"particles": 300, "windows": 1, "steps": 400, "parameters": 11, "trajectories": 1}
SIZES = {
    "particles": (100, 300, 1000, 3000, 10_000, 30_000, 100_000),
    "windows": (1, 4, 10, 40),
    "steps": (25, 100, 400, 1600),
    "parameters": (1, 3, 11),
    "trajectories": (1, 3, 10),
    "joints": (1, 2, 4, 8),
}
# Tangents of more numbers than this, and of many steps, take gigabytes.
MOST_TANGENTS = 3000 * 400 * 11
CHAIN_PARTICLES, CHAIN_STEPS = 100, 100
OUTPUT = Path("results/benchmarks/scale.json")
FIGURE = Path("docs/images/scale.png")


def megabytes(executable):
    """Memory of a compiled program [MB]."""
    found = executable.memory_analysis()
    parts = (found.argument_size_in_bytes, found.output_size_in_bytes, found.temp_size_in_bytes)
    return sum(parts) / 1e6


def timed(functions, arguments, others, count, repetitions):
    """Nanoseconds for each of ``count`` particle-steps, and megabytes, of each function."""
    import jax

    programs = {name: f.lower(*arguments).compile() for name, f in functions.items()}
    calls = {
        name: lambda p=program: jax.block_until_ready(p(*arguments))
        for name, program in programs.items()
    }
    times = in_turns(others | calls, repetitions)
    return {
        "ns": {name: 1e9 * t[0].min() / count for name, t in times.items()},
        "megabytes": {name: megabytes(program) for name, program in programs.items()},
    }


def pendulum_case(sizes, library, repetitions):
    """Cost of the double pendulum at some sizes."""
    import jax

    particles, windows, steps = (sizes[x] for x in ("particles", "windows", "steps"))
    other = {"parameters": sizes["parameters"], "trajectories": sizes["trajectories"]}
    forward, gradient, arguments = pendulum.build(
        "float64", particles, windows, steps=steps, **other
    )
    functions = {"forward": forward, "gradient": gradient}
    count = particles * steps * sizes["trajectories"]
    if count * sizes["parameters"] <= MOST_TANGENTS:
        functions["tangents"] = jax.jit(lambda position, problem: problem.linearise(position))
    others = {}
    if library is not None and sizes["trajectories"] == 1:
        others["C"] = Floor(library, EULER, *arguments)
    turns = max(2, min(repetitions, int(repetitions * 4e6 / count)))
    return timed(functions, arguments, others, count, turns)


def chain(joints):
    """A chain of hinges as MJCF."""
    body = '<body pos="0 0 -0.1"><joint name="j{0}" axis="0 1 0" damping="0.01"/><inertial '
    body += 'pos="0 0 -0.05" mass="0.1" diaginertia="1e-4 1e-4 1e-4"/>'
    inside = "".join(body.format(i) for i in range(joints)) + "</body>" * joints
    return f"<mujoco><worldbody>{inside}</worldbody></mujoco>"


def chain_case(joints, folder, repetitions):
    """Cost of a chain of hinges; the gradient is in one mass and one friction."""
    import jax
    import jax.numpy as jnp

    from pdsim.systems.articulated import Options, build
    from pdsim.systems.rollout import rollout

    path = folder / "chain.xml"
    path.write_text(chain(joints))
    system = build(Options(model=str(path))).with_integrator("implicit_damping")
    default = {name: parameter.default for name, parameter in system.parameters.items()}
    sought = [f"body/{system.model.bodies[-1].name}/mass", f"joint/j{joints - 1}/damping"]
    system = system.with_constants({k: v for k, v in default.items() if k not in sought})
    random = np.random.default_rng(0)

    def error(x, start):
        prepared = system.prepare(dict(zip(sought, x, strict=True)))
        channels, _ = rollout(
            system, prepared, (start[0], start[1]), frames=CHAIN_STEPS, frame_time=1 / 500
        )
        return sum((channel**2).sum() for channel in channels)

    factors = random.uniform(0.9, 1.1, (CHAIN_PARTICLES, len(sought)))
    values = jnp.asarray(factors * [default[name] for name in sought])
    start = jnp.asarray(0.3 * random.normal(size=(CHAIN_PARTICLES, 2, joints)))
    functions = {
        "forward": jax.jit(jax.vmap(error)),
        "gradient": jax.jit(jax.vmap(jax.grad(error))),
    }
    count = CHAIN_PARTICLES * CHAIN_STEPS
    return timed(functions, (values, start), {}, count, repetitions)


def draw(records):
    """Time above and memory below, one column a size."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(
        2, len(SIZES), figsize=(2.6 * len(SIZES), 5), sharey="row", layout="constrained"
    )
    styles = {
        "C": ("k", ":"),
        "forward": ("C0", "-"),
        "gradient": ("C1", "-"),
        "tangents": ("C2", "-"),
    }
    handles = {}
    for column, size in zip(axes.T, SIZES, strict=True):
        mine = [record for record in records if record["varied"] == size]
        for name, (colour, line) in styles.items():
            for axis, kind in zip(column, ("ns", "megabytes"), strict=True):
                points = [(r[size], r[kind][name]) for r in mine if name in r[kind]]
                if points:
                    handles[name] = axis.plot(*zip(*points, strict=True), f"{line}o", color=colour,
                                              markersize=3)[0]  # fmt: skip
        for axis in column:
            axis.set_xscale("log")
            axis.set_yscale("log")
            axis.grid(alpha=0.3)
            axis.set_xlabel(size)
            axis.set_xticks(SIZES[size][:: 2 if len(SIZES[size]) > 5 else 1])
            axis.set_xticks([], minor=True)
            axis.xaxis.set_major_formatter(
                lambda x, _: f"{x:,.0f}" if x < 1e4 else f"{x / 1e3:.0f}k"
            )
    axes[0, 0].set_ylabel("time of a particle-step [ns]")
    axes[1, 0].set_ylabel("memory [MB]")
    figure.legend(handles.values(), handles, loc="outside upper center", ncols=len(handles))
    FIGURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(FIGURE, dpi=130)


def main():
    """Measure, print, write and draw."""
    from pdsim.runtime import device

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=9, help="turns of a small case")
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument(
        "--draw", action="store_true", help="the figure alone, from what is written"
    )
    chosen = parser.parse_args()
    if chosen.draw:
        draw(json.loads(OUTPUT.read_text(encoding="utf-8")))
        return
    device.configure()
    records = []
    print("varied | size | C [ns] | forward [ns] | gradient [ns] | tangents [ns] | gradient over "
          "forward | forward [MB] | gradient [MB] | tangents [MB]")  # fmt: skip
    with TemporaryDirectory() as folder:
        library = compiled(Path(folder), "polynomial")
        for varied in chosen.sizes:
            for size in SIZES[varied]:
                if varied == "joints":
                    found = chain_case(size, Path(folder), chosen.repetitions)
                else:
                    sizes = USUAL | {varied: size}
                    found = pendulum_case(sizes, library, chosen.repetitions)
                records.append({"varied": varied, varied: size, **found})
                ns, held = found["ns"], found["megabytes"]
                numbers = [ns.get(name) for name in ("C", "forward", "gradient", "tangents")]
                numbers.append(ns["gradient"] / ns["forward"])
                numbers += [held.get(name) for name in ("forward", "gradient", "tangents")]
                shown = " | ".join("" if x is None else f"{x:.3g}" for x in numbers)
                print(f"{varied} | {size} | {shown}", flush=True)
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    OUTPUT.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
    draw(records)


if __name__ == "__main__":
    main()
