"""The flexible loop: what the experiments found, and what each error of the sensors does.

    python benchmarks/flexible_loop_results.py   # after snakemake loop; some minutes

Writes CSV files into ``results/benchmarks``, which were copied to ``docs/results``:

- ``loop_found.csv``: stiffnesses and costs of the point estimators, the paper's beside them.
- ``loop_posterior.csv``: the draws of ``loop_posterior`` against its likelihood on a grid.
- ``loop_noise.csv``: the cost at the truth under one error after the other.
- ``loop_spread.csv``: how far estimates of ``loop_realistic`` scatter, beside their curvature.
"""

import sys
from functools import cache
from pathlib import Path

import numpy as np
from flexible_loop import FRAME_TIME, FRAMES, NOMINAL, driven, recorded, write

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
# Grid of the posterior: points along each axis of the curvature, and how far it goes [deviations].
POINTS, REACH = 21, 4.0
# What differs of the loop that is recorded; how often errors are drawn.
OTHERWISE = {"substeps": 4, "mass_spread": 0.05}
DRAWS = 40


def found():
    """What the point estimators found, beside the paper's numbers."""
    import pandas as pd

    from pdsim.config.experiment import load_experiment
    from pdsim.runtime.files import read_dataset

    rows = {}
    for name, title in EXPERIMENTS.items():
        experiment = load_experiment(f"config/experiments/{name}.yaml")
        deviation = next(iter(experiment.likelihood.noise.values()))
        # In nats, of observations that are met exactly.
        observations = 3 * (experiment.recording.frame_count - 1)
        peak = -observations * np.log(deviation * np.sqrt(2 * np.pi))
        for run, method in METHODS.items():
            folder = Path("results") / name / run / "seed0"
            if not (folder / "posterior.nc").exists():
                print(f"{folder}: no posterior.nc; left out")
                continue
            history = read_dataset(folder / "posterior.nc", "history")
            convergence = read_dataset(folder / "posterior.nc", "convergence")
            # What is left of a perfect fit is rounding.
            costs = np.maximum(2 * deviation**2 * (peak - history["log_likelihood"].values), 0.0)
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
            # By the clock, and other work may have run beside it.
            row["iteration"] = float(np.diff(history["seconds"].values).min())
            # Snakemake's; a run by hand has none.
            spent = folder / "benchmarks/infer.tsv"
            if spent.exists():
                row["minutes"] = float(pd.read_csv(spent, sep="\t")["cpu_time"].iloc[-1]) / 60
            rows[f"{title}, {method}"] = row
    write("loop_found.csv", rows | PUBLISHED)


def posterior():
    """Draws against the likelihood on a grid about the optimum, along the axes of its curvature."""
    import jax
    import jax.numpy as jnp

    from pdsim.config.experiment import load_experiment
    from pdsim.likelihood.build import build_problem
    from pdsim.likelihood.problem import Position
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

    shooting = problem.start_shooting()[None]

    @jax.jit
    def density(x):
        position = Position(x, jnp.broadcast_to(shooting, (len(x), *shooting.shape[1:])))
        return problem.evaluate(position)[0] + space.log_prior(x)

    coordinates = np.asarray(space.to_coordinates(points))
    inside = ((coordinates >= 0) & (coordinates <= 1)).all(axis=1)
    # A row of the grid at a time.
    rows_of = jnp.asarray(np.clip(coordinates, 0, 1)).reshape(POINTS, POINTS, 2)
    log = np.where(inside, np.concatenate([np.asarray(density(row)) for row in rows_of]), -np.inf)
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
        path = folder / run / "seed0/posterior.nc"
        if not path.exists():
            print(f"{path}: no such file; left out")
            continue
        draws = read_draws(path, space)
        rows[f"`{run.removesuffix('_single')}`"] = row(
            *moments(draws, np.full(len(draws), 1 / len(draws)))
        ) | {"draws": float(len(draws))}
    truth = np.array([*NOMINAL.values()])
    away = truth - exact[0]
    rows["grid"]["truth"] = float(np.sqrt(away @ np.linalg.solve(exact[1], away)))
    write("loop_posterior.csv", rows)


@cache
def simulated():
    """12 links, and a function of inputs (frame, 21) and stiffnesses: the hand (frame − 1, 3)."""
    import jax
    import jax.numpy as jnp

    from pdsim.systems.flexible_loop import Options, build
    from pdsim.variational.simulate import simulate

    system = build(Options(links=12))
    values = {name: parameter.default for name, parameter in system.parameters.items()}
    loop, steps = system.mechanics, FRAMES - 1
    q = jnp.asarray(loop.start)

    @jax.jit
    def run(inputs, kappa):
        rho = values | dict(zip(NOMINAL, kappa, strict=True))
        motion, _ = simulate(loop, q, 0 * q, driven(inputs[:-1]), rho, FRAME_TIME, steps=steps)
        return jax.vmap(loop.hand)(motion.q)

    truth = tuple(NOMINAL.values())
    return loop, lambda inputs, kappa=truth: np.asarray(run(inputs, kappa))


def noise():
    """What each error of the sensors makes of the cost at the truth, 12 links."""
    _, run = simulated()
    _, _, hand, inputs = recorded(12)
    seen, shaken = recorded(12, angle_noise=1.5e-3)[2:]
    angle, rate = inputs.copy(), inputs.copy()
    angle[:, 7:14], rate[:, 14:] = shaken[:, 7:14], shaken[:, 14:]
    torque, bias = {"torque_noise": 0.01}, {"torque_bias": 0.3}
    cases = {
        "none": (hand, inputs),
        "unequal masses, four steps to a frame": recorded(12, **OTHERWISE)[2:],
        "angles 1.5 mrad": (seen, shaken),
        "the same, in what is seen of the hand": (seen, inputs),
        "the same, in the drive": (hand, shaken),
        "of that, the angles": (hand, angle),
        "of that, their differences": (hand, rate),
        "torques 1 %": recorded(12, **torque)[2:],
        "torques, a constant 0.3 N m": recorded(12, **bias)[2:],
        "all": recorded(12, angle_noise=1.5e-3, **OTHERWISE, **torque, **bias)[2:],
    }
    rows = {}
    for name, (hand, inputs) in cases.items():
        away = run(inputs) - hand[1:]
        rows[name] = {
            "cost": float((away**2).sum()),
            "deviation": 1e3 * float(away.std(axis=0).max()),
            "offset": 1e3 * float(np.abs(away.mean(axis=0)).max()),
        }
    write("loop_noise.csv", rows)


def spread():
    """How far estimates of ``loop_realistic`` scatter when its errors are drawn, to first order.

    With e the misfit of the hand at the truth and S its slopes, least squares misses the truth by
    −(SᵀS)⁻¹ Sᵀ e. The masses of the links stay as they are.
    """
    import jax

    from pdsim.runtime.files import read_dataset
    from pdsim.systems.loop_mechanics import ARM, POSTURE

    loop, run = simulated()
    _, _, _, inputs = recorded(12, **OTHERWISE)
    torque, rate = inputs[:, :ARM], inputs[:-1, 2 * ARM :]
    b = np.array(POSTURE) + np.concatenate([np.zeros((1, ARM)), rate.cumsum(axis=0)]) * FRAME_TIME
    hand = jax.jit(jax.vmap(lambda b: loop.hand(jax.numpy.asarray(loop.start).at[:ARM].set(b))))
    truth, step = np.array([*NOMINAL.values()]), 1e-3
    ends = [[run(inputs, tuple(truth + s * step * e)) for s in (1, -1)] for e in np.eye(2)]
    S = np.stack([(above - below).ravel() / (2 * step) for above, below in ends], axis=1)
    missed = []
    for seed in range(1, DRAWS + 1):
        rng = np.random.default_rng(seed)
        angle = b + 1.5e-3 * rng.normal(size=b.shape)
        felt = torque * (1 + 0.01 * rng.normal(size=torque.shape)) + 0.3 * rng.normal(size=ARM)
        drive = [felt[:-1], (angle[1:] + angle[:-1]) / 2, np.diff(angle, axis=0) / FRAME_TIME]
        shaken = np.concatenate(drive, axis=1)
        shaken = np.concatenate([shaken, shaken[-1:]])
        e = (run(shaken) - np.asarray(hand(angle))[1:]).ravel()
        missed.append(-np.linalg.lstsq(S, e, rcond=None)[0])
    missed = np.array(missed)
    told = read_dataset(
        "results/loop_realistic/gauss_newton_single/seed0/posterior.nc", "convergence"
    )
    away = told["optimum"].values - truth
    curvature = np.stack([told[f"covariance_{key}"].values for key in NOMINAL])
    rows = {}
    scattered = np.cov(missed, rowvar=False)
    for name, mean, covariance in (
        ("curvature at the optimum", np.zeros(2), curvature),
        (f"{DRAWS} draws of the errors", missed.mean(axis=0), scattered),
    ):
        d = away - mean
        rows[name] = {f"mean_{key}": mean[i] for i, key in enumerate(NOMINAL)}
        rows[name] |= {f"deviation_{k}": np.sqrt(covariance[i, i]) for i, k in enumerate(NOMINAL)}
        rows[name]["distance"] = float(np.sqrt(d @ np.linalg.solve(covariance, d)))
    write("loop_spread.csv", rows)


if __name__ == "__main__":
    from pdsim.runtime import device

    device.configure("float64")
    parts = {"found": found, "posterior": posterior, "noise": noise, "spread": spread}
    for name in sys.argv[1:] or parts:
        parts[name]()
