"""The problem every estimator is given: log likelihood, log prior and constraints.

A position is a pair: ``parameters``, the unit coordinates of the estimated parameters, and
``shooting``, the scaled start states of windows 1, 2, … (empty in single shooting). Together they
are the augmented parameter vector of Sec. IV-C. Every function is batched over leading particles.
"""

from typing import NamedTuple, Protocol

import jax
import jax.numpy as jnp

from pdsim.parameters import ParameterSpace


class Position(NamedTuple):
    """Where particles stand.

    Attributes:
        parameters: (particle, M) unit coordinates.
        shooting: (particle, trajectory, window − 1, state) start states in scaled units.
    """

    parameters: jax.Array
    shooting: jax.Array


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

    def start_shooting(self) -> jax.Array:
        """Return shooting variables to start from, (trajectory, window − 1, state)."""
        ...

    def evaluate(self, position: Position) -> tuple[jax.Array, jax.Array]:
        """Return the log likelihood (particle,) and the defects, shaped as ``shooting``."""
        ...

    def joined(self, parameters: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Evaluate with every window started where the one before ended: without defects.

        Args:
            parameters: (particle, M) unit coordinates.

        Returns:
            The log likelihood (particle,), and the shooting variables that close all gaps.
        """
        ...


def combine_trajectories(log_likelihood: jax.Array, combination: str) -> jax.Array:
    """Combine the log likelihoods of a set of trajectories, shape (..., trajectory) → (...).

    ``sum`` is the mixture of Eq. 4 and 9 in log space, log (1/n Σ p); the paper leaves out the
    constant 1/n. ``product`` is Eq. 10, Σ log p.
    """
    if combination == "product":
        return log_likelihood.sum(axis=-1)
    count = log_likelihood.shape[-1]
    return jax.scipy.special.logsumexp(log_likelihood, axis=-1) - jnp.log(count)
