"""Does what a model misses repeat? Correlation of the smoothed process noise over windows.

    python benchmarks/process_noise.py   # some minutes

Least squares fits all recordings of a motion at once; at its optimum the smoother tells by how
much each window starts off where the one before ended. ``between`` is the deviation over recordings
of the logarithm of its root mean square. Reads ``results/<experiment>/
trajectories.nc`` and writes ``results/benchmarks/process_noise.csv``, which was copied to
``docs/results``.
"""

from fits import load, write

SETTINGS = {"slow": "trusted_calibrated", "fast": "trusted_chaotic"}
# Windows of 20 ms apart.
LAGS = (1, 2, 4, 8, 15, 20, 26)
STARTS = 2


def fitted(name, change=lambda experiment: experiment):
    """Return the problem of all recordings at once and its optimum, unit coordinates.

    Args:
        change: makes another experiment of the one that is named.
    """
    import jax.numpy as jnp
    import numpy as np

    from pdsim.inference import load_estimator
    from pdsim.inference.least_squares import Settings
    from pdsim.inference.runner import run
    from pdsim.likelihood.build import build_problem
    from pdsim.runtime.files import read_dataset
    from pdsim.systems.simulator import build_simulator

    experiment, path = load(name)
    experiment = change(experiment)
    data = read_dataset(path)
    data = data.assign_coords(split=("trajectory", np.full(data.sizes["trajectory"], "train")))
    simulator = build_simulator(experiment.simulator)
    problem = build_problem(simulator, experiment.likelihood, data, "marginal", "float64")
    estimator = load_estimator(
        "least_squares", Settings(start_count=STARTS), experiment.budget("paper")
    )
    found = run(estimator, problem, seed=0, chunk_size=10, report=False)
    return problem, jnp.asarray(estimator.laplace(found.state).optimum)


def gaps(name):
    """From the end of each window to the start of the next, (recording, window, S), SI units."""
    import jax.numpy as jnp
    import numpy as np

    from pdsim.likelihood.motion import residuals
    from pdsim.likelihood.problem import Position

    problem, best = fitted(name)
    dimension = problem.simulator.space.dimension
    position = Position(best[None], jnp.zeros((1, *problem.start_shooting().shape)))
    starts, _ = problem.smoothed(position)
    _, ends = residuals(
        problem,
        jnp.broadcast_to(best[None, None, None, :dimension], (*starts.shape[:3], dimension)),
        starts,
        problem.system,
    )
    return np.asarray((starts[:, :, 1:] - ends.T[:, :, :-1])[0] * problem.state_scale)


def correlations(gaps):
    """Of one state variable's gaps (recording, window) with those some windows on, by lag."""
    power = (gaps**2).mean()
    return {f"after {lag}": float((gaps[:, lag:] * gaps[:, :-lag]).mean() / power) for lag in LAGS}


def main():
    """Make the table."""
    import numpy as np

    from pdsim.runtime import device

    device.configure()
    rows = {}
    for motion, name in SETTINGS.items():
        found, states = gaps(name), load(name)[0].system().state
        for number, quantity in enumerate(states):
            one = found[..., number]
            sizes = np.log((one**2).mean(axis=1)) / 2
            spread = {
                "spread": float(np.sqrt((one**2).mean())),
                "between": float(sizes.std(ddof=1)),
            }
            rows[f"{motion}, {quantity.label}"] = spread | correlations(one)
    write("process_noise", rows)


if __name__ == "__main__":
    main()
