"""What estimators share that return one point: how sure they are of it.

The posterior file of such an estimator holds one draw, ``sample_kind`` "point". Its covariance, in
the group ``convergence``, is the inverse of the information at the point, prior's included; every
iterate stands in the history, in a column ``at_<parameter>``.
"""

import jax
import jax.numpy as jnp
import numpy as np

from pdsim.inference.levenberg_marquardt import prior_precision
from pdsim.likelihood.problem import Linearisation, Position, Problem
from pdsim.parameters.space import ParameterSpace


def position_of(problem: Problem, x: jax.Array) -> Position:
    """The position of one point (M,), with shooting variables as they are guessed."""
    return Position(x[None], problem.start_shooting()[None])


@jax.jit
def linear_model(problem: Problem, x: jax.Array) -> Linearisation:
    """The problem to first order at unit coordinates (M,), a batch of one."""
    return problem.linearise(position_of(problem, x))


def information(problem: Problem, x: jax.Array) -> jax.Array:
    """Gauss and Newton's information at unit coordinates (M,), prior's included, (M, M)."""
    linear = linear_model(problem, x)
    slopes = linear.residual_parameters[0]
    own = jnp.einsum("n,nwki,nwkj->ij", linear.weights[0], slopes, slopes)
    return own + prior_precision(problem.space, x[None])[0]


def covariance_of(space: ParameterSpace, x: jax.Array, information: np.ndarray) -> np.ndarray:
    """Covariance in physical units (M, M) of an information in unit coordinates (M, M)."""
    slope = jax.jvp(space.to_physical, (x,), (jnp.ones_like(x),))[1]
    scale = np.diag(np.asarray(slope))
    return scale @ np.linalg.pinv(np.asarray(information), hermitian=True) @ scale


def described(space: ParameterSpace, x: jax.Array, information: np.ndarray) -> dict:
    """The group ``convergence`` of a point: optimum, deviation, and the rows of the covariance."""
    covariance = covariance_of(space, x, information)
    rows = {f"covariance_{name}": row for name, row in zip(space.names, covariance, strict=True)}
    return {
        "optimum": space.to_physical(x),
        "deviation": np.sqrt(np.diag(covariance)),
        **rows,
    }


def iterates(space: ParameterSpace, x: jax.Array) -> dict[str, jax.Array]:
    """Columns of the history that tell where an iterate (M,) is, in physical units."""
    values = space.to_physical(x)
    return {f"at_{name}": values[i] for i, name in enumerate(space.names)}
