"""What an estimator is to the runner: a frozen config and ``init``, ``step``, ``draws``."""

from typing import Any, NamedTuple, Protocol

import jax

from pdsim.likelihood.problem import Position, Problem


class Info(NamedTuple):
    """What an iteration reports, scalars; they become the history group of the posterior file.

    Attributes:
        log_likelihood: median over the particles.
        log_likelihood_best: largest.
        step_size: of the optimiser or sampler.
        bandwidth: squared kernel length, unit-box units; NaN where there is no kernel.
        max_defect: largest shooting defect of any particle, scaled state units.
        median_defect: median over particles of each one's largest.
        limit_violation: largest distance outside the box, unit-box units.
        diverging: number of particles whose roll-out was not finite.
    """

    log_likelihood: jax.Array
    log_likelihood_best: jax.Array
    step_size: jax.Array
    bandwidth: jax.Array
    max_defect: jax.Array
    median_defect: jax.Array
    limit_violation: jax.Array
    diverging: jax.Array


class Estimator(Protocol):
    """An inference algorithm; hashable, so that jit can specialise on it.

    States are pytrees of arrays: they jit, and they are what a checkpoint holds.
    """

    sample_kind: str  # "particles", "mcmc" or "iid": what the draws are
    particle_count: int
    iteration_count: int

    def init(self, key: jax.Array, problem: Problem) -> Any:
        """Return the state before the first iteration."""
        ...

    def step(self, key: jax.Array, problem: Problem, state: Any) -> tuple[Any, Info]:
        """Do one iteration."""
        ...

    def draws(self, state: Any) -> Position:
        """Return the draws the state stands for, inside the limits."""
        ...

    def diagnostics(self, state: Any) -> dict[str, jax.Array]:
        """Return what is worth knowing of each draw, name → (particle,).

        At least ``diverging`` (its last roll-out was not finite) and ``limit_violation`` (how far
        outside the box it stood before it was brought back, unit-box units).
        """
        ...
