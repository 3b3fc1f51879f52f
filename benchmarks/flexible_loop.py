"""The flexible loop: what its integrator keeps and costs, and what the experiments found.

    taskset -c 0 python benchmarks/flexible_loop.py integrator   # a quarter of an hour
    python benchmarks/flexible_loop.py results                    # after snakemake loop

Each writes CSV files into ``results/benchmarks``, which were copied to ``docs/results``:

- ``loop_speed.csv``: processor time of 2000 steps at 5 and 5 N m/rad, least of three, and of
  compilation.
- ``loop_free.csv``: the loop, the arm let go of and nothing damped, kicked with 0.005 J: how far
  it opens, and what becomes of its energy.
- ``loop_stability.csv``: 5 s of the motion of the experiments with several steps and dampings.
- ``loop_found.csv``: stiffnesses and costs of the point estimators, the paper's beside them.
- ``loop_posterior.csv``: the draws of ``loop_posterior`` against its likelihood on a grid.
"""

import csv
import sys
import time
from pathlib import Path

import numpy as np

FOLDER = Path("results/benchmarks")
EXPERIMENTS = {
    "loop_exact": "12 links, exact",
    "loop_exact_6": "6 links, exact",
    "loop_realistic": "12 links, realistic",
    "loop_mismatch": "6 links, mismatch",
}
METHODS = {"steepest_descent_single": "steepest descent", "gauss_newton_single": "Gauss–Newton"}
# Of the paper, whose recordings are not public.
PUBLISHED = {
    "12 links, the paper": {
        "kappa_theta": 4.45252,
        "kappa_psi": 0.96969,
        "cost_start": 2.13506,
        "cost": 1.106741,
        "slope": 0.001138,
        "iterations": 75,
        "minutes": 219.05,
    },
    "6 links, the paper": {"cost": 1.54588, "iterations": 75, "minutes": 61.01},
}
NOMINAL = {"kappa_theta": 4.45252, "kappa_psi": 0.96969}
FRAMES, FRAME_TIME = 2001, 0.01
# Grid of the posterior: points along each axis of the curvature, and how far it goes [deviations].
POINTS, REACH = 41, 5.0


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


def model(links):
    """The system, its values with a damping of 0.05, and inputs of a recording without noise."""
    from pdsim.recordings import arm_path
    from pdsim.systems.flexible_loop import Options, build

    system = build(Options(links=links))
    values = {name: parameter.default for name, parameter in system.parameters.items()} | NOMINAL
    config = arm_path.Config(
        source="arm_path",
        rate_hz=1 / FRAME_TIME,
        frame_count=FRAMES,
        links=links,
        train=[{"run": 0, "frames": [0, FRAMES]}],
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

    system, values, hand, inputs = model(links)
    loop, drive = system.mechanics, driven(inputs[:-1])
    q, steps = jnp.asarray(loop.start), FRAMES - 1

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
        counts = [spent(run, at) for _ in range(3)]
        row[name] = min(seconds for _, seconds in counts)
        if name == "forward":
            _, opened, mean, most = counts[0][0]
            row |= {"opened": opened, "iterations_mean": mean, "iterations_most": most}
    # A trial is a simulation; so is the first half of a gradient.
    row["iteration"] = row["forward"] + row["gradient"]
    row["sweep"] = row["adjoint"] - row["forward"]
    row["minutes_75"] = 75 * row["iteration"] / 60
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


def stability(links, dt, damping, kappa, seconds=5.0):
    """Largest stability number on the way, and when steps fail."""
    import jax
    import jax.numpy as jnp

    from pdsim.recordings.arm_path import ArmPath, reference
    from pdsim.systems.flexible_loop import Options, build
    from pdsim.systems.loop_mechanics import ARM, POSTURE, Drive
    from pdsim.variational.simulate import simulate
    from pdsim.variational.stability import stability_number

    loop, steps = build(Options(links=links)).mechanics, round(seconds / dt)
    rho = dict(zip(NOMINAL, kappa, strict=True))
    rho |= {"mass": 0.132, "damping": damping, "gravity": 9.81}
    q = jnp.asarray(loop.start)
    alone = rho | {"mass": 0.0, "kappa_theta": 0.0, "kappa_psi": 0.0}

    def holding(b):
        return -jax.grad(loop.lagrangian)(q.at[:ARM].set(b), jnp.zeros_like(q), alone)[:ARM]

    middles = jnp.asarray(reference(ArmPath(), POSTURE, (np.arange(steps) + 0.5) * dt))

    @jax.jit
    def run():
        drive = Drive(jax.vmap(holding)(middles), middles, jnp.zeros_like(middles))
        return simulate(loop, q, 0 * q, drive, rho, dt, steps=steps)

    motion, report = run()
    whole = int(np.asarray(report.converged).cumprod().sum())
    number = jax.jit(lambda q, impulse: stability_number(loop, q, impulse, rho, dt))
    shown = range(1, whole, max(round(0.05 / dt), 1) if whole == steps else 1)
    row = {"largest": max(float(number(motion.q[k - 1], motion.multiplier[k])) for k in shown)}
    return row if whole == steps else row | {"diverges": dt * whole}


def integrator():
    """Write what needs no experiment."""
    write("loop_speed.csv", {f"{links} links": speed(links) for links in (6, 12)})
    cases = ((6, 0.01), (6, 0.005), (12, 0.005), (12, 0.0025))
    write("loop_free.csv", {f"{links} links, {dt:g} s": free(links, dt) for links, dt in cases})
    usual, stiff = tuple(NOMINAL.values()), (5.0, 5.0)
    rows = {}
    for links, dt, damping, kappa in (
        (12, 0.01, 0.0, usual),
        (12, 0.005, 0.0, usual),
        (12, 0.0025, 0.0, usual),
        (12, 0.01, 0.01, usual),
        (12, 0.01, 0.05, usual),
        (12, 0.01, 0.05, stiff),
        (6, 0.01, 0.0, usual),
        (6, 0.01, 0.05, usual),
    ):
        label = f"{links} links, {dt:g} s, c = {damping:g}, κ = ({kappa[0]:.3g}, {kappa[1]:.3g})"
        rows[label] = stability(links, dt, damping, kappa)
        print(label, rows[label], flush=True)
    write("loop_stability.csv", rows)


def found():
    """What the point estimators found, beside the paper's numbers."""
    import pandas as pd

    from pdsim.config.experiment import load_experiment
    from pdsim.runtime.files import read_dataset

    rows = {}
    for name, title in EXPERIMENTS.items():
        experiment = load_experiment(f"config/experiments/{name}.yaml")
        deviation = next(iter(experiment.likelihood.noise.values()))
        peak = None
        for run, method in METHODS.items():
            folder = Path("results") / name / run / "seed0"
            history = read_dataset(folder / "posterior.nc", "history")
            convergence = read_dataset(folder / "posterior.nc", "convergence")
            if "cost" in history:
                # In nats, of observations that are met exactly.
                first = float(history["cost"].values[0]) / (2 * deviation**2)
                peak = first + float(history["log_likelihood"].values[0])
            costs = 2 * deviation**2 * (peak - history["log_likelihood"].values)
            row = {key: float(convergence["optimum"].values[i]) for i, key in enumerate(NOMINAL)}
            for i, key in enumerate(NOMINAL):
                row[f"deviation_{key}"] = float(convergence["deviation"].values[i])
            if experiment.recording.links == experiment.simulator.options["links"]:
                away = np.array([row[key] - value for key, value in NOMINAL.items()])
                for key, error in zip(NOMINAL, away, strict=True):
                    row[f"error_{key}"] = 100 * error / NOMINAL[key]
                covariance = [convergence[f"covariance_{key}"].values for key in NOMINAL]
                row["distance"] = float(np.sqrt(away @ np.linalg.solve(covariance, away)))
            row |= {"cost_start": costs[0], "cost": costs[-1], "iterations": len(costs)}
            if "slope" in history:
                row["slope"] = float(history["slope"].values[-1])
            table = pd.read_csv(folder / "benchmarks/infer.tsv", sep="\t")
            row["minutes"] = float(table["cpu_time"].iloc[-1]) / 60
            rows[f"{title}, {method}"] = row
    write("loop_found.csv", rows | PUBLISHED)


def posterior():
    """Draws against the likelihood on a grid about the optimum, along the axes of its curvature."""
    import jax
    import jax.numpy as jnp

    from pdsim.config.experiment import load_experiment
    from pdsim.inference.point import position_of
    from pdsim.likelihood.build import build_problem
    from pdsim.posterior import read_draws
    from pdsim.runtime.files import read_dataset
    from pdsim.systems.simulator import build_simulator

    name = "loop_posterior"
    experiment = load_experiment(f"config/experiments/{name}.yaml")
    simulator = build_simulator(experiment.simulator)
    data = read_dataset(f"results/{name}/trajectories.nc")
    problem = build_problem(simulator, experiment.likelihood, data, "single", "float64")
    space, folder = simulator.space, Path("results") / name
    told = read_dataset(folder / "gauss_newton_single/seed0/posterior.nc", "convergence")
    optimum = told["optimum"].values
    covariance = np.stack([told[f"covariance_{key}"].values for key in NOMINAL])
    values, axes = np.linalg.eigh(covariance)
    ticks = np.linspace(-REACH, REACH, POINTS)
    places = np.stack(np.meshgrid(ticks, ticks, indexing="ij"), axis=-1).reshape(-1, 2)
    points = optimum + (places * np.sqrt(values)) @ axes.T

    @jax.jit
    def density(x):
        return problem.evaluate(position_of(problem, x))[0][0] + space.log_prior(x)

    coordinates = np.asarray(space.to_coordinates(points))
    inside = ((coordinates >= 0) & (coordinates <= 1)).all(axis=1)
    log = np.array(
        [
            float(density(jnp.asarray(x))) if i else -np.inf
            for x, i in zip(coordinates, inside, strict=True)
        ]
    )
    weights = np.exp(log - log.max())
    weights /= weights.sum()
    edge = (np.abs(places) == REACH).any(axis=1)

    def moments(points, weights):
        mean = weights @ points
        spread = (weights * (points - mean).T) @ (points - mean)
        return mean, spread

    def row(mean, spread):
        sd = np.sqrt(np.diag(spread))
        away = mean - exact[0]
        out = {f"mean_{key}": mean[i] for i, key in enumerate(NOMINAL)}
        out |= {f"deviation_{key}": sd[i] for i, key in enumerate(NOMINAL)}
        out["correlation"] = spread[0, 1] / sd.prod()
        out["away"] = np.sqrt(away @ np.linalg.solve(exact[1], away))
        # Area of the ellipse over the exact one's.
        out["area"] = np.sqrt(np.linalg.det(spread) / np.linalg.det(exact[1]))
        return {key: float(value) for key, value in out.items()}

    exact = moments(points, weights)
    rows = {"grid": row(*exact) | {"edge": float(weights[edge].sum())}}
    rows["curvature at the optimum"] = row(optimum, covariance)
    for run in ("csvgd_single", "svgd_single"):
        draws = read_draws(folder / run / "seed0/posterior.nc", space)
        rows[f"`{run.removesuffix('_single')}`"] = row(
            *moments(draws, np.full(len(draws), 1 / len(draws)))
        ) | {"draws": float(len(draws))}
    truth = np.array([*NOMINAL.values()])
    away = truth - exact[0]
    rows["grid"]["truth"] = float(np.sqrt(away @ np.linalg.solve(exact[1], away)))
    write("loop_posterior.csv", rows)


if __name__ == "__main__":
    from pdsim.runtime import device

    device.configure("float64")
    asked = sys.argv[1:] or ["integrator", "results"]
    if "integrator" in asked:
        integrator()
    if "results" in asked:
        found()
        posterior()
