"""Least squares from many starts, and the Gaussian at the best optimum: an engineer's reference.

Each start minimises the objective, in nats,

    −log p(recordings | θ, s) − log p(θ) + ½ ‖d(θ, s)/σ_def‖²

by Levenberg and Marquardt's steps inside the unit box. The shooting variables s are eliminated from
the linear system (``profile``); the gaps enter as the Gaussian term of Eq. 5, as in the samplers. A
step is taken only if the objective falls. A start is done when its linear model promises less than
``tolerance``, or when no step is short enough to descend, and the run ends when all are done.

The posterior is Laplace's: with H the information at the best optimum θ*, prior's included, and g
the slope of the log posterior there, which vanishes but for parameters at a limit,

    p(θ) ∝ exp(g·(θ − θ*) − ½ (θ − θ*)ᵀ H (θ − θ*))   inside the box

A Gaussian whose mean lies outside where g does not vanish. Draws from it are independent. It says
nothing of other optima; the share of the starts that agree does.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from pydantic import Field

from pdsim.inference.divergence import all_finite, bring_back, keep_rows
from pdsim.inference.estimator import Info, Stepwise, largest_defect, summarise
from pdsim.inference.levenberg_marquardt import (
    damped_step,
    is_stuck,
    next_damping,
    prior_precision,
    prior_slope,
    room_ahead,
    start_damping,
)
from pdsim.inference.particles import sobol_particles
from pdsim.inference.profile import lagrangian, profile
from pdsim.inference.start import StartSettings, first_point
from pdsim.inference.target import SamplerSettings
from pdsim.likelihood.problem import Position, Problem, evaluated
from pdsim.numerics.truncated_gaussian import truncated_gaussian
from pdsim.settings.section import Count, Positive

# Precision of a direction that the recordings leave open: a deviation of ten boxes.
_OPEN_PRECISION = 0.01
# An objective is known to this many units of its last digit.
_DIGITS = 10.0
# Starts that end within so many nats of the best agree with it.
_AGREEMENT = 1.0


class Settings(StartSettings, SamplerSettings):
    """Multi-start Levenberg–Marquardt with a Laplace posterior."""

    start_count: Count = Field(
        16,
        description="starts, side by side, at Sobol points, one of which is the centre; alone it "
        "starts there. `start` takes the place of the first",
    )
    tolerance: Positive = Field(
        1e-9, description="a start is done when its linear model promises to gain less [nat]"
    )


class Quadratic(NamedTuple):
    """The log posterior of each start to second order in the parameters, s following them.

    Attributes:
        position: where.
        objective: there [nat], (start,); ∞ before the first evaluation.
        score: slope of the log posterior, (start, M).
        information: its second derivative, sign changed, (start, M, M).
        response: ds/dθ, (start, trajectory, (window − 1) · S, M).
    """

    position: Position
    objective: jax.Array
    score: jax.Array
    information: jax.Array
    response: jax.Array


class State(NamedTuple):
    """The starts, and how far each trusts its linear model.

    Attributes:
        position: of the starts.
        damping: Levenberg and Marquardt's, (start,).
        model: at the last finite position of each, where its next step began.
        done: whether no further step is needed or possible, (start,).
        diverging: whether the last roll-out tried was not finite, (start,).
        seed: of the draws.
    """

    position: Position
    damping: jax.Array
    model: Quadratic
    done: jax.Array
    diverging: jax.Array
    seed: jax.Array


class Laplace(NamedTuple):
    """The Gaussian at the best optimum, unit coordinates, before the box cuts it.

    Attributes:
        optimum: θ*, (M,).
        mean: θ* + H⁻¹ g, (M,); outside the box if the optimum is at a limit that holds it back.
        covariance: H⁻¹, (M, M).
        shooting: s at the optimum, (trajectory, window − 1, S).
        response: ds/dθ, (trajectory, (window − 1) · S, M).
    """

    optimum: np.ndarray
    mean: np.ndarray
    covariance: np.ndarray
    shooting: np.ndarray
    response: np.ndarray


@dataclass(frozen=True)
class LeastSquares(Stepwise):
    """Starts side by side; the draws are those of the best one's Gaussian."""

    settings: Settings
    sample_kind: ClassVar[str] = "iid"
    one_mode: ClassVar[bool] = True
    # Derivatives are tangent roll-outs, which count as roll-outs.
    uses_gradients: ClassVar[bool] = False
    cheaper: ClassVar[str] = "lower start_count, for each start pays for its tangents"

    def cost(self, problem: Problem) -> int:
        """The roll-out, a tangent for each parameter and start variable, and the one tried."""
        return self.settings.start_count * (2 + problem.tangent_count)

    def init(self, problem: Problem, seed: int) -> State:
        count, m = self.settings.start_count, problem.space.dimension
        position = sobol_particles(problem, count, seed)
        if count == 1 or self.settings.start:
            first = first_point(problem.space, self.settings.start)
            position = position._replace(parameters=position.parameters.at[0].set(first))
        x, shooting = position
        _, trajectories, gaps, states = shooting.shape
        model = Quadratic(
            position,
            jnp.full(count, jnp.inf, x.dtype),
            jnp.zeros_like(x),
            jnp.zeros((count, m, m), x.dtype),
            jnp.zeros((count, trajectories, gaps * states, m), x.dtype),
        )
        nobody = jnp.zeros(count, bool)
        return State(
            position, start_damping(count, x.dtype), model, nobody, nobody, jnp.array(seed)
        )

    def step(self, key: jax.Array, problem: Problem, state: State) -> tuple[State, Info]:
        del key
        space, sigma = problem.space, self.settings.defect_deviation
        x, shooting = state.position
        linear = problem.linearise(state.position)
        finite = all_finite(linear)
        linear = keep_rows(finite, linear, jax.tree.map(jnp.zeros_like, linear))
        no_force = jnp.zeros_like(shooting)
        # The damped form leads the step; the other is the posterior's, and tells what is to gain.
        damped = profile(linear, no_force, sigma, state.damping)
        form = profile(linear, no_force, sigma, jnp.zeros_like(state.damping))
        finite &= all_finite(damped, form)
        damped, form = (
            keep_rows(finite, one, jax.tree.map(jnp.zeros_like, one)) for one in (damped, form)
        )

        slope = prior_slope(space, x)
        precision = prior_precision(space, x) + _OPEN_PRECISION * jnp.eye(x.shape[1], dtype=x.dtype)
        score, information = slope - form.slope, form.information + precision
        before = form.lagrangian - space.log_prior(x)
        # Were there no limits ahead: what a step inside the box gains is no more.
        newton = damped_step(
            score,
            information,
            jnp.zeros_like(state.damping),
            held=room_ahead(x, score) <= 0,
            lowest=-jnp.inf,
            highest=jnp.inf,
        )
        gain = form.gain + 0.5 * (score * newton).sum(axis=1)
        small = jnp.maximum(
            self.settings.tolerance, _DIGITS * jnp.finfo(x.dtype).eps * jnp.abs(before)
        )

        phi = slope - damped.slope
        change = damped_step(
            phi,
            damped.information + precision,
            state.damping,
            held=room_ahead(x, phi) <= 0,
            lowest=-x,
            highest=1 - x,
        )
        # On a limit and not next to it, by rounding: there a parameter counts as held.
        ahead = jnp.where(change <= -x, 0.0, jnp.where(change >= 1 - x, 1.0, x + change))
        moved = damped.shift + jnp.einsum("pnai,pi->pna", damped.response, ahead - x)
        tried = Position(ahead, shooting + moved.reshape(shooting.shape))
        log_likelihood, defects = problem.evaluate(tried)
        after = lagrangian(log_likelihood, defects, no_force, sigma) - space.log_prior(
            tried.parameters
        )
        done = state.done | (finite & (gain < small))
        taken = finite & all_finite(after, defects) & (after < before) & ~done
        damping = jnp.where(finite & ~done, next_damping(state.damping, taken), state.damping)
        model = Quadratic(state.position, before, score, information, form.response)
        model = keep_rows(finite, model, state.model)
        new = State(
            bring_back(keep_rows(taken, tried, state.position), finite),
            damping,
            model,
            done | (is_stuck(damping) & ~taken),
            ~(finite & jnp.isfinite(after)),
            state.seed,
        )
        info = summarise(
            finite,
            linear.log_likelihood,
            largest_defect(linear.defects),
            evaluations=self.cost(problem),
            acceptance=taken.mean(dtype=x.dtype),
            damping=jnp.median(state.damping),
            objective=model.objective.min(),
            gain=jnp.nanmax(jnp.where(finite & ~state.done, gain, jnp.nan)),
            agreeing=_agreeing(model.objective),
            done=done.mean(dtype=x.dtype),
        )
        return new, info

    def finished(self, problem: Problem, state: State) -> jax.Array:
        del problem
        return state.done.all()

    def laplace(self, state: State) -> Laplace:
        """Return the Gaussian at the start with the largest posterior density."""
        best = int(np.argmin(state.model.objective))
        one = jax.tree.map(lambda rows: np.asarray(rows[best], np.float64), state.model)
        x, shooting = one.position
        # Rounding may leave a direction less than the recordings and the prior say.
        values, axes = np.linalg.eigh(one.information)
        least = max(_OPEN_PRECISION, np.finfo(state.position.parameters.dtype).eps * values.max())
        covariance = (axes / np.maximum(values, least)) @ axes.T
        # At an optimum, what is left of the score holds parameters at their limits.
        held = room_ahead(x, one.score) <= 0
        mean = x + covariance @ np.where(held, one.score, 0.0)
        return Laplace(x, mean, covariance, shooting, one.response)

    def draws(self, problem: Problem, state: State) -> Position:
        """Return independent draws; the shooting variables follow the parameters linearly."""
        optimum, mean, covariance, shooting, response = self.laplace(state)
        m, dtype = len(mean), state.position.parameters.dtype
        x = truncated_gaussian(
            mean,
            covariance,
            np.zeros(m),
            np.ones(m),
            self.particle_count,
            np.random.default_rng(int(state.seed)),
        )
        moved = np.einsum("nai,pi->pna", response, x - optimum)
        moved = moved.reshape(len(x), *shooting.shape)
        return Position(jnp.asarray(x, dtype), jnp.asarray(shooting + moved, dtype))

    def diverging(self, problem: Problem, state: State) -> jax.Array:
        log_likelihood, _ = evaluated(problem, self.draws(problem, state))
        return ~jnp.isfinite(log_likelihood)

    def convergence(self, problem: Problem, state: State) -> dict[str, jax.Array]:
        """Return the optimum and each parameter's deviation before the box cuts it, in its unit.

        A deviation that is longer than the range of its parameter says that the recordings leave
        the parameter open.
        """
        space, found = problem.space, self.laplace(state)
        optimum = jnp.asarray(found.optimum)
        slope = jax.jvp(space.to_physical, (optimum,), (jnp.ones_like(optimum),))[1]
        return {
            "optimum": space.to_physical(optimum),
            "deviation": jnp.abs(slope) * np.sqrt(np.diag(found.covariance)),
        }


def _agreeing(objective: jax.Array) -> jax.Array:
    """Share of the starts whose objective is near to the best."""
    return (objective <= objective.min() + _AGREEMENT).mean(dtype=objective.dtype)


ESTIMATOR = LeastSquares
