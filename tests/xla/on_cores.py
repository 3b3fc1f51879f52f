"""What a process with so many cores computes: ``python on_cores.py CORES WHAT OUTPUT FILE``."""

import sys

import numpy as np

from pdsim.runtime import device

CORES, WHAT, OUTPUT, TRAJECTORIES = int(sys.argv[1]), *sys.argv[2:]
# Beliefs of vehicles compute batches of LAPACK's routines; nothing else here does.
device.configure(cores=CORES, lapack=WHAT == "vehicles")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

from pdsim import registry  # noqa: E402
from pdsim.control.closed_loop import advance_all, begin_all  # noqa: E402
from pdsim.control.config import ControllerConfig  # noqa: E402
from pdsim.control.tasks.quadrotor import QuadrotorTask  # noqa: E402
from pdsim.experiment.load import load_experiment  # noqa: E402
from pdsim.inference import load_estimator  # noqa: E402
from pdsim.inference.estimator import Done  # noqa: E402
from pdsim.inference.runner import run  # noqa: E402
from pdsim.likelihood.build import build_problem  # noqa: E402
from pdsim.likelihood.problem import Position  # noqa: E402
from pdsim.recordings.trajectories import load_trajectories  # noqa: E402
from pdsim.systems.simulator import build_simulator  # noqa: E402
from pdsim.xla.cores import one_by_one, over_cores  # noqa: E402

PARTICLES = 5
EXPERIMENT = load_experiment("config/experiments/calibration_oscillator.yaml")


def problem_of(shooting):
    simulator = build_simulator(EXPERIMENT.simulator)
    data = load_trajectories(TRAJECTORIES, simulator.system)
    return build_problem(simulator, EXPERIMENT.likelihood, data, shooting, "float64")


def rows():
    """Which core made each row, and rows that the cores do not share evenly."""
    seen = over_cores(lambda shared, rows: shared + rows)
    shards = {shard.device.id for shard in seen(1.0, jnp.arange(6.0)).addressable_shards}
    assert len(shards) == CORES, shards
    return {"uneven": seen(1.0, jnp.arange(5.0))}


def matrices():
    """Batches of LAPACK's routines on all cores at once, which would each wait for the others'."""
    a = np.random.default_rng(0).normal(size=(100, 22, 22))
    a = jnp.asarray(a @ np.swapaxes(a, 1, 2) + 22 * np.eye(22))

    @jax.jit
    @over_cores
    def found(rows):
        solved = one_by_one(jnp.linalg.solve)(rows, rows[..., :1] + 1.0)
        values, _ = one_by_one(jnp.linalg.eigh)(rows)
        return solved, values, one_by_one(jnp.linalg.cholesky)(rows)

    for _ in range(20):
        solved, values, root = jax.block_until_ready(found(a))
    np.testing.assert_allclose(root @ jnp.swapaxes(root, 1, 2), a, atol=1e-11)
    return {"solved": solved, "values": values, "root": root}


def particles():
    """Likelihoods, slopes and linearisations of both problems."""
    found = {}
    for shooting in ("multiple", "marginal"):
        problem = problem_of(shooting)
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
    return found


def steps():
    """Particles after two chunks of steps, the second of which compiles nothing."""
    problem, compiled = problem_of("multiple"), []
    work = EXPERIMENT.budget("quick").model_copy(update={"particle_count": PARTICLES})
    settings = registry.load("inference", "csvgd").Settings()
    estimator = load_estimator("csvgd", settings, work)
    cost, state = estimator.cost(problem), estimator.init(problem, 0)
    jax.monitoring.register_event_duration_secs_listener(
        lambda event, *_, **__: compiled.append(event)
    )
    for done in (0, 2):
        compiled.clear()
        state, _ = estimator.advance(
            problem,
            state,
            seed=0,
            done=Done(done, done * cost),
            until=(done + 2) * cost,
            capacity=2 * cost,
        )
    assert not [event for event in compiled if "backend_compile" in event], compiled
    return estimator.draws(problem, state)._asdict()


def chains():
    """Draws of chains whose adaptation is pooled, and of such that adapt alone."""
    found, problem = {}, problem_of("single")
    work = EXPERIMENT.budget("quick").model_copy(
        update={"particle_count": 24, "iteration_count": 40}
    )
    for adaptation in ("pooled", "separate"):
        settings = {"adaptation": adaptation, "chain_count": 3, "doublings": 2}
        chosen = registry.load("inference", "nuts").Settings.model_validate(settings)
        estimator = load_estimator("nuts", chosen, work)
        result = run(estimator, problem, seed=0, chunk_size=10, report=False)
        found[adaptation] = estimator.draws(problem, result.state).parameters
    return found


def vehicles():
    """Three simulations in closed loop."""
    small = {"samples": 9, "sequences": 20, "horizon": 6, "iterations": 3, "particles": 16}
    controller = ControllerConfig(name="one", belief="svgd", **small).build(QuadrotorTask())
    start = begin_all(controller, 0, 3)
    _, record = advance_all(controller, 0, start, jnp.asarray(0), 4)
    return record._asdict()


CASES = {
    "rows": rows,
    "matrices": matrices,
    "particles": particles,
    "steps": steps,
    "chains": chains,
    "vehicles": vehicles,
}
found = CASES[WHAT]()
np.savez(OUTPUT, **{name: np.asarray(leaf) for name, leaf in found.items()})
