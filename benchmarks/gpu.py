"""The same evaluations on a GPU, on one core and on all cores of the machine, in one run.

    python benchmarks/gpu.py                  # a few minutes, on a machine with a GPU
    python benchmarks/gpu.py --backends core  # what can be measured without one

Log likelihoods of the double pendulum with their gradients and tangents, one window and ten; the
marginal likelihood of the trusted pendulum with its slopes and its information; and a Panda arm of
seven joints from its file, as in ``articulated.py``. Each backend is a process of its own: one core
is a process that may use no other, and all cores split the particles as ``pdsim infer --cores``
does. Time is by the clock, the least of several turns.

Prints a table of nanoseconds for each particle and step, and how far the GPU's numbers are from the
core's: the largest difference over the largest number of a result. Reads
``results/trusted_calibrated/trajectories.nc``, where there are some; without them the marginal
likelihood is left out. Writes ``results/benchmarks/gpu.json``.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

OUTPUT = Path("results/benchmarks/gpu.json")
TRUSTED = "trusted_calibrated"
BACKENDS = {"gpu": "cuda,cpu", "core": "cpu", "cores": "cpu"}
# Particles of each case; a core alone stops where it has taken its time.
SIZES = {
    "one window": (100, 1000, 10_000, 100_000),
    "ten windows": (100, 1000, 10_000),
    "marginal": (100, 1000, 10_000),
    "arm": (100, 1000, 10_000),
}
MOST_OF_A_CORE = {"one window": 1000, "ten windows": 1000, "marginal": 100, "arm": 100}
# A process has one precision.
PRECISIONS = {"float64": tuple(SIZES), "float32": ("one window",)}
# Results are compared up to so many particles, and tangents are computed of no more.
COMPARED, MOST_TANGENTS = 1000, 10_000
TURNS, SECONDS = 7, 1.0


def pendulum_of(particles, dtype, windows):
    """Functions of the pendulum, their arguments, and the steps of a particle."""
    import jax
    import pendulum

    forward, gradient, arguments = pendulum.build(dtype, particles, windows)
    functions = {"forward": forward, "gradient": gradient}
    if particles <= MOST_TANGENTS:
        functions["tangents"] = jax.jit(lambda position, problem: problem.linearise(position))
    return functions, arguments, pendulum.STEPS


def marginal_of(particles, dtype):
    """The same of the marginal likelihood of real recordings; nothing where there are none."""
    import jax
    import jax.numpy as jnp
    from fits import load

    from pdsim.likelihood.build import build_problem
    from pdsim.likelihood.problem import Position
    from pdsim.recordings.trajectories import load_trajectories
    from pdsim.systems.simulator import build_simulator

    if not Path(f"results/{TRUSTED}/trajectories.nc").exists():
        return None
    experiment, path = load(TRUSTED)
    simulator = build_simulator(experiment.simulator)
    data = load_trajectories(path, simulator.system)
    problem = build_problem(simulator, experiment.likelihood, data, "marginal", dtype)
    random = np.random.default_rng(0)
    at = random.uniform(0.3, 0.7, (particles, problem.space.dimension))
    nothing = problem.start_shooting()
    position = Position(
        jnp.asarray(at, dtype), jnp.broadcast_to(nothing, (particles, *nothing.shape))
    )
    functions = {
        "forward": jax.jit(lambda position, problem: problem.evaluate(position)[0]),
        "gradient": jax.jit(lambda position, problem: problem.value_and_slope(position)),
        "tangents": jax.jit(lambda position, problem: problem.expand(position)),
    }
    return functions, (position, problem), problem.targets[0].size


def arm_of(particles, dtype):
    """The same of an arm from its file."""
    import articulated
    import jax

    error, *arguments = articulated.arm(articulated.PANDA, particles, dtype)
    functions = {
        "forward": jax.jit(jax.vmap(error)),
        "gradient": jax.jit(jax.vmap(jax.value_and_grad(error))),
    }
    return functions, tuple(arguments), articulated.STEPS


def cases(backend, dtype, chosen):
    """Name, particles and what ``*_of`` returns, one after the other."""
    makers = {
        "one window": lambda n, dtype: pendulum_of(n, dtype, 1),
        "ten windows": lambda n, dtype: pendulum_of(n, dtype, 10),
        "marginal": marginal_of,
        "arm": arm_of,
    }
    for name in chosen.cases:
        for particles in SIZES[name]:
            within = backend != "core" or particles <= MOST_OF_A_CORE[name]
            if particles <= chosen.most and within:
                made = makers[name](particles, dtype)
                if made is not None:
                    yield name, particles, made


def least(call):
    """Shortest of several turns [s], of which there are fewer where they are long."""
    import jax

    times: list[float] = []
    while len(times) < TURNS and sum(times) < SECONDS:
        begun = time.perf_counter()
        jax.block_until_ready(call())
        times.append(time.perf_counter() - begun)
    return min(times)


def compiled(item):
    """Compile one case."""
    *case, (functions, arguments, steps) = item
    programs = {name: f.lower(*arguments).compile() for name, f in functions.items()}
    return *case, programs, arguments, steps


def stay_on_a_core():
    """Let no thread of this process use another core from now on."""
    core = {max(os.sched_getaffinity(0))}
    for thread in Path("/proc/self/task").iterdir():
        with suppress(ProcessLookupError):  # it has ended
            os.sched_setaffinity(int(thread.name), core)


def measure(backend, dtype, chosen):
    """Measure one backend in this process, and leave records and results in a folder."""
    import jax

    from pdsim.runtime import device

    cores = len(os.sched_getaffinity(0)) if backend == "cores" else 1
    device.configure(dtype, cores)
    made = list(cases(backend, dtype, chosen))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        programs = list(pool.map(compiled, made))
    if backend == "core":
        stay_on_a_core()
    records, results = [], {}
    for name, particles, functions, arguments, steps in programs:
        for function, program in functions.items():
            found = jax.block_until_ready(program(*arguments))
            again = program(*arguments)
            pairs = zip(jax.tree.leaves(found), jax.tree.leaves(again), strict=True)
            same = all(np.array_equal(a, b, equal_nan=True) for a, b in pairs)
            if particles <= COMPARED:
                for i, leaf in enumerate(jax.tree.leaves(found)):
                    results[f"{name}|{dtype}|{particles}|{function}|{i}"] = np.asarray(leaf)
            del found, again
            seconds = least(lambda p=program, x=arguments: p(*x))
            records.append({
                "backend": backend, "case": name, "dtype": dtype, "particles": particles,
                "function": function, "seconds": seconds, "repeats": same,
                "ns": 1e9 * seconds / (particles * steps), "device": device.describe()["device"],
            })  # fmt: skip
            print(json.dumps(records[-1]), flush=True)
    np.savez(chosen.folder / f"{backend}_{dtype}.npz", **results)
    (chosen.folder / f"{backend}_{dtype}.json").write_text(json.dumps(records))


def child(backend, dtype, chosen, folder):
    """Run ``measure`` in a process that has the backend's devices and cores alone."""
    # NPROC: XLA's threads, as many as a job of one core has.
    few = {"NPROC": "4"} if backend == "core" else {}
    environment = os.environ | few | {"JAX_PLATFORMS": BACKENDS[backend]}
    words = ["--child", backend, dtype, "--folder", str(folder), "--most", str(chosen.most)]
    words += ["--cases", *(name for name in chosen.cases if name in PRECISIONS[dtype])]
    subprocess.run([sys.executable, __file__, *words], check=True, env=environment)


def difference(a, b):
    """Largest difference over the largest number; infinite where not the same numbers are known."""
    known = np.isfinite(b)
    if not np.array_equal(known, np.isfinite(a)):
        return np.inf
    a, b = np.where(known, a, 0.0), np.where(known, b, 0.0)
    scale = np.abs(b).max()
    return float(np.abs(a - b).max() / (scale if scale > 0 else 1.0))


def differences(folder):
    """How far results of the GPU are from those of a core, by case and function."""
    gpu, core = (
        {k: v for path in folder.glob(f"{backend}_*.npz") for k, v in np.load(path).items()}
        for backend in ("gpu", "core")
    )
    found: dict[str, float] = {}
    for key in set(gpu) & set(core):
        if np.issubdtype(gpu[key].dtype, np.floating) and gpu[key].size:
            name = key.rsplit("|", 1)[0]
            found[name] = max(found.get(name, 0.0), difference(gpu[key], core[key]))
    return found


def main():
    """Measure every backend, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backends", nargs="+", choices=BACKENDS, default=list(BACKENDS))
    parser.add_argument("--cases", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--most", type=int, default=100_000, help="particles at most")
    parser.add_argument("--precisions", nargs="+", choices=PRECISIONS, default=list(PRECISIONS))
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.child:
        measure(*chosen.child, chosen)
        return
    records = []
    with TemporaryDirectory() as place:
        folder = Path(place)
        for backend in chosen.backends:
            for dtype in chosen.precisions:
                if set(PRECISIONS[dtype]) & set(chosen.cases):
                    child(backend, dtype, chosen, folder)
                    records += json.loads((folder / f"{backend}_{dtype}.json").read_text())
        told = differences(folder)
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    OUTPUT.write_text(json.dumps({"times": records, "differences": told}, indent=1) + "\n")
    rows: dict[tuple, dict[str, float]] = {}
    for r in records:
        key = (r["case"], r["dtype"], r["particles"], r["function"])
        rows.setdefault(key, {})[r["backend"]] = r["ns"]
    titles = ("case", "dtype", "particles", "function")
    titles += ("GPU [ns]", "core [ns]", "all cores [ns]", "GPU − core")
    print(f"| {' | '.join(titles)} |")
    print("|---|---|---:|---|---:|---:|---:|---:|")
    for key, ns in rows.items():
        shown = [f"{ns[x]:.3g}" if x in ns else "" for x in BACKENDS]
        apart = told.get("|".join(map(str, key)))
        shown.append("" if apart is None else f"{apart:.0e}")
        print(f"| {' | '.join(map(str, key))} | {' | '.join(shown)} |")


if __name__ == "__main__":
    main()
