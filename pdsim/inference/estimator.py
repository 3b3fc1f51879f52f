"""What an estimator is to the runner: ``init``, ``advance``, ``draws``, within a budget.

The budget counts evaluations of the likelihood at one position, so that estimators of every kind
can be compared at equal work: a particle method spends one for each particle and iteration, a
No-U-Turn sampler one for each leapfrog step of each chain.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from pdsim.likelihood.problem import Position, Problem
from pdsim.xla.cores import gathered


class Info(NamedTuple):
    """What an iteration reports, scalars; they become the history group of the posterior file.

    The common columns come first; a method that has more to tell adds ``own``.

    Attributes:
        log_likelihood: median over the particles.
        log_likelihood_best: largest.
        step_size: of the optimiser or sampler.
        bandwidth: squared kernel length, unit-box units; NaN where there is no kernel.
        acceptance: share of proposals accepted; NaN where there are none.
        max_defect: largest shooting defect of any particle, scaled state units.
        median_defect: median over particles of each one's largest.
        diverging: number of particles whose roll-out was not finite.
        evaluations: number of positions evaluated.
        own: columns of this method alone, by name.
    """

    log_likelihood: Any
    log_likelihood_best: Any
    step_size: Any
    bandwidth: Any
    acceptance: Any
    max_defect: Any
    median_defect: Any
    diverging: Any
    evaluations: Any
    own: dict[str, Any]


def summarise(
    finite: jax.Array,
    log_likelihood: jax.Array,
    largest_defect: jax.Array,
    *,
    evaluations,
    step_size=jnp.nan,
    bandwidth=jnp.nan,
    acceptance=jnp.nan,
    **own,
) -> Info:
    """Build the report of an iteration from what each particle has, (particle,).

    Further scalars become columns of the method's own.
    """
    seen = jnp.where(finite, log_likelihood, jnp.nan)
    defect = jnp.where(finite, largest_defect, jnp.nan)
    dtype = log_likelihood.dtype
    return Info(
        log_likelihood=jnp.nanmedian(seen),
        log_likelihood_best=jnp.nanmax(seen),
        step_size=jnp.asarray(step_size, dtype),
        bandwidth=jnp.asarray(bandwidth, dtype),
        acceptance=jnp.asarray(acceptance, dtype),
        max_defect=jnp.nanmax(defect),
        median_defect=jnp.nanmedian(defect),
        diverging=(~finite).sum(),
        evaluations=jnp.asarray(evaluations),
        own={name: jnp.asarray(value, dtype) for name, value in own.items()},
    )


@partial(jax.jit, static_argnames="evaluations")
def summarise_each(finite, log_likelihood, largest_defect, *, evaluations: int, **rows) -> Info:
    """Build the reports of several iterations, of which each has a row."""
    of_one = partial(summarise, evaluations=evaluations)
    return jax.vmap(of_one)(finite, log_likelihood, largest_defect, **rows)


def largest_defect(defects: jax.Array) -> jax.Array:
    """Largest absolute defect of each particle, (particle,); 0 without shooting variables."""
    return jnp.abs(defects).reshape(defects.shape[0], -1).max(axis=1, initial=0.0)


class Done(NamedTuple):
    """How far a run is.

    Attributes:
        iterations: finished so far.
        evaluations: spent so far.
    """

    iterations: int
    evaluations: int


def affordable(done: Done, until: int, cost: int) -> int:
    """How many iterations of the same cost end before ``until`` evaluations in all."""
    return (until - done.evaluations) // cost


class Estimator(Protocol):
    """An inference algorithm. States are pytrees of arrays: they are what a checkpoint holds.

    Attributes:
        sample_kind: what the draws are: "particles", "mcmc" or "iid".
        uses_gradients: whether an evaluation comes with a gradient by reverse mode.
        one_mode: whether the draws are of one mode, however many the posterior has.
        cheaper: what makes an iteration cost less, for a reader whose budget is below one.
        particle_count: of the budget; most draws there may be.
        iteration_count: of the budget.
    """

    sample_kind: str
    uses_gradients: bool
    one_mode: bool
    cheaper: str
    particle_count: int
    iteration_count: int

    def cost(self, problem: Problem) -> int:
        """Evaluations of one iteration, at most."""
        ...

    def least_budget(self, problem: Problem) -> int:
        """Evaluations up to a first result, at most."""
        ...

    def init(self, problem: Problem, seed: int) -> Any:
        """Return the state before the first iteration."""
        ...

    def advance(
        self, problem: Problem, state: Any, *, seed: int, done: Done, until: int, capacity: int
    ) -> tuple[Any, Info]:
        """Iterate while ``until`` evaluations in all are not exceeded.

        Random numbers depend on the seed and on the number of the iteration alone, so a run that
        is cut and resumed gives the same as one that is not.

        Args:
            seed: of the run.
            done: what was done before.
            until: evaluations after which to return.
            capacity: most evaluations of any such call; a constant of the run.

        Returns:
            The state, and the reports of the iterations done, one row each.
        """
        ...

    def finished(self, problem: Problem, state: Any) -> Any:
        """Return whether further iterations would change nothing: the run then ends early."""
        ...

    def draws(self, problem: Problem, state: Any) -> Position:
        """Return the draws the state stands for, inside the limits; chain by chain."""
        ...

    def chain_count(self, problem: Problem) -> int:
        """Number of chains the draws come from; 1 if they are no chains."""
        ...

    def diverging(self, problem: Problem, state: Any) -> jax.Array:
        """Return of each draw whether its last roll-out was not finite, (particle,)."""
        ...

    def convergence(self, problem: Problem, state: Any) -> dict[str, jax.Array]:
        """Return what tells of each parameter whether the draws can be trusted, name → (M,)."""
        ...


def iterate(estimator, problem, state, *, seed: int, done: Done, until: int, capacity: int):
    """Call ``estimator.step`` while another iteration fits and is needed, in one compiled loop.

    Iterations may cost different numbers of evaluations, between ``estimator.least_cost`` and
    ``estimator.cost``; what one did cost is known when it is done.

    Args:
        state: what ``estimator.step`` takes and returns.
        seed, done, until, capacity: as in ``Estimator.advance``.

    Returns:
        The state, and ``(Info, estimator.recorded(state))`` of each iteration, a row each.
    """
    state, count, rows = _loop(
        estimator,
        problem,
        gathered(state),
        jax.random.key(seed),
        jnp.array(done.iterations),
        jnp.array(done.evaluations),
        until,
        length=max(capacity // estimator.least_cost(problem), 1),
        cost=estimator.cost(problem),
    )
    count = int(count)
    # As NumPy arrays: each new length of a slice would be a program of its own.
    return gathered(state), jax.tree.map(lambda all_rows: np.asarray(all_rows)[:count], rows)


@partial(jax.jit, static_argnames=("estimator", "length", "cost"))
def _loop(estimator, problem, state, key, first, used, until, *, length: int, cost: int):
    """As ``iterate``, in arrays of ``length`` rows, and how many of them are filled."""
    # Traced once, for its shapes and for the loop.
    step = jax.jit(estimator.step, inline=True)
    _, shapes = jax.eval_shape(step, key, problem, state)
    shapes = (shapes, jax.eval_shape(estimator.recorded, state))
    rows = jax.tree.map(lambda s: jnp.zeros((length, *s.shape), s.dtype), shapes)

    def fits(carry):
        count, spent, state, _ = carry
        needed = jnp.logical_not(estimator.finished(problem, state))
        return (count < length) & (spent + cost <= until) & needed

    def once(carry):
        count, spent, state, rows = carry
        state, info = step(jax.random.fold_in(key, first + count), problem, state)
        row = (info, estimator.recorded(state))
        rows = jax.tree.map(lambda all_rows, one: all_rows.at[count].set(one), rows, row)
        return count + 1, spent + info.evaluations.astype(spent.dtype), state, rows

    count, _, state, rows = jax.lax.while_loop(
        fits, once, (jnp.zeros_like(first), used, state, rows)
    )
    return state, count, rows


@dataclass(frozen=True)
class Independent:
    """What estimators share whose draws are no chains: an iteration evaluates every particle."""

    settings: Any
    particle_count: int
    iteration_count: int
    one_mode: ClassVar[bool] = False
    cheaper: ClassVar[str] = ""

    def cost(self, problem: Problem) -> int:
        del problem
        return self.particle_count

    def least_budget(self, problem: Problem) -> int:
        return self.cost(problem)

    def chain_count(self, problem: Problem) -> int:
        del problem
        return 1

    def finished(self, problem: Problem, state) -> Any:
        del problem, state
        return False

    def convergence(self, problem: Problem, state) -> dict[str, jax.Array]:
        del problem, state
        return {}


@dataclass(frozen=True)
class Stepwise(Independent):
    """What estimators share that have a pure ``step(key, problem, state) -> (state, Info)``."""

    def least_cost(self, problem: Problem) -> int:
        return self.cost(problem)

    def progress(self, problem: Problem, iteration: jax.Array) -> jax.Array:
        """Share of the budget spent before an iteration."""
        return iteration * self.cost(problem) / (self.particle_count * self.iteration_count)

    def recorded(self, state):
        """Nothing of an iteration is kept but its report."""
        del state

    def advance(self, problem, state, *, seed, done, until, capacity):
        state, (info, _) = iterate(
            self, problem, state, seed=seed, done=done, until=until, capacity=capacity
        )
        return state, info
