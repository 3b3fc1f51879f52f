"""The problem every estimator is given: log likelihood, log prior and constraints.

A position is a pair: ``parameters``, the unit coordinates of the estimated parameters, and
``shooting``, the scaled start states of windows 1, 2, … (empty in single shooting). Together they
are the augmented parameter vector of Sec. IV-C. Every function is batched over leading particles.
"""

from typing import NamedTuple, Protocol

import jax
import jax.numpy as jnp

from pdsim.parameters.space import ParameterSpace


class Position(NamedTuple):
    """Where particles stand.

    Attributes:
        parameters: (particle, M) unit coordinates.
        shooting: (particle, trajectory, window − 1, state) start states in scaled units.
    """

    parameters: jax.Array
    shooting: jax.Array


class Linearisation(NamedTuple):
    """Residuals and defects to first order around a position.

    Window w of trajectory n starts at s_w; s_0 is known. Its observations leave the residuals r_w
    (roll-out minus recording, over the noise), its end state e_w the defect s_{w+1} − e_w. All are
    in scaled units; K is the number of observations of a window.

    Attributes:
        log_likelihood: (particle,).
        weights: ∂ log p / ∂ log p_n, (particle, trajectory): 1 in a product, and in a sum the share
            of each trajectory in the mixture.
        residuals: (particle, trajectory, window, K).
        residual_parameters: ∂r/∂θ, (particle, trajectory, window, K, M).
        residual_start: ∂r/∂s, (particle, trajectory, window − 1, K, S), of windows 1, 2, …
        defects: (particle, trajectory, window − 1, S).
        end_parameters: ∂e/∂θ, (particle, trajectory, window − 1, S, M), of windows 0, 1, …
        end_start: ∂e/∂s, (particle, trajectory, window − 2, S, S), of windows 1, 2, …
    """

    log_likelihood: jax.Array
    weights: jax.Array
    residuals: jax.Array
    residual_parameters: jax.Array
    residual_start: jax.Array
    defects: jax.Array
    end_parameters: jax.Array
    end_start: jax.Array


class Problem(Protocol):
    """What an estimator may ask."""

    @property
    def space(self) -> ParameterSpace:
        """The estimated parameters and their box."""
        ...

    @property
    def rollout_count(self) -> int:
        """How many trajectories one evaluation simulates for one particle."""
        ...

    @property
    def tangent_count(self) -> int:
        """What a linearisation costs beyond an evaluation, in evaluations."""
        ...

    @property
    def gradient_block(self) -> int | None:
        """Particles whose slopes a CPU takes by reverse mode at a time; None: all at once."""
        ...

    def start_shooting(self) -> jax.Array:
        """Return shooting variables to start from, (trajectory, window − 1, state)."""
        ...

    def evaluate(self, position: Position) -> tuple[jax.Array, jax.Array]:
        """Return the log likelihood (particle,) and the defects, shaped as ``shooting``."""
        ...

    def linearise(self, position: Position) -> Linearisation:
        """Evaluate, with first derivatives of all residuals and defects."""
        ...


@jax.jit
def evaluated(problem: Problem, position: Position) -> tuple[jax.Array, jax.Array]:
    """``problem.evaluate`` as one program, where it is called from no other."""
    return problem.evaluate(position)


def combine_trajectories(log_likelihood: jax.Array, combination: str) -> jax.Array:
    """Combine the log likelihoods of a set of trajectories, shape (..., trajectory) → (...).

    ``sum`` is the mixture of Eq. 4 and 9 in log space, log (1/n Σ p); the paper leaves out the
    constant 1/n. ``product`` is Eq. 10, Σ log p.
    """
    if combination == "product":
        return log_likelihood.sum(axis=-1)
    count = log_likelihood.shape[-1]
    return jax.scipy.special.logsumexp(log_likelihood, axis=-1) - jnp.log(count)


def trajectory_weights(log_likelihood: jax.Array, combination: str) -> jax.Array:
    """Slope of ``combine_trajectories`` in each log likelihood, (..., trajectory)."""
    if combination == "product":
        return jnp.ones_like(log_likelihood)
    return jax.nn.softmax(log_likelihood, axis=-1)
