"""A controller, its belief and the plant, closed; many simulations at once.

The plant is the task's system under semi-implicit Euler at 1 kHz, which is how the public benchmark
simulates, with what the task says it has beyond the model; the controller predicts with RK4 at the
control time. Random numbers depend on the seed,
the number of the simulation and the control step alone, so that all controllers meet the same
vehicles and starts, and a run that was interrupted goes on as if it had not been.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from pdsim.control.belief import Belief, Transition
from pdsim.control.gaussian_process import GaussianProcess
from pdsim.control.mppi import Plan, Planner, control_step, evaluate, first_plan, references
from pdsim.control.tasks.task import Task
from pdsim.xla.cores import over_cores

# What keys are for.
_TRUTH, _START, _STEP = 0, 1, 2
# What a control step draws, each with a key of its own.
_DRAWS = ("parameters", "fresh", "exploration", "check")


@dataclass(frozen=True)
class Controller:
    """A planner with a belief.

    Attributes:
        samples: P, parameters drawn at each control step.
    """

    planner: Planner
    belief: Belief | GaussianProcess
    samples: int

    @property
    def task(self) -> Task:
        return self.planner.task


class Simulation(NamedTuple):
    """One simulation between two control steps.

    Attributes:
        number: decides the vehicle, the start and all random numbers, with the seed.
        truth: y of the plant, (d,).
        state: of the plant, (S,).
        memory: what the plant remembers beyond its state, (R,).
        crashed: whether the state is held since no controller comes back from it.
    """

    number: jax.Array
    truth: jax.Array
    state: jax.Array
    memory: jax.Array
    belief: Any
    plan: Plan
    crashed: jax.Array


class Record(NamedTuple):
    """What is kept of a control step.

    Attributes:
        state: after it, (S,).
        input: applied, (nu,).
        mean, deviation: of the belief about θ after it, physical units, (d,).
        particles: of the belief, θ, (N, d).
        safety: R of the plan.
        fallback: whether the robust plan was applied.
        clearance: smallest h of the plant during the step.
        crashed: as in ``Simulation``.
        covers_truth: whether the plan, rolled out with the true parameters, keeps h ≥ R.
        covers_draw: the same with one more draw of the belief.
    """

    state: jax.Array
    input: jax.Array
    mean: jax.Array
    deviation: jax.Array
    particles: jax.Array
    safety: jax.Array
    fallback: jax.Array
    clearance: jax.Array
    crashed: jax.Array
    covers_truth: jax.Array
    covers_draw: jax.Array


def _key(seed: int, number, purpose: int, count) -> jax.Array:
    key = jax.random.fold_in(jax.random.key(seed), number)
    return jax.random.fold_in(jax.random.fold_in(key, purpose), count)


def begin(controller: Controller, seed: int, number: jax.Array) -> Simulation:
    """A simulation before its first control step; its number tells it from the others."""
    task = controller.task
    truth = task.draw_truth(_key(seed, number, _TRUTH, 0))
    state = task.start(_key(seed, number, _START, 0))
    belief = controller.belief.init(truth, None)
    plan = first_plan(controller.planner, state.dtype)
    memory = task.remembered(state)
    return Simulation(number, truth, state, memory, belief, plan, jnp.zeros((), bool))


def plant(task: Task, state: jax.Array, memory: jax.Array, input: jax.Array, truth: jax.Array):
    """The true system for a control step.

    Args:
        state: (S,).
        memory: (R,).
        input: (nu,), within the limits.
        truth: y, (d,).

    Returns:
        The state after it (S,), the memory (R,), and the smallest h of all its substeps.
    """
    system = task.system.with_integrator("semi_implicit_euler")
    prepared, u = task.prepare_plant(truth), tuple(input)
    dt = task.control_time / task.substeps

    def advance(carry, _):
        x, memory, lowest = carry
        felt, memory = task.felt(x, memory, u, dt)
        x = system.step(x, felt, 0.0, prepared, dt)
        return (x, memory, jnp.minimum(lowest, task.clearance(x, prepared))), None

    first = (system.unpack(state), memory, jnp.full((), jnp.inf, state.dtype))
    (x, memory, lowest), _ = jax.lax.scan(advance, first, length=task.substeps)
    return system.pack(x), memory, lowest


def _where(condition, new, old):
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), new, old)


def step(
    controller: Controller, seed: int, simulation: Simulation, number: jax.Array
) -> tuple[Simulation, Record]:
    """One control step of one simulation: decide, act, observe, learn.

    Args:
        number: of the control step, from 0 over all laps.
    """
    task, belief, planner = controller.task, controller.belief, controller.planner
    within = number % task.lap_steps
    if task.resets:
        key = _key(seed, simulation.number, _START, number // task.lap_steps)
        start = task.start(key)
        fresh = simulation._replace(
            state=start,
            memory=task.remembered(start),
            plan=first_plan(planner, simulation.state.dtype),
            crashed=jnp.zeros((), bool),
        )
        simulation = _where(within == 0, fresh, simulation)
    keys = dict(
        zip(
            _DRAWS,
            jax.random.split(_key(seed, simulation.number, _STEP, number), len(_DRAWS)),
            strict=True,
        )
    )
    state = simulation.state
    draws = belief.draw(simulation.belief, keys["parameters"], controller.samples)
    tests = (
        belief.draw(simulation.belief, keys["fresh"], controller.samples)
        if planner.verify_fresh
        else draws
    )
    time = within.astype(state.dtype) * task.control_time
    plan, decision = control_step(
        planner, simulation.plan, state, time, draws, tests, keys["exploration"]
    )
    one_more = belief.draw(simulation.belief, keys["check"], 1)
    x, ahead = task.system.unpack(state), references(planner, time)
    parametric = replace(planner, learnt=None)
    with_truth, with_draw = (
        evaluate(by, x, ahead, draw, plan.nominal[None]).clearance[0, 0]
        for by, draw in ((parametric, simulation.truth[None]), (planner, one_more))
    )
    after, memory, lowest = plant(task, state, simulation.memory, decision.input, simulation.truth)
    crashed = simulation.crashed | task.crashed(task.system.unpack(after))
    after = jnp.where(crashed, state, after)
    learnt = belief.learn(simulation.belief, Transition(state, decision.input, after))
    usable = ~crashed
    for leaf in jax.tree.leaves(learnt):
        usable &= jnp.isfinite(leaf).all()
    learnt = _where(usable, learnt, simulation.belief)
    particles = jnp.exp(belief.particles(learnt)) * jnp.asarray(task.nominal, state.dtype)
    record = Record(
        state=after,
        input=decision.input,
        mean=particles.mean(axis=0),
        deviation=particles.std(axis=0),
        particles=particles,
        safety=decision.safety,
        fallback=decision.fallback,
        clearance=lowest,
        crashed=crashed,
        covers_truth=with_truth >= decision.safety,
        covers_draw=with_draw >= decision.safety,
    )
    moved = simulation._replace(
        state=after, memory=memory, belief=learnt, plan=plan, crashed=crashed
    )
    return moved, record


@partial(jax.jit, static_argnums=(0, 1, 2))
def begin_all(controller: Controller, seed: int, count: int) -> Simulation:
    """Simulations 0 … count − 1, in front of every leaf."""
    return jax.vmap(partial(begin, controller, seed))(jnp.arange(count))


@partial(jax.jit, static_argnums=(0, 1, 4))
def advance_all(
    controller: Controller, seed: int, simulations: Simulation, first: jax.Array, count: int
) -> tuple[Simulation, Record]:
    """Some control steps of all simulations.

    Args:
        first: number of the first of them.
        count: how many.

    Returns:
        The simulations after them, and records with (step, simulation) in front.
    """
    everyone = jax.vmap(partial(step, controller, seed), in_axes=(0, None))

    @over_cores
    def together(number, simulations):
        return everyone(simulations, number)

    def advance(simulations, number):
        return together(number, simulations)

    return jax.lax.scan(advance, simulations, first + jnp.arange(count))
