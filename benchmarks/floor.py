"""How near the double pendulum's roll-outs are to what the arithmetic costs.

    python benchmarks/floor.py

In one process and in turns: the log likelihood of 400 steps in C (``floor.c``, compiled here,
polynomial or vector sines, whichever is faster), ours, its gradient, the tangents of all
parameters, and the same mechanism in MuJoCo and, where it is installed, MJX. C and MuJoCo are
checked against our values before anything is timed. Each turn gives one ratio; the table has the
least, the median and the largest over turns, and ``results/benchmarks/floor.json`` has them all.

Ours are evaluated in a program that evaluates them again and again, as an estimator's does; ``one
call`` is a program of one evaluation, with what it takes JAX to call it from Python.

Times are the processor's, of all threads of this process, so that other jobs of the machine count
little; seconds by the clock stand beside them in the file.
"""

import argparse
import ctypes
import json
import shutil
import statistics
import subprocess
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pendulum
from pendulum import EULER, RK4, STEPS

SOURCE = Path(__file__).with_name("floor.c")
OUTPUT = Path("results/benchmarks/floor.json")
# Contraction and no trap, but no reordering: it would undo the reduction of the sines' argument.
FLAGS = ("-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-shared", "-fPIC")
SINES = {"polynomial": (), "library": ("-DLIBRARY",)}
TOLERANCE = 1e-9
SHORTEST = 0.02  # seconds of a turn
EVALUATIONS = 10  # of one program
TARGETS = {"forward / C": 1.5, "gradient / forward": 3.0, "tangents / (M + 1) forward": 0.6}


def compiled(folder: Path, sines: str):
    """Compile the floor and return its functions; None without a C compiler."""
    compiler = shutil.which("gcc")
    if compiler is None:
        return None
    library = folder / f"{sines}.so"
    command = [compiler, *FLAGS, *SINES[sines], str(SOURCE), "-o", str(library), "-lmvec", "-lm"]
    subprocess.run(command, check=True)
    found = ctypes.CDLL(str(library))
    size, array = ctypes.c_size_t, np.ctypeslib.ndpointer(np.float64, flags="C")
    for function, arrays in ((found.squared_error, 5), (found.slopes, 7)):
        function.argtypes = [ctypes.c_int, size, size, size, ctypes.c_double, *[array] * arrays]
        function.restype = None
    return found


class Floor:
    """The log likelihood of a problem of one recording by compiled functions."""

    def __init__(self, functions, integrator, position, problem):
        import jax

        system, space = problem.system, problem.space
        prepare = jax.vmap(lambda x: system.prepare(space.system_parameters(x))[:10])
        prepared, self.pullback = jax.vjp(prepare, position.parameters)
        coefficients = np.stack(prepared)
        start = np.asarray(problem._starts(position) * problem.state_scale)[:, 0]
        shape = (10, start.shape[1], len(start))
        # Particles innermost, and the frames of a window in one piece.
        self.arrays = [
            np.ascontiguousarray(start.transpose(2, 1, 0), np.float64),
            np.ascontiguousarray(np.broadcast_to(coefficients[:, None], shape), np.float64),
            *(
                np.ascontiguousarray(np.stack(x, -1)[:, 0].swapaxes(0, 1), np.float64)
                for x in (problem.targets, problem.inverse_deviations)
            ),
            np.empty(shape[1:]),
        ]
        self.slope_arrays = [np.empty(start.T.shape), np.empty(shape)]
        self.state_scale = np.asarray(problem.state_scale)
        frames = len(problem.targets[0])
        self.numbers = (int(integrator == RK4), *shape[:0:-1], frames, problem.frame_time)
        self.normalisation = float(problem.log_normalisation[0])
        self.functions = functions

    def __call__(self):
        self.functions.squared_error(*self.numbers, *self.arrays)

    def gradient(self):
        """Values and slopes, into the arrays."""
        self.functions.slopes(*self.numbers, *self.arrays, *self.slope_arrays)

    def values(self):
        """Log likelihood, (particle,)."""
        self()
        return self.normalisation - 0.5 * self.arrays[-1].sum(axis=0)

    def slopes(self):
        """Of the log likelihood in parameters and scaled starts, particles in front."""
        self.gradient()
        by_start, by_coefficient = (-0.5 * x for x in self.slope_arrays)
        (by_parameter,) = self.pullback(tuple(by_coefficient.sum(axis=1)))
        return by_parameter, by_start.T * self.state_scale


def check(name, found, expected, scale=None):
    """Stop if two ways to one number differ, by its size or by a scale."""
    gap = np.max(np.abs(found - expected) / np.abs(expected if scale is None else scale))
    if not gap < TOLERANCE:
        raise SystemExit(f"{name} differs from ours by {gap:.1e} relative: nothing was measured")


MECHANISM = """<mujoco><compiler autolimits="false"/>
<option timestep="{dt}" integrator="Euler" gravity="0 0 -{gravity}">
  <flag contact="disable" constraint="disable" eulerdamp="disable"/></option>
<worldbody><body><joint axis="0 -1 0" damping="{friction_1}" armature="0"/>
  <inertial pos="{com_x_1} 0 {down_1}" mass="{mass_1}" diaginertia="{inertia_1} {inertia_1} {inertia_1}"/>
  <body pos="0 0 -{length}"><joint axis="0 -1 0" damping="{friction_2}" armature="0"/>
  <inertial pos="{com_x_2} 0 {down_2}" mass="{mass_2}" diaginertia="{inertia_2} {inertia_2} {inertia_2}"/>
</body></body></worldbody></mujoco>"""  # noqa: E501


def same_mechanism(position, problem):
    """The first particle's pendulum as a MuJoCo model, its start, and our channels of its roll-out.

    ``constraint`` off and no implicit damping: MuJoCo's Euler is then ours.
    """
    import mujoco

    from pdsim.systems.rollout import rollout

    values = problem.space.system_parameters(position.parameters[0])
    numbers = {name: float(value) for name, value in values.items()}
    down = {f"down_{i}": -numbers[f"com_y_{i}"] for i in (1, 2)}
    text = MECHANISM.format(dt=problem.frame_time, **numbers, **down)
    start = np.asarray(problem.first_start[0])
    channels, _ = rollout(problem.system, problem.system.prepare(values),
                          tuple(problem.first_start[0]), frames=STEPS,
                          frame_time=problem.frame_time)  # fmt: skip
    return mujoco.MjModel.from_xml_string(text), start, np.stack(channels, axis=-1)


def mujoco_runs(particles, position, problem):
    """MuJoCo's roll-outs as calls: its step in a loop of C, and its ``rollout`` in one thread."""
    import mujoco
    from mujoco import rollout

    model, start, expected = same_mechanism(position, problem)
    data = mujoco.MjData(model)
    full = np.tile(np.concatenate([[0.0], start]), (particles, 1))
    found, _ = rollout.rollout(model, data, full[:1], nstep=STEPS)
    check("MuJoCo's roll-out", found[0][:, 1:], expected)

    def steps():
        for _ in range(particles):
            mujoco.mj_resetData(model, data)
            data.qpos[:], data.qvel[:] = start[:2], start[2:]
            mujoco.mj_step(model, data, nstep=STEPS)

    return {"mj_step": steps, "rollout": lambda: rollout.rollout(model, data, full, nstep=STEPS)}


def mjx_run(particles, position, problem):
    """MJX's roll-outs as a call; nothing where it is not installed."""
    try:
        from mujoco import mjx
    except ImportError:
        return {}
    import jax
    import jax.numpy as jnp

    model, start, expected = same_mechanism(position, problem)
    device = mjx.put_model(model)
    empty = mjx.make_data(model)

    def one(q, v):
        def advance(data, _):
            return mjx.step(device, data), None

        data = empty.replace(qpos=q, qvel=v)
        return jax.lax.scan(advance, data, None, length=STEPS)[0].qpos

    q, v = (jnp.tile(jnp.asarray(x), (particles, 1)) for x in (start[:2], start[2:]))
    roll = jax.jit(jax.vmap(one))
    check("MJX's roll-out", np.asarray(roll(q, v))[0], expected[-1, :2])
    return {"MJX": lambda: jax.block_until_ready(roll(q, v))}


def again(function):
    """A program of ``EVALUATIONS``, each of which depends on the one before."""
    import jax
    import jax.numpy as jnp

    def total(tree):
        return sum((x.sum() for x in jax.tree.leaves(tree)), start=jnp.zeros(()))

    @jax.jit
    def program(position, problem):
        def one(carry, _):
            moved = position._replace(parameters=position.parameters + 1e-30 * carry)
            return total(function(moved, problem)), None

        return jax.lax.scan(one, jnp.zeros(()), length=EVALUATIONS)[0]

    return program


def in_turns(calls, repetitions):
    """Seconds of the processor and by the clock of each call, (call, turn) each.

    A turn calls one as often as fits into ``SHORTEST``: an estimator's program evaluates again and
    again, and finds its arrays in the cache, not those of the call before.
    """
    often = {}
    for name, call in calls.items():
        call()
        clock = time.perf_counter()
        call()
        often[name] = max(int(SHORTEST / (time.perf_counter() - clock)), 1)
    times = {name: [] for name in calls}
    for _ in range(repetitions):
        for name, call in calls.items():
            clock, processor = time.perf_counter(), time.process_time()
            for _ in range(often[name]):
                call()
            spent = time.process_time() - processor, time.perf_counter() - clock
            times[name].append(np.array(spent) / often[name])
    return {name: np.array(pairs).T for name, pairs in times.items()}


def calls_of(case, folder):
    """What is measured in one case, and how many parameters it has."""
    import jax

    particles, windows, integrator = (case[x] for x in ("particles", "windows", "integrator"))
    forward, gradient, (position, problem) = pendulum.build(
        "float64", particles, windows, integrator
    )

    def tangents(position, problem):
        return problem.linearise(position)

    ours = {"forward": forward, "gradient": gradient, "tangents": tangents}
    programs = {name: again(function) for name, function in ours.items()} | {"one call": forward}
    calls = {
        name: lambda f=program: jax.block_until_ready(f(position, problem))
        for name, program in programs.items()
    }
    often = dict.fromkeys(ours, EVALUATIONS)
    expected, slopes, _ = gradient(position, problem)
    for sines in SINES:
        functions = compiled(folder, sines)
        if functions is not None:
            floor = Floor(functions, integrator, position, problem)
            check(f"C with {sines} sines", floor.values(), expected)
            in_parameters, in_starts = floor.slopes()
            for found, ours_found in ((in_parameters, slopes.parameters),
                                      (in_starts[:, 1:], slopes.shooting[:, 0])):  # fmt: skip
                if ours_found.size:
                    largest = np.abs(ours_found).max(axis=-1, keepdims=True)
                    check(f"a slope in C with {sines} sines", found, ours_found, largest)
            check(f"C with slopes and {sines} sines", floor.values(), expected)
            calls[f"C, {sines}"], calls[f"C gradient, {sines}"] = floor, floor.gradient
    if windows == 1 and integrator == EULER:
        calls |= mujoco_runs(particles, position, problem) | mjx_run(particles, position, problem)
    starts = 4 if windows > 1 else 0
    return calls, often, problem.space.dimension + starts


def ratios(times, directions):
    """What the targets are about, one number a turn."""
    found = {}
    compared = [name for name in times if name.startswith("C, ")]
    if compared:
        fastest = min(compared, key=lambda name: statistics.median(times[name]))
        found["forward / C"] = times["forward"] / times[fastest]
        found["one call / C"] = times["one call"] / times[fastest]
        slopes = fastest.replace("C", "C gradient")
        found["gradient / C"] = times["gradient"] / times[fastest]
        found["gradient / C gradient"] = times["gradient"] / times[slopes]
        found["C gradient / C"] = times[slopes] / times[fastest]
    found["gradient / forward"] = times["gradient"] / times["forward"]
    found["tangents / (M + 1) forward"] = times["tangents"] / times["forward"] / (directions + 1)
    for name in ("mj_step", "rollout", "MJX"):
        if name in times:
            found[f"{name} / forward"] = times[name] / times["forward"]
    return found


def main():
    """Measure, print and write."""
    from pdsim.runtime import device

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=15, help="turns of each case")
    chosen = parser.parse_args()
    device.configure()
    if shutil.which("gcc") is None:
        print("no gcc on PATH: without the floor in C")
    records = []
    print(f"{'integrator':20} {'particles':>9} {'windows':>7}  {'ratio':28} "
          f"{'least':>6} {'median':>6} {'most':>6}  target")  # fmt: skip
    with TemporaryDirectory() as folder:
        for integrator in (EULER, RK4):
            for particles in (100, 1000):
                for windows in (1, 10):
                    case = {"integrator": integrator, "particles": particles, "windows": windows}
                    calls, often, directions = calls_of(case, Path(folder))
                    times = in_turns(calls, chosen.repetitions)
                    times = {name: t / often.get(name, 1) for name, t in times.items()}
                    found = ratios({name: t[0] for name, t in times.items()}, directions)
                    scale = 1e9 / (particles * STEPS)
                    nanoseconds = {
                        kind: {name: list(scale * t[i]) for name, t in times.items()}
                        for i, kind in enumerate(("processor_ns", "clock_ns"))
                    }
                    lists = {name: list(values) for name, values in found.items()}
                    records.append(
                        {**case, "directions": directions, "ratios": lists, **nanoseconds}
                    )
                    for name, values in found.items():
                        target = f"{TARGETS[name]:.1f}" if name in TARGETS else ""
                        print(f"{integrator:20} {particles:9d} {windows:7d}  {name:28} "
                              f"{values.min():6.2f} {np.median(values):6.2f} {values.max():6.2f}  "
                              f"{target}", flush=True)  # fmt: skip
                    for name, t in times.items():
                        print(f"{'':40}{name:28} {scale * np.median(t[0]):8.1f} ns a particle-step")
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    OUTPUT.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
