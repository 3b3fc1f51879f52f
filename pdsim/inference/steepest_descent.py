"""Steepest descent with Armijo's line search: the optimiser of the flexible loop's paper.

With the cost J, a negative log posterior in units of its own, and g its slope in the parameters ρ
in their physical units,

    s = 1; while ρ − s g is beyond a limit, or J(ρ − s g) > J(ρ) − α s |g|²: s ← β s
    ρ ← ρ − s g

until |g| is below ``tolerance``, or ``iterations`` are done. A roll-out that is not finite costs ∞,
so it is refused as a step that is too long is; where the start itself is not finite the run ends
with that. J is counted from the density of observations that are met exactly: with one σ for all
channels, a flat prior and ``cost_of_nat`` 2σ², it is the sum of squares Σ_k |e_k|² of the paper,
without the paper's second count of the last frame.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from pydantic import Field

from pdsim.config.section import Count, Positive
from pdsim.inference.estimator import Done, Independent, Info, summarise
from pdsim.inference.point import (
    PointSettings,
    described,
    first_point,
    information,
    iterates,
    position_of,
)
from pdsim.likelihood.problem import Position, Problem


class Settings(PointSettings):
    """Steepest descent with Armijo's line search."""

    alpha: float = Field(0.4, gt=0, lt=1, description="α, share of the descent that is asked for")
    beta: float = Field(0.4, gt=0, lt=1, description="β, of a step length after it was refused")
    first_step: Positive = Field(1.0, description="s of the first step tried in an iteration")
    trial_count: Count = Field(20, description="steps tried in an iteration, at most")
    iterations: Count = Field(75, description="at most")
    tolerance: float = Field(1.2e-3, ge=0, description="length of the slope that ends the descent")
    cost_of_nat: Positive = Field(1.0, description="of the negative log posterior, in units of J")


class State(NamedTuple):
    """Where the descent is.

    Attributes:
        x: unit coordinates, (M,).
        peak: log likelihood of observations that are met exactly [nat].
        iteration: how many were done.
        done: whether the slope is short enough, or no step was.
    """

    x: jax.Array
    peak: jax.Array
    iteration: jax.Array
    done: jax.Array


@jax.jit
def _log_posterior(problem: Problem, physical: jax.Array) -> tuple[jax.Array, jax.Array]:
    x = problem.space.to_coordinates(physical)
    log_likelihood = problem.evaluate(position_of(problem, x))[0][0]
    return log_likelihood + problem.space.log_prior(x), log_likelihood


_with_slope = jax.jit(
    jax.value_and_grad(lambda p, x: _log_posterior(p, x), argnums=1, has_aux=True)
)


@jax.jit
def _peak(problem: Problem, x: jax.Array) -> jax.Array:
    linear = problem.linearise(position_of(problem, x))
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
        return State(x, _peak(problem, x), jnp.array(0), jnp.array(False))

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
        at = np.asarray(space.to_physical(state.x))
        (value, log_likelihood), slope = _with_slope(problem, jnp.asarray(at))
        cost = own.cost_of_nat * (float(state.peak) - float(value))
        g = -own.cost_of_nat * np.asarray(slope)
        square = float(g @ g)
        finite = np.isfinite(cost) and np.isfinite(square)
        small = bool(finite and np.sqrt(square) <= own.tolerance)
        step, tried, taken, after = own.first_step, 0, False, at
        while finite and not small and not taken and tried < own.trial_count:
            after = at - step * g
            ahead = np.asarray(space.to_coordinates(jnp.asarray(after)))
            if np.all((ahead >= 0) & (ahead <= 1)):
                found, _ = _log_posterior(problem, jnp.asarray(after))
                there = own.cost_of_nat * (float(state.peak) - float(found))
                taken = bool(there <= cost - own.alpha * step * square)
            tried += 1
            if not taken:
                step *= own.beta
        info = summarise(
            jnp.array([finite]),
            jnp.asarray(log_likelihood)[None],
            jnp.zeros(1),
            evaluations=1 + tried,
            step_size=step if taken else jnp.nan,
            acceptance=1 / tried if taken else jnp.nan,
            cost=cost,
            slope=np.sqrt(square),
            **iterates(space, state.x),
        )
        x = space.to_coordinates(jnp.asarray(after)) if taken else state.x
        moved = State(x, state.peak, state.iteration + 1, jnp.array(not taken))
        return moved, info

    def finished(self, problem: Problem, state: State) -> bool:
        del problem
        return bool(state.done) or int(state.iteration) >= self.settings.iterations

    def draws(self, problem: Problem, state: State) -> Position:
        return position_of(problem, jnp.clip(state.x, 0.0, 1.0))

    def diverging(self, problem: Problem, state: State) -> jax.Array:
        value, _ = _log_posterior(problem, problem.space.to_physical(state.x))
        return ~jnp.isfinite(value)[None]

    def convergence(self, problem: Problem, state: State) -> dict[str, jax.Array]:
        found = np.asarray(information(problem, state.x))
        return described(problem.space, state.x, found)


ESTIMATOR = SteepestDescent
# Shooting variables would need a scale beside the parameters', and noise has no fixed peak.
SHOOTINGS = ("single",)
INSTEAD = "is no sum of squares of parameters alone; write shooting: single"
