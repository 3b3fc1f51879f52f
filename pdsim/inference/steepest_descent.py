"""Steepest descent with Armijo's line search: the optimiser of the flexible loop's paper.

With the cost J, a negative log posterior in units of its own, and g its slope in the parameters ρ
in their physical units,

    s = 1; while ρ − s g is beyond a limit, or J(ρ − s g) > J(ρ) − α s |g|²: s ← β s
    ρ ← ρ − s g

until |g| is below ``tolerance``, or ``iterations`` are done. Every step is tried with its slope,
which the next iteration needs if it is taken. A roll-out that is not finite costs ∞, so it is
refused as a step that is too long is; where the start itself is not finite the run ends with that.
J is counted from the density of observations that are met exactly: with one σ for all channels, a
flat prior and ``cost_of_nat`` 2σ², it is the sum of squares Σ_k |e_k|² of the paper, without the
paper's second count of the last frame.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from pydantic import Field

from pdsim.inference.estimator import Done, Independent, Info, summarise
from pdsim.inference.point import (
    described,
    information,
    iterates,
    linear_model,
    position_of,
)
from pdsim.inference.start import StartSettings, first_point
from pdsim.likelihood.problem import Position, Problem
from pdsim.settings.section import Positive


class Settings(StartSettings):
    """Steepest descent with Armijo's line search."""

    alpha: float = Field(0.4, gt=0, lt=1, description="α, share of the descent that is asked for")
    beta: float = Field(0.4, gt=0, lt=1, description="β, of a step length after it was refused")
    first_step: Positive = Field(1.0, description="s of the first step tried in an iteration")
    trial_count: int = Field(20, ge=1, le=1000, description="steps tried in an iteration, at most")
    iterations: int = Field(75, ge=1, le=1_000_000, description="at most")
    tolerance: float = Field(1.2e-3, ge=0, description="length of the slope that ends the descent")
    cost_of_nat: Positive = Field(1.0, description="of the negative log posterior, in units of J")


class Value(NamedTuple):
    """Of the log posterior at a point.

    Attributes:
        log_posterior, log_likelihood: [nat].
        slope: of the log posterior in physical units, (M,).
    """

    log_posterior: jax.Array
    log_likelihood: jax.Array
    slope: jax.Array


class State(NamedTuple):
    """Where the descent is.

    Attributes:
        at: physical units, (M,).
        here: the log posterior there, with its slope.
        peak: log likelihood of observations that are met exactly [nat].
        iteration: how many were done.
        done: whether the slope is short enough, or no step was.
    """

    at: jax.Array
    here: Value
    peak: jax.Array
    iteration: jax.Array
    done: jax.Array


@jax.jit
def _value(problem: Problem, physical: jax.Array) -> Value:
    def log_posterior(physical):
        x = problem.space.to_coordinates(physical)
        log_likelihood = problem.evaluate(position_of(problem, x))[0][0]
        return log_likelihood + problem.space.log_prior(x), log_likelihood

    (both, log_likelihood), slope = jax.value_and_grad(log_posterior, has_aux=True)(physical)
    return Value(both, log_likelihood, slope)


def _peak(problem: Problem, x: jax.Array) -> jax.Array:
    linear = linear_model(problem, x)
    squares = (linear.residuals[0] ** 2).sum(axis=(1, 2))
    return linear.log_likelihood[0] + 0.5 * (linear.weights[0] * squares).sum()


@dataclass(frozen=True)
class SteepestDescent(Independent):
    """One point that goes down the slope; every iterate is kept."""

    settings: Settings
    sample_kind: ClassVar[str] = "point"
    uses_gradients: ClassVar[bool] = True
    cheaper: ClassVar[str] = "lower trial_count, which each iteration must be able to pay"

    def cost(self, problem: Problem) -> int:
        """The slope, and every step that may be tried."""
        del problem
        return 1 + self.settings.trial_count

    def init(self, problem: Problem, seed: int) -> State:
        del seed
        x = first_point(problem.space, self.settings.start)
        at = problem.space.to_physical(x)
        here = _value(problem, at)
        return State(at, here, _peak(problem, x), jnp.array(0), jnp.array(False))

    def advance(self, problem, state, *, seed, done: Done, until: int, capacity: int):
        del seed, capacity
        rows, spent = [], done.evaluations
        while spent + self.cost(problem) <= until and not self.finished(problem, state):
            state, info = self._descend(problem, state)
            spent += int(info.evaluations)
            rows.append(info)
        return state, jax.tree.map(lambda *x: np.stack(x), *rows)

    def _descend(self, problem: Problem, state: State) -> tuple[State, Info]:
        own, space = self.settings, problem.space

        def cost_of(value: Value) -> float:
            return own.cost_of_nat * (float(state.peak) - float(value.log_posterior))

        at, here, cost = np.asarray(state.at), state.here, cost_of(state.here)
        g = -own.cost_of_nat * np.asarray(here.slope)
        square = float(g @ g)
        finite = np.isfinite(cost) and np.isfinite(square)
        small = bool(finite and np.sqrt(square) <= own.tolerance)
        # The start's own value is this iteration's, too.
        evaluated = int(state.iteration == 0)
        step, tried, taken, after, there = own.first_step, 0, False, at, here
        while finite and not small and not taken and tried < own.trial_count:
            after = at - step * g
            ahead = np.asarray(space.to_coordinates(jnp.asarray(after)))
            if np.all((ahead >= 0) & (ahead <= 1)):
                there = _value(problem, jnp.asarray(after))
                taken = bool(cost_of(there) <= cost - own.alpha * step * square)
                evaluated += 1
            tried += 1
            if not taken:
                step *= own.beta
        info = summarise(
            jnp.array([finite]),
            here.log_likelihood[None],
            jnp.zeros(1),
            evaluations=evaluated,
            step_size=step if taken else jnp.nan,
            acceptance=1 / tried if taken else jnp.nan,
            cost=cost,
            slope=np.sqrt(square),
            **iterates(space, space.to_coordinates(state.at)),
        )
        if taken:
            state = state._replace(at=jnp.asarray(after), here=there)
        return state._replace(iteration=state.iteration + 1, done=jnp.array(not taken)), info

    def finished(self, problem: Problem, state: State) -> bool:
        del problem
        return bool(state.done) or int(state.iteration) >= self.settings.iterations

    def draws(self, problem: Problem, state: State) -> Position:
        return position_of(problem, jnp.clip(problem.space.to_coordinates(state.at), 0.0, 1.0))

    def diverging(self, problem: Problem, state: State) -> jax.Array:
        del problem
        return ~jnp.isfinite(state.here.log_posterior)[None]

    def convergence(self, problem: Problem, state: State) -> dict[str, jax.Array]:
        x = problem.space.to_coordinates(state.at)
        return described(problem.space, x, np.asarray(information(problem, x)))


ESTIMATOR = SteepestDescent
# Shooting variables would need a scale beside the parameters', and noise has no fixed peak.
SHOOTINGS = ("single",)
INSTEAD = "is no sum of squares of parameters alone; write shooting: single"
