"""MPPI under a belief, with a nominal and a robust trajectory (Algorithm 1 of the document).

Each control step draws M sequences of inputs about each of two plans and rolls all of them out with
the same P parameters of the belief. The nominal plan N minimises the mean cost with a penalty on
sequences that are not safe (9), the robust plan R maximises the conformal score (10). What is
applied is the better of two candidates, or the robust plan where that one is not safe.

β is called an inverse temperature there but divides the cost: it is a temperature.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp

from pdsim.control.conformal import score
from pdsim.control.tasks.task import Task

# Cost of a roll-out that is not finite; a score beyond it is no safer, or no worse.
_LARGE = 1e6


class Model(Protocol):
    """How roll-outs go on, for one draw of a belief."""

    def prepare(self, draw) -> Any:
        """Make a draw ready, once per control step."""
        ...

    def body(self, prepared) -> Any:
        """The prepared system in it, for the shape of what must not be entered."""
        ...

    def step(self, state, input, prepared) -> tuple:
        """The state a control step later."""
        ...


@dataclass(frozen=True)
class Parametric:
    """The task's system with drawn parameters, y (d,)."""

    task: Task

    def prepare(self, draw):
        return self.task.prepare(draw)

    def body(self, prepared):
        return prepared

    def step(self, state, input, prepared):
        return self.task.system.step(state, input, 0.0, prepared, self.task.control_time)


@dataclass(frozen=True)
class Planner:
    """How a controller plans; all of it is known when a program is compiled.

    Attributes:
        sequences: M about each plan; all about the nominal one where there is no robust one.
        risk: δ of the score.
        robust: whether there is a robust plan to fall back on.
        verify_fresh: whether the candidates are tested with parameters that did not choose them.
        robust_min_from: first step of the minimum in (10), 0 or 1. With 0 the present is in it, and
            where that is the tightest point all sequences are alike.
        horizon: K; None for the task's.
        temperature: β of the nominal weights (2), in the unit of the cost; None for the task's.
        penalty: W of a sequence that is not safe.
        learnt: what draws of the belief are put into; None: the task's system, as its parameters.
    """

    task: Task
    sequences: int = 500
    risk: float = 0.1
    robust: bool = True
    verify_fresh: bool = False
    robust_min_from: int = 0
    horizon: int | None = None
    temperature: float | None = None
    penalty: float = 1e5
    learnt: Model | None = None

    @property
    def model(self) -> Model:
        """What is rolled out."""
        return Parametric(self.task) if self.learnt is None else self.learnt

    @property
    def steps(self) -> int:
        """K."""
        return self.task.horizon if self.horizon is None else self.horizon

    @property
    def beta(self) -> float:
        """β."""
        return self.task.temperature if self.temperature is None else self.temperature


class Plan(NamedTuple):
    """Sequences of inputs, (K, nu) each."""

    nominal: jax.Array
    robust: jax.Array


class Decision(NamedTuple):
    """What was applied, and why.

    Attributes:
        input: (nu,).
        safety: R of the sequence that was to be applied, before any fallback.
        fallback: whether the robust plan was applied instead.
    """

    input: jax.Array
    safety: jax.Array
    fallback: jax.Array


class Outcome(NamedTuple):
    """Of roll-outs.

    Attributes:
        cost: sum of the stage costs over the horizon.
        clearance: smallest h that is seen, over k = 0 … K.
        assumed: smallest h of the robust cost, over k = ``robust_min_from`` … K.
    """

    cost: jax.Array
    clearance: jax.Array
    assumed: jax.Array


def first_plan(planner: Planner, dtype) -> Plan:
    """Both plans at rest: of thrust that is hovering, and not the zero that no motor can give."""
    rest = jnp.asarray(planner.task.rest_input, dtype)
    sequence = jnp.broadcast_to(rest, (planner.steps, len(rest)))
    return Plan(sequence, sequence)


def weights(cost: jax.Array, temperature: float) -> jax.Array:
    """Weights of sequences by their cost (2), w ∝ exp(−(J − min J)/β), of sum 1.

    Args:
        cost: (M,).
        temperature: β, in the unit of the cost.
    """
    raw = jnp.exp(-(cost - cost.min()) / temperature)
    return raw / raw.sum()


def shifted(sequence: jax.Array) -> jax.Array:
    """A plan (K, nu) one control step later; its last input comes twice."""
    return jnp.concatenate([sequence[1:], sequence[-1:]])


def roll_out(planner: Planner, state, references, prepared, inputs) -> Outcome:
    """One sequence with one set of parameters.

        J = Σ_{k=1..K} (x_k − x̄_k)ᵀ Q (x_k − x̄_k) + (u_{k−1} − u_0)ᵀ R_u (u_{k−1} − u_0)

    Args:
        state: the present one, a tuple.
        references: x̄_1 … x̄_K, one (K,) array for each state variable.
        prepared: by the planner's model.
        inputs: (K, nu).
    """
    task, model = planner.task, planner.model
    body = model.body(prepared)
    columns = tuple(inputs[:, i] for i in range(inputs.shape[1]))

    def advance(carry, drive):
        x, cost, clearance, assumed = carry
        u, reference = drive
        x = model.step(x, u, prepared)
        for value, goal, weight in zip(x, reference, task.state_weights, strict=True):
            cost = cost + weight * (value - goal) ** 2
        for value, rest, weight in zip(u, task.rest_input, task.input_weights, strict=True):
            cost = cost + weight * (value - rest) ** 2
        clearance = jnp.minimum(clearance, task.seen_clearance(x, body, state))
        assumed = jnp.minimum(assumed, task.assumed_clearance(x, body, state))
        return (x, cost, clearance, assumed), None

    zero = jnp.zeros_like(state[0])
    present = task.seen_clearance(state, body, state) + zero
    assumed: jax.Array | float = jnp.inf
    if planner.robust_min_from == 0:
        assumed = task.assumed_clearance(state, body, state)
    first = (state, zero, present, assumed + zero)
    (_, cost, clearance, least), _ = jax.lax.scan(advance, first, (columns, references))
    cost = jnp.where(jnp.isfinite(cost), cost, _LARGE)
    lost = jnp.where(jnp.isnan(clearance), -jnp.inf, clearance)
    return Outcome(cost, lost, jnp.where(jnp.isnan(least), -jnp.inf, least))


def evaluate(planner: Planner, state, references, draws, sequences) -> Outcome:
    """All sequences with all draws.

    Args:
        draws: P of the belief: y, (P, d), or what the planner's model takes, P in front.
        sequences: (M, K, nu).

    Returns:
        (M, P) each.
    """
    prepared = jax.vmap(planner.model.prepare)(draws)

    def one(parameters, inputs):
        return roll_out(planner, state, references, parameters, inputs)

    # Compiled loops run along the last axis, in vectors.
    if len(sequences) < len(jax.tree.leaves(draws)[0]):
        return jax.vmap(jax.vmap(one, in_axes=(0, None)), in_axes=(None, 0))(prepared, sequences)
    by_draw = jax.vmap(jax.vmap(one, in_axes=(None, 0)), in_axes=(0, None))(prepared, sequences)
    return jax.tree.map(jnp.transpose, by_draw)


def nominal_cost(planner: Planner, outcome: Outcome) -> tuple[jax.Array, jax.Array]:
    """Mean cost with the penalty (9), and the score R; (M,) each.

    NJ = mean_p J + W · 1{R < 0}
    """
    safety = jnp.clip(score(outcome.clearance, planner.risk), -_LARGE, _LARGE)
    return outcome.cost.mean(axis=-1) + planner.penalty * (safety < 0), safety


def references(planner: Planner, time: jax.Array):
    """The task's reference at the K control steps after a time, a (K,) array for each variable."""
    ahead = jnp.arange(1, planner.steps + 1, dtype=time.dtype) * planner.task.control_time
    return planner.task.reference(time + ahead)


def control_step(
    planner: Planner,
    plan: Plan,
    state: jax.Array,
    time: jax.Array,
    draws,
    fresh,
    key: jax.Array,
) -> tuple[Plan, Decision]:
    """One control step of Algorithm 1, without the belief.

    Args:
        plan: of the step before.
        state: (S,).
        time: since the start of the lap [s].
        draws: P of the belief, which choose; see ``evaluate``.
        fresh: P' that the candidates are tested with: the same, or new ones.
        key: of the exploration.
    """
    task, dtype = planner.task, state.dtype
    nominal, robust = shifted(plan.nominal), shifted(plan.robust)
    lowest, highest = (jnp.asarray(x, dtype) for x in (task.lowest_input, task.highest_input))
    normal = jax.random.normal(key, (planner.sequences, *nominal.shape), dtype)
    noise = normal @ jnp.asarray(task.exploration, dtype).T
    # The same noise about both plans.
    centres = (nominal, robust) if planner.robust else (nominal,)
    groups = [jnp.clip(centre + noise, lowest, highest) for centre in centres]
    x, ahead = task.system.unpack(state), references(planner, time)
    outcome = evaluate(planner, x, ahead, draws, jnp.concatenate(groups))
    cost, _ = nominal_cost(planner, outcome)
    count = planner.sequences

    def mean(group, weight):
        return jnp.einsum("m,mku->ku", weight, group)

    candidates = [
        mean(group, weights(cost[i * count : (i + 1) * count], planner.beta))
        for i, group in enumerate(groups)
    ]
    tested = evaluate(planner, x, ahead, fresh, jnp.stack(candidates))
    tested_cost, tested_safety = nominal_cost(planner, tested)
    if not planner.robust:
        chosen = candidates[0]
        decision = Decision(chosen[0], tested_safety[0], jnp.zeros((), bool))
        return Plan(chosen, chosen), decision
    assumed = score(outcome.assumed[count:], planner.risk)
    robust = mean(groups[1], weights(-jnp.clip(assumed, -_LARGE, _LARGE), task.robust_temperature))
    best = jnp.argmin(tested_cost)
    nominal, safety = jnp.stack(candidates)[best], tested_safety[best]
    fallback = ~(safety > 0)
    nominal = jnp.where(fallback, robust, nominal)
    return Plan(nominal, robust), Decision(nominal[0], safety, fallback)
