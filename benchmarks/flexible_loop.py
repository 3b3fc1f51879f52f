"""The flexible loop: what its integrator keeps and costs.

    taskset -c 0 python benchmarks/flexible_loop.py   # a quarter of an hour on one core

Writes CSV files into ``results/benchmarks``, which were copied to ``docs/results``:

- ``loop_speed.csv``: processor time of a step at 5 and 5 N m/rad, lesser of two runs of 400 steps,
  and of compilation.
- ``loop_stability.csv``: 5 s of the motion of the experiments with several steps and dampings.
- ``loop_free.csv``: the loop, the arm let go of and nothing damped, kicked with 0.005 J: how far
  it opens, and what becomes of its energy.
"""

import csv
import sys
import time
from functools import cache
from pathlib import Path

import numpy as np

FOLDER = Path("results/benchmarks")
NOMINAL = {"kappa_theta": 4.45252, "kappa_psi": 0.96969}
FRAMES, FRAME_TIME = 2001, 0.01
# Steps that are timed.
TIMED = 400


def write(name, rows):
    """Write rows, label → column → number, as ``pdsim document`` reads them."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    columns = list(dict.fromkeys(key for row in rows.values() for key in row))
    with (FOLDER / name).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["case", *columns])
        for label, row in rows.items():
            writer.writerow([label, *(f"{row[key]:.6g}" if key in row else "" for key in columns)])
    print((FOLDER / name).read_text(encoding="utf-8"))


def spent(function, *arguments):
    """What a call returns, and its processor time [s]."""
    import jax

    begun = time.process_time()
    found = jax.block_until_ready(function(*arguments))
    return found, time.process_time() - begun


def compiled(function, *arguments):
    """A compiled function, and the processor time that took [s]."""
    import jax

    begun = time.process_time()
    made = jax.jit(function).lower(*arguments).compile()
    return made, time.process_time() - begun


def recorded(links, frames=FRAMES, **noise):
    """The system, its values with a damping of 0.05, and a recording: hand and inputs."""
    from pdsim.recordings import arm_path
    from pdsim.systems.flexible_loop import Options, build

    system = build(Options(links=links))
    values = {name: parameter.default for name, parameter in system.parameters.items()} | NOMINAL
    config = arm_path.Config(
        source="arm_path",
        rate_hz=1 / FRAME_TIME,
        frame_count=frames,
        links=links,
        train=[{"run": 0, "frames": [0, frames]}],
        **noise,
    )
    hand, inputs = arm_path.simulate(config, system, values, 0)
    return system, values, hand, inputs


def driven(inputs):
    """Inputs (frame, 21) as the integrator takes them."""
    import jax.numpy as jnp

    from pdsim.systems.loop_mechanics import ARM, Drive

    return Drive(*(jnp.asarray(inputs[:, i : i + ARM]) for i in range(0, 3 * ARM, ARM)))


def speed(links):
    """Forward, gradient and compilation of the experiments' simulation."""
    import jax
    import jax.numpy as jnp

    from pdsim.variational.adjoint import simulate_by_adjoint
    from pdsim.variational.simulate import simulate

    steps = TIMED
    system, values, hand, inputs = recorded(links, frames=steps + 1)
    loop, drive = system.mechanics, driven(inputs[:-1])
    q = jnp.asarray(loop.start)

    def costs(motion):
        return ((jax.vmap(loop.hand)(motion.q) - hand[1:]) ** 2).sum()

    def forward(kappa):
        rho = values | {"kappa_theta": kappa[0], "kappa_psi": kappa[1]}
        motion, report = simulate(loop, q, 0 * q, drive, rho, FRAME_TIME, steps=steps)
        opened = jnp.abs(jax.vmap(lambda q: loop.constraint(q, rho))(motion.q)).max()
        return costs(motion), opened, report.iterations.mean(), report.iterations.max()

    def by_steps(kappa):
        rho = values | {"kappa_theta": kappa[0], "kappa_psi": kappa[1]}
        return costs(simulate(loop, q, 0 * q, drive, rho, FRAME_TIME, steps=steps)[0])

    def by_adjoint(kappa):
        rho = values | {"kappa_theta": kappa[0], "kappa_psi": kappa[1]}
        return costs(simulate_by_adjoint(loop, q, 0 * q, drive, rho, FRAME_TIME, steps)[0])

    at = jnp.array([5.0, 5.0])
    row = {}
    for name, function in (
        ("forward", forward),
        ("gradient", jax.value_and_grad(by_steps)),
        ("adjoint", jax.value_and_grad(by_adjoint)),
    ):
        run, row[f"{name}_compile"] = compiled(function, at)
        counts = [spent(run, at) for _ in range(2)]
        row[name] = 1e3 * min(seconds for _, seconds in counts) / steps
        if name == "forward":
            _, opened, mean, most = counts[0][0]
            row |= {"opened": opened, "iterations_mean": mean, "iterations_most": most}
    return {key: float(value) for key, value in row.items()}


def free(links, dt, joules=0.005, seconds=20.0):
    """The undamped loop on an arm that nobody drives, without gravity."""
    import jax
    import jax.numpy as jnp

    from pdsim.systems.flexible_loop import Options, build
    from pdsim.variational.constraint import mass_matrix
    from pdsim.variational.midpoint import constraint_slopes, momentum
    from pdsim.variational.simulate import simulate

    nothing = (0.0,) * 7
    loop = build(Options(links=links, position_gain=nothing, velocity_gain=nothing)).mechanics
    rho = NOMINAL | {"mass": 0.132, "damping": 0.0, "gravity": 0.0}
    q, steps = jnp.asarray(loop.start), round(seconds / dt)
    null = np.linalg.svd(constraint_slopes(loop, q, rho))[2][12:].T
    v = null @ np.random.default_rng(0).normal(size=null.shape[1])
    v *= np.sqrt(joules / (0.5 * v @ mass_matrix(loop, q, rho) @ v))

    @jax.jit
    def run(v):
        p = momentum(loop, q, v, rho)
        drive = driven(jnp.zeros((steps, 21)))
        motion, report = simulate(loop, q, p, drive, rho, dt, steps=steps)
        whole = jnp.concatenate([q[None], motion.q])
        pairs = 0.5 * (whole[1:] + whole[:-1]), jnp.diff(whole, axis=0) / dt

        def energy(q, v):
            value, slope = jax.value_and_grad(loop.lagrangian, 1)(q, v, rho)
            return v @ slope - value

        opened = jnp.abs(jax.vmap(lambda q: loop.constraint(q, rho))(motion.q)).max()
        return jax.vmap(energy)(*pairs), opened, report

    found, opened, report = run(jnp.asarray(v))
    if not bool(report.converged.all()):
        return {"diverges": dt * int(np.argmax(~np.asarray(report.converged)))}
    found = np.asarray(found)
    return {
        "opened": float(opened),
        "energy_most": 1e3 * float(np.abs(found - found[0]).max()),
        "energy_slope": float(np.polyfit(dt * np.arange(steps), found, 1)[0]),
    }


@cache
def motions(links, dt, seconds=5.0):
    """Function of damping and stiffnesses: the experiments' motion, and its stability numbers."""
    import jax
    import jax.numpy as jnp

    from pdsim.recordings.arm_path import ArmPath, reference
    from pdsim.systems.flexible_loop import Options, build
    from pdsim.systems.loop_mechanics import ARM, POSTURE, Drive
    from pdsim.variational.simulate import simulate
    from pdsim.variational.stability import stability_number

    loop, steps = build(Options(links=links)).mechanics, round(seconds / dt)
    q = jnp.asarray(loop.start)
    middles = jnp.asarray(reference(ArmPath(), POSTURE, (np.arange(steps) + 0.5) * dt))

    @jax.jit
    def run(damping, kappa):
        rho = {"kappa_theta": kappa[0], "kappa_psi": kappa[1], "mass": 0.132, "gravity": 9.81}
        rho |= {"damping": damping}
        alone = rho | {"mass": 0.0, "kappa_theta": 0.0, "kappa_psi": 0.0}

        def holding(b):
            return -jax.grad(loop.lagrangian)(q.at[:ARM].set(b), jnp.zeros_like(q), alone)[:ARM]

        drive = Drive(jax.vmap(holding)(middles), middles, jnp.zeros_like(middles))
        motion, report = simulate(loop, q, 0 * q, drive, rho, dt, steps=steps)
        numbers = jax.vmap(lambda q, impulse: stability_number(loop, q, impulse, rho, dt))(
            motion.q[:-1], motion.multiplier[1:]
        )
        return numbers, report

    return run


def stability(links, dt, damping, kappa):
    """Largest stability number on the way, and when steps fail."""
    numbers, report = motions(links, dt)(damping, np.array(kappa))
    row = {"largest": float(np.nanmax(numbers))}
    lost = ~np.asarray(report.converged)
    return row | {"diverges": dt * float(np.argmax(lost))} if lost.any() else row


def write_speed():
    """Of 6 and of 12 links."""
    write("loop_speed.csv", {f"{links} links": speed(links) for links in (6, 12)})


def write_stability():
    """The default, and what it is chosen against."""
    usual, stiff = tuple(NOMINAL.values()), (5.0, 5.0)
    cases = (
        (12, 0.01, 0.0, usual),
        (12, 0.005, 0.0, usual),
        (12, 0.0025, 0.0, usual),
        (12, 0.01, 0.01, usual),
        (12, 0.01, 0.05, usual),
        (12, 0.01, 0.05, stiff),
        (6, 0.01, 0.0, usual),
        (6, 0.01, 0.05, usual),
    )
    rows = {}
    for links, dt, damping, kappa in cases:
        label = f"{links} links, {dt:g} s, c = {damping:g}, κ = ({kappa[0]:.3g}, {kappa[1]:.3g})"
        rows[label] = stability(links, dt, damping, kappa)
    write("loop_stability.csv", rows)


def write_free():
    """Steps at which the undamped loop is stable."""
    cases = ((6, 0.01), (6, 0.005), (12, 0.0025))
    write("loop_free.csv", {f"{links} links, {dt:g} s": free(links, dt) for links, dt in cases})


if __name__ == "__main__":
    from pdsim.runtime import device

    device.configure("float64")
    parts = {"speed": write_speed, "stability": write_stability, "free": write_free}
    for name in sys.argv[1:] or parts:
        parts[name]()
