"""Throughput of robots from files, beside MuJoCo on the same mechanism in the same run.

    python benchmarks/articulated.py

The Panda of ``data/models`` with seven hinges, and with two more that carry a box. Semi-implicit
Euler with implicit viscous friction, no contacts. Ours: one batch of particles that differ in the
numbers of the last body; the gradient is that of a squared error in eleven numbers. MuJoCo:
``mj_step`` in as many threads as cores, one robot after the other in each. MJX, where it is
installed: ``mjx.step`` under ``vmap``, and its reverse-mode gradient in the last body's mass.

Writes ``results/benchmarks/articulated.json``, one record a line: nanoseconds for one step of one
particle, the least of several runs; seconds of compilation of the gradient, from no cache.
"""

import argparse
import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

PANDA = Path("data/models/panda.xml")
STEPS, FRAME_TIME = 400, 1e-3
# A universal joint below the flange, and a box below it.
BOX = """<body name="cross" pos="0 0 0.147">
  <inertial pos="0 0 0" mass="0.05" fullinertia="1e-4 1e-4 1e-4 0 0 0"/>
  <joint name="u1" axis="1 0 0" damping="0.05" armature="0"/>
  <body name="box"><inertial pos="0 0 0.2" mass="0.92" fullinertia="0.07 0.07 0.07 0 0 0"/>
    <joint name="u2" axis="0 1 0" damping="0.05" armature="0"/></body></body>
<site name="flange\""""
RUNS = 5


def least(run):
    """Shortest of several runs [s]."""
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def starts(particles, joints):
    """Positions and rates of every particle, (particle, 2, joint)."""
    random = np.random.default_rng(0)
    rest = np.resize([0.0, 0.3, 0.0, -1.8, 0.0, 2.0, 0.0, 0.1, 0.1], joints)
    return np.stack([rest + 0.1 * random.normal(size=(particles, joints)),
                     0.1 * random.normal(size=(particles, joints))], axis=1)  # fmt: skip


def both(error, *arguments):
    """Roll-out and gradient of a function of one particle [s], and the latter's compilation [s]."""
    import jax

    found = []
    for function in (error, jax.grad(error)):
        lowered = jax.jit(jax.vmap(function)).lower(*arguments)
        begun = time.perf_counter()
        compiled = lowered.compile()
        spent = time.perf_counter() - begun
        jax.block_until_ready(compiled(*arguments))
        found.append(least(lambda run=compiled: jax.block_until_ready(run(*arguments))))
    return (*found, spent)


def arm(path, particles, dtype):
    """Squared error of one particle, and numbers of a robot and starts of all particles."""
    import jax.numpy as jnp

    from pdsim.rigid_body.model import AXES, INERTIA
    from pdsim.systems.articulated import Options, build
    from pdsim.systems.rollout import rollout

    system = build(Options(model=str(path))).with_integrator("implicit_damping")
    body = system.model.bodies[-1].name
    sought = [f"body/{body}/mass", *(f"body/{body}/com/{a}" for a in AXES)]
    sought += [f"body/{body}/inertia/{e}" for e in INERTIA]
    sought.append(f"joint/{system.model.joints[-1].name}/damping")
    default = {name: parameter.default for name, parameter in system.parameters.items()}
    system = system.with_constants({k: v for k, v in default.items() if k not in sought})
    values = np.array([default[name] for name in sought])
    factors = np.random.default_rng(1).uniform(0.95, 1.05, (particles, len(sought)))

    def error(x, start):
        prepared = system.prepare(dict(zip(sought, x, strict=True)))
        begin = (start[0], start[1])
        channels, _ = rollout(system, prepared, begin, frames=STEPS, frame_time=FRAME_TIME)
        return sum((channel**2).sum() for channel in channels)

    x = jnp.asarray(values * factors, dtype)
    return error, x, jnp.asarray(starts(particles, system.model.velocity_count), dtype)


def mujoco_step(path, particles, threads):
    """Roll-out by MuJoCo [s]."""
    import mujoco

    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.timestep = FRAME_TIME
    model.jnt_limited[:] = 0
    begin = starts(particles, model.nv)

    def some(which):
        data = mujoco.MjData(model)
        for q, v in begin[which::threads]:
            mujoco.mj_resetData(model, data)
            data.qpos[:], data.qvel[:] = q, v
            mujoco.mj_step(model, data, nstep=STEPS)

    with ThreadPoolExecutor(threads) as pool:
        return least(lambda: list(pool.map(some, range(threads))))


def mjx_step(path, particles):
    """Roll-out and gradient [s] and compilation of the gradient [s] by MJX; nothing without it."""
    try:
        from mujoco import mjx
    except ImportError:
        return None
    import jax
    import jax.numpy as jnp
    import mujoco

    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.timestep = FRAME_TIME
    model.jnt_limited[:] = 0
    device = mjx.put_model(model)
    empty = mjx.make_data(model)

    def error(mass, start):
        changed = device.replace(body_mass=device.body_mass.at[-1].set(mass))
        data = empty.replace(qpos=start[0], qvel=start[1])

        def advance(data, _):
            data = mjx.step(changed, data)
            return data, (data.qpos**2).sum()

        return jax.lax.scan(advance, data, None, length=STEPS)[1].sum()

    mass = jnp.full(particles, model.body_mass[-1])
    start = jnp.asarray(starts(particles, model.nv))
    return both(error, mass, start)


def main():
    """Measure, print and write."""
    from pdsim.runtime import device

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--particles", type=int, nargs="+", default=[50, 1000])
    chosen = parser.parse_args()
    device.configure()
    threads = len(os.sched_getaffinity(0))
    records = []
    output = Path("results/benchmarks/articulated.json")
    output.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as folder:
        boxed = Path(folder) / "panda_with_box.xml"
        boxed.write_text(PANDA.read_text().replace('<site name="flange"', BOX))
        for joints, path in ((7, PANDA), (9, boxed)):
            for particles in chosen.particles:
                count = particles * STEPS
                roll, gradient, spent = both(*arm(path, particles, "float64"))
                theirs = mujoco_step(path, particles, threads)
                other = mjx_step(path, particles) or (None, None, None)
                record = {
                    "joints": joints, "particles": particles, "steps": STEPS, "dtype": "float64",
                    "ours_rollout_ns": roll / count * 1e9,
                    "ours_gradient_ns": gradient / count * 1e9,
                    "ours_compile_s": spent,
                    "mjx_rollout_ns": other[0] and other[0] / count * 1e9,
                    "mjx_gradient_ns": other[1] and other[1] / count * 1e9,
                    "mjx_compile_s": other[2],
                    "mujoco_rollout_ns": theirs / count * 1e9,
                }  # fmt: skip
                records.append(record)
                print(json.dumps(record), flush=True)
                output.write_text("".join(json.dumps(record) + "\n" for record in records))


if __name__ == "__main__":
    main()
