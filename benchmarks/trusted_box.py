"""The arm that shakes a box: where the truth lies in what `trusted_box` and its weights find.

    python benchmarks/trusted_box.py   # minutes of processor time

One fit of each experiment by Levenberg and Marquardt's steps from one start, and Laplace's Gaussian
there. The empty box from the middle of its limits, first without process noise, then with it; the
weights from places that are not the truth, with the first Gaussian as their prior. Needs the
trajectories (``snakemake results/trusted_box/trajectories.nc``, and of ``trusted_box_weights``).
Writes ``trusted_box_found.csv`` and ``trusted_box_weights.csv`` into ``results/benchmarks``, which
were copied to ``docs/results``.
"""

from typing import NamedTuple

import numpy as np
from fits import load, write
from panda_box_found import ASIDE, combinations, row_of, truth_of

# Steps at most; a fit ends after two that gain less than this [nat].
STEPS, LITTLE = 60, 0.05
DRAWS = 2000
# Where the weights begin [m].
PLACES = {"weight1_x": 0.05, "weight1_y": 0.02, "weight2_x": -0.05, "weight2_y": -0.02}


class Gaussian(NamedTuple):
    """Of parameters in unit coordinates.

    Attributes:
        space: of all parameters, the noise's included.
        mean: the optimum, (M,).
        covariance: (M, M).
    """

    space: object
    mean: np.ndarray
    covariance: np.ndarray

    @property
    def names(self):
        return [parameter.name for parameter in self.space.parameters]

    def draws(self, count=DRAWS):
        """Draws within the limits by name, (draw,)."""
        from pdsim.numerics.truncated_gaussian import truncated_gaussian

        box = np.zeros(len(self.mean)), np.ones(len(self.mean))
        random = np.random.default_rng(0)
        found = truncated_gaussian(self.mean, self.covariance, *box, count, random)
        physical = np.asarray(self.space.to_physical(found))
        return dict(zip(self.names, physical.T, strict=True))


def problem_of(name, **marginal):
    """The experiment, and its problem with other settings of marginal shooting."""
    from pdsim.likelihood.build import build_problem
    from pdsim.systems.simulator import build_simulator
    from pdsim.trajectories import load_trajectories

    experiment, path = load(name)
    simulator = build_simulator(experiment.simulator.model_copy(update={"prior_from": None}))
    likelihood = experiment.likelihood
    changed = likelihood.marginal.model_copy(update=marginal)
    likelihood = likelihood.model_copy(update={"marginal": changed})
    data = load_trajectories(path, simulator.system)
    return experiment, build_problem(simulator, likelihood, data, "marginal", "float64")


def fit(problem, start, prior=None):
    """Climb from a start, (M,), and return the Gaussian at the top.

    Args:
        prior: mean (M,) and precision (M, M) of what was known before.
    """
    import jax
    import jax.numpy as jnp

    from pdsim.inference.levenberg_marquardt import prior_precision, prior_slope
    from pdsim.likelihood.problem import Position

    space, still = problem.space, problem.start_shooting()[None]
    centre, known = prior or (np.zeros_like(start), np.zeros((len(start), len(start))))

    @jax.jit
    def around(problem, x):
        one, away = x[None], x - centre
        value, slope, information = problem.expand(Position(one, still))
        height = value + space.log_prior(one) - 0.5 * away @ known @ away
        slope = slope + prior_slope(space, one) - known @ away
        return height[0], slope[0], information[0] + prior_precision(space, one)[0] + known

    x, damping, small = start, 1e-3, 0
    here = [np.asarray(a) for a in around(problem, jnp.asarray(x))]
    for number in range(STEPS):
        height, slope, information = here
        free = ~(((x <= 0) & (slope < 0)) | ((x >= 1) & (slope > 0)))
        damped = information + damping * np.diag(np.diag(information))
        step = np.zeros_like(x)
        step[free] = np.linalg.solve(damped[np.ix_(free, free)], slope[free])
        tried = np.clip(x + step, 0, 1)
        there = [np.asarray(a) for a in around(problem, jnp.asarray(tried))]
        print(f"{number}: {height:.2f} -> {there[0]:.2f}", flush=True)
        if there[0] > height:
            small = small + 1 if there[0] - height < LITTLE else 0
            x, here, damping = tried, there, max(damping / 5, 1e-12)
        else:
            damping = max(8 * damping, 1e-8)
        if small == 2 or damping > 1e6:
            break
    values, axes = np.linalg.eigh(here[2])
    return Gaussian(space, x, (axes / np.maximum(values, 0.01)) @ axes.T)


def started(space, values):
    """The middle of the box, but for what is known, in unit coordinates by name; (M,)."""
    names = [parameter.name for parameter in space.parameters]
    middle = zip(names, np.array(space.middle, float), strict=True)
    return np.array([values.get(name, value) for name, value in middle])


def prior_of(first, space):
    """Mean and precision of the first fit in the second's parameters, those of noise left out."""
    names = [parameter.name for parameter in space.parameters]
    shared = [
        (i, names.index(name))
        for i, name in enumerate(first.names)
        if name in names and not name.startswith(("sensor_", "process_"))
    ]
    before, after = map(np.array, zip(*shared, strict=True))
    mean, precision = np.zeros(len(names)), np.zeros((len(names), len(names)))
    mean[after] = first.mean[before]
    precision[np.ix_(after, after)] = np.linalg.inv(first.covariance[np.ix_(before, before)])
    return mean, precision


def rows_of(experiment, found):
    """Truth and draws of all that has a truth, and of numbers over m L.

    The weights lie in a box that is aside, with its lid.
    """
    truth, space = truth_of(experiment), found.space
    truth |= {name: truth[name] + ASIDE["xy".index(name[-1])] for name in PLACES if name in truth}
    prior = np.asarray(space.to_physical(space.sample_prior(DRAWS, 0))).T
    draws, prior = found.draws(), dict(zip(found.names, prior, strict=True))
    rows = {}
    for of in (dict, combinations):
        for key, true in of(truth).items():
            rows[key] = row_of(true, of(draws)[key], of(prior)[key])
    return rows


def main():
    """Fit both, and write their tables."""
    from pdsim.runtime import device

    device.configure()
    experiment, problem = problem_of("trusted_box", process=None)
    first = fit(problem, started(problem.space, {}))
    _, problem = problem_of("trusted_box")
    values = dict(zip(first.names, first.mean, strict=True))
    first = fit(problem, started(problem.space, values))
    write("trusted_box_found", rows_of(experiment, first))

    experiment, problem = problem_of("trusted_box_weights")
    space = problem.space
    values = dict(zip(first.names, first.mean, strict=True))
    for parameter in space.parameters:
        if parameter.name in PLACES:
            width = parameter.upper - parameter.lower
            values[parameter.name] = (PLACES[parameter.name] - parameter.lower) / width
    second = fit(problem, started(space, values), prior_of(first, space))
    write("trusted_box_weights", rows_of(experiment, second))


if __name__ == "__main__":
    main()
