"""What a process with so many cores computes: ``python on_cores.py CORES OUTPUT``."""

import sys

import numpy as np

from pdsim.runtime import device

device.configure(cores=int(sys.argv[1]))

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

from pdsim import registry  # noqa: E402
from pdsim.config.experiment import load_experiment  # noqa: E402
from pdsim.inference import load_estimator  # noqa: E402
from pdsim.inference.runner import run  # noqa: E402
from pdsim.likelihood.build import build_problem  # noqa: E402
from pdsim.likelihood.problem import Position  # noqa: E402
from pdsim.runtime.cores import over_cores  # noqa: E402
from pdsim.systems.simulator import build_simulator  # noqa: E402
from pdsim.trajectories import load_trajectories  # noqa: E402

PARTICLES = 5

experiment = load_experiment("config/experiments/calibration_oscillator.yaml")
simulator = build_simulator(experiment.simulator)
data = load_trajectories(sys.argv[3], simulator.system)
found = {}
# Which core made each row, and a sum over cores that none of them knows.
seen = over_cores(lambda shared, rows: shared + rows)
rows = jnp.arange(6.0)
shards = {shard.device.id for shard in seen(1.0, rows).addressable_shards}
assert len(shards) == int(sys.argv[1]), shards
found["uneven"] = seen(1.0, jnp.arange(5.0))
for shooting in ("multiple", "marginal"):
    problem = build_problem(simulator, experiment.likelihood, data, shooting, "float64")
    guess = problem.start_shooting()
    x = np.random.default_rng(0).uniform(0.3, 0.7, (PARTICLES, problem.space.dimension))
    position = Position(jnp.asarray(x), jnp.broadcast_to(guess, (PARTICLES, *guess.shape)))

    @jax.jit
    def total(position, problem=problem):
        log_likelihood, defects = problem.evaluate(position)
        return log_likelihood.sum() - (defects**2).sum()

    linear = jax.jit(lambda position, problem=problem: problem.linearise(position))(position)
    value, slope = jax.value_and_grad(total)(position)
    for name, leaf in (linear._asdict() | slope._asdict() | {"value": value}).items():
        found[f"{shooting}_{name}"] = leaf
for method, settings in (
    ("nuts", {"chain_count": 3, "doublings": 2}),
    ("nuts", {"adaptation": "separate", "chain_count": 3, "doublings": 2}),
):
    problem = build_problem(simulator, experiment.likelihood, data, "single", "float64")
    chosen = registry.load("inference", method).Settings.model_validate(settings)
    work = experiment.budget("quick").model_copy(
        update={"particle_count": 24, "iteration_count": 40}
    )
    estimator = load_estimator(method, chosen, work)
    result = run(estimator, problem, seed=0, chunk_size=10, report=False)
    found[f"{method}_{len(found)}"] = estimator.draws(problem, result.state).parameters
np.savez(sys.argv[2], **{name: np.asarray(leaf) for name, leaf in found.items()})
