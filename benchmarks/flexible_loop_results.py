"""The flexible loop: what the experiments found, and what each error of the sensors does.

    python benchmarks/flexible_loop_results.py   # after snakemake loop; some minutes

Writes CSV files into ``results/benchmarks``, which were copied to ``docs/results``:

- ``loop_found.csv``: stiffnesses and costs of the point estimators, the paper's beside them.
- ``loop_descent.csv``: how fast steepest descent can be, by the curvature of the cost, and was.
- ``loop_posterior.csv``: the draws of ``loop_posterior`` against its likelihood on a grid.
- ``loop_noise.csv``: the cost at the truth under one error after the other.
- ``loop_spread.csv``: how far estimates of ``loop_realistic`` and ``loop_bias`` scatter, beside
  their curvatures.
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
    "loop_bias": "12 links, biases sought",
    "loop_mismatch": "6 links, mismatch",
}
METHODS = {
    "steepest_descent_single": "steepest descent",
    "long_steps": "steepest descent, s = 10",
    "gauss_newton_single": "Gauss–Newton",
}
# Of the paper, whose recordings are not public.
PUBLISHED = {
    "12 links, the paper": {
        "kappa_theta": 4.45252,
        "kappa_psi": 0.96969,
        "cost_start": 2.13506,
        "cost": 1.106741,
        "slope": 0.001138,
        "iterations": 75,
        "clock": 219.05,
    },
    "6 links, the paper": {"cost": 1.54588, "iterations": 75, "clock": 61.01},
}
# Grid of the posterior: points along each axis of the curvature, and how far it goes [deviations].
POINTS, REACH = 21, 4.0
# What differs of the loop that is recorded; errors of the sensors; how often they are drawn.
OTHERWISE = {"substeps": 4, "mass_spread": 0.05}
ANGLE, TORQUE, BIAS = 1.5e-3, 0.01, 0.3
# σ of the hand in the likelihoods of ``loop_realistic`` and ``loop_bias`` [m].
HAND = 1.2e-3
DRAWS = 40
# What the truth must be inside, as deviations squared: 95 % of two parameters.
INSIDE = 5.991
# How near the truth an exact recording ought to bring the stiffnesses.
NEAR = 1e-4
# Of the line search, tried on the parabola of J.
FIRST_STEPS = (1, 10, 40)

TRUTH = np.array([*NOMINAL.values()])


def told_by(folder):
    """Optimum, deviations and covariance of the stiffnesses, of a point estimator's run."""
    from pdsim.runtime.files import read_dataset

    told = read_dataset(folder / "posterior.nc", "convergence")
    count = len(NOMINAL)
    covariance = np.stack([told[f"covariance_{key}"].values[:count] for key in NOMINAL])
    return told["optimum"].values[:count], told["deviation"].values[:count], covariance


def distance(away, covariance):
    """Of two points, in deviations."""
    return float(np.sqrt(away @ np.linalg.solve(covariance, away)))


def found():
    """What the point estimators found, beside the paper's numbers."""
    import pandas as pd

    from pdsim.experiment.load import load_experiment
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
            optimum, deviations, covariance = told_by(folder)
            # What is left of a perfect fit is rounding.
            costs = np.maximum(2 * deviation**2 * (peak - history["log_likelihood"].values), 0.0)
            row = dict(zip(NOMINAL, optimum, strict=True))
            row |= {f"deviation_{key}": x for key, x in zip(NOMINAL, deviations, strict=True)}
            if experiment.recording.links == experiment.simulator.options["links"]:
                away = optimum - TRUTH
                for key, error in zip(NOMINAL, away, strict=True):
                    row[f"error_{key}"] = 100 * error / NOMINAL[key]
                row["distance"] = distance(away, covariance)
            row |= {"cost_start": costs[0], "cost": costs[-1], "iterations": len(costs)}
            if "slope" in history:
                row["slope"] = float(history["slope"].values[-1])
            # By the clock, and other work may have run beside it.
            row["clock"] = float(history["seconds"].values[-1]) / 60
            # Snakemake's; a run by hand has none.
            spent = folder / "benchmarks/infer.tsv"
            if spent.exists():
                row["minutes"] = float(pd.read_csv(spent, sep="\t")["cpu_time"].iloc[-1]) / 60
            rows[f"{title}, {method}"] = row
    write("loop_found.csv", rows | PUBLISHED)


def descent():
    """Steepest descent on the exact recording: as it was, and by the curvature of J at the truth.

    J is a parabola near the truth, of Hessian 2 SᵀS with S the slopes of the hand's path. With
    steps s the error along an axis of curvature l shrinks by 1 − s l in an iteration.
    """
    from pdsim.runtime.files import read_dataset

    inputs = recorded(12)[3]
    _, run = simulated()
    S = slopes_of(lambda away: run(inputs, TRUTH + away), len(NOMINAL))
    folder = Path("results/loop_exact/steepest_descent_single/seed0")
    history = read_dataset(folder / "posterior.nc", "history")
    away = told_by(folder)[0] - TRUTH
    write("loop_descent.csv", descents(S, away, history["slope"].values))


def descents(S, away, slopes):
    """Rows of first steps: what is left after a run with s = 1 that ended so far from the truth."""
    hessian = 2 * S.T @ S
    least, most = np.linalg.eigvalsh(hessian)
    rows = {f"s = {first}": armijo(hessian, away, first) for first in FIRST_STEPS}
    seen = slopes[-1] / slopes[-2]
    rows["s = 1"] |= {"most": most, "least": least, "expected": 1 - least, "seen": seen}
    return rows


def armijo(hessian, away, first, share=0.4):
    """Iterations and trials of the descent on a parabola until it is near, α = β = 0.4."""
    iterations = trials = 0
    while np.abs(away).max() > NEAR:
        slope, step = hessian @ away, first / share
        below = -np.inf
        while below < share * step * slope @ slope:
            step *= share
            ahead = away - step * slope
            below = 0.5 * (away @ hessian @ away - ahead @ hessian @ ahead)
            trials += 1
        away, iterations = ahead, iterations + 1
    return {"iterations": iterations, "trials": trials}


def slopes_of(hand, count, step=1e-3):
    """Slopes of the hand's path, a function of ``count`` numbers at 0, by central differences."""
    ends = [[hand(sign * step * e) for sign in (1, -1)] for e in np.eye(count)]
    return np.stack([(above - below).ravel() / (2 * step) for above, below in ends], axis=1)


def posterior():
    """Draws against the likelihood on a grid about the optimum, along the axes of its curvature."""
    import jax
    import jax.numpy as jnp

    from pdsim.experiment.load import load_experiment
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
    optimum, _, covariance = told_by(folder / "gauss_newton_single/seed0")
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
        out["away"] = distance(away, exact[1])
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
    rows["grid"]["truth"] = distance(TRUTH - exact[0], exact[1])
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

    return loop, lambda inputs, kappa=TRUTH: np.asarray(run(inputs, tuple(kappa)))


def noise():
    """What each error of the sensors makes of the cost at the truth, 12 links."""
    _, run = simulated()
    _, _, hand, inputs = recorded(12)
    seen, shaken = recorded(12, angle_noise=ANGLE)[2:]
    angle, rate = inputs.copy(), inputs.copy()
    angle[:, 7:14], rate[:, 14:] = shaken[:, 7:14], shaken[:, 14:]
    torque, bias = {"torque_noise": TORQUE}, {"torque_bias": BIAS}
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
        "all": recorded(12, angle_noise=ANGLE, **OTHERWISE, **torque, **bias)[2:],
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
    """How far estimates scatter when the errors of the sensors are drawn, to first order.

    With e the misfit of the hand at the truth and S its slopes, least squares misses the truth by
    −(SᵀS)⁻¹ Sᵀ e; where the biases of the torques are sought, their slopes are columns of S and
    their prior adds rows. The masses of the links stay as they are.
    """
    import jax

    from pdsim.systems.loop_mechanics import ARM, POSTURE

    loop, run = simulated()
    _, _, _, inputs = recorded(12, **OTHERWISE)
    torque, rate = inputs[:, :ARM], inputs[:-1, 2 * ARM :]
    b = np.array(POSTURE) + np.concatenate([np.zeros((1, ARM)), rate.cumsum(axis=0)]) * FRAME_TIME
    hand = jax.jit(jax.vmap(lambda b: loop.hand(jax.numpy.asarray(loop.start).at[:ARM].set(b))))

    def at(away):
        """The hand with stiffnesses and biases so far from the truth and from 0."""
        off = np.concatenate([away[2:], np.zeros(2 * ARM)])
        return run(inputs - off, TRUTH + away[:2])

    S = slopes_of(at, 2 + ARM)
    held = HAND / BIAS * np.eye(2 + ARM)[2:]
    missed = []
    for seed in range(1, DRAWS + 1):
        rng = np.random.default_rng(seed)
        angle = b + ANGLE * rng.normal(size=b.shape)
        felt = torque * (1 + TORQUE * rng.normal(size=torque.shape)) + BIAS * rng.normal(size=ARM)
        drive = [felt[:-1], (angle[1:] + angle[:-1]) / 2, np.diff(angle, axis=0) / FRAME_TIME]
        shaken = np.concatenate(drive, axis=1)
        shaken = np.concatenate([shaken, shaken[-1:]])
        e = (run(shaken) - np.asarray(hand(angle))[1:]).ravel()
        two = np.linalg.lstsq(S[:, :2], -e, rcond=None)[0]
        e = np.append(e, np.zeros(ARM))
        nine = np.linalg.lstsq(np.concatenate([S, held]), -e, rcond=None)[0]
        missed.append((two, nine[:2]))
    rows = {}
    alone, both = np.swapaxes(missed, 0, 1)
    for name, errors in (("loop_realistic", alone), ("loop_bias", both)):
        optimum, _, curvature = told_by(Path("results") / name / "gauss_newton_single/seed0")
        inside = [distance(error, curvature) ** 2 <= INSIDE for error in errors]
        scattered = np.cov(errors, rowvar=False)
        for title, mean, covariance in (
            ("curvature at the optimum", np.zeros(2), curvature),
            (f"{DRAWS} draws of the errors", errors.mean(axis=0), scattered),
        ):
            row = {f"mean_{key}": mean[i] for i, key in enumerate(NOMINAL)}
            row |= {f"deviation_{k}": np.sqrt(covariance[i, i]) for i, k in enumerate(NOMINAL)}
            row["distance"] = distance(optimum - TRUTH - mean, covariance)
            rows[f"`{name}`, {title}"] = row
        rows[f"`{name}`, curvature at the optimum"]["inside"] = 100 * np.mean(inside)
    write("loop_spread.csv", rows)


if __name__ == "__main__":
    from pdsim.runtime import device

    device.configure("float64")
    parts = {
        "found": found,
        "descent": descent,
        "posterior": posterior,
        "noise": noise,
        "spread": spread,
    }
    for name in sys.argv[1:] or parts:
        parts[name]()
