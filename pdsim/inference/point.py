"""What estimators share that return one point: where they start, and how sure they are of it.

The posterior file of such an estimator holds one draw, ``sample_kind`` "point". Its covariance, in
the group ``convergence``, is the inverse of the information at the point, prior's included; every
iterate stands in the history, in a column ``at_<parameter>``.
"""

from collections.abc import Mapping

import jax
import jax.numpy as jnp
import numpy as np
from pydantic import Field

from pdsim.config.section import Section
from pdsim.inference.levenberg_marquardt import prior_precision
from pdsim.likelihood.problem import Linearisation, Position, Problem
from pdsim.parameters import ParameterSpace
from pdsim.runtime.errors import PdsimError


class PointSettings(Section):
    """What point estimators share."""

    start: dict[str, float] = Field(
        {}, description="where to begin, by parameter, in its unit; others at the middle"
    )

    def __hash__(self) -> int:
        # Settings are part of compiled programs, and a mapping has no hash of its own.
        return hash((type(self), self.model_dump_json()))


def first_point(space: ParameterSpace, start: Mapping[str, float]) -> jax.Array:
    """Unit coordinates (M,) of the start.

    Raises:
        PdsimError: a parameter is not there, or its start beyond the limits.
    """
    strange = sorted(set(start) - set(space.names))
    if strange:
        raise PdsimError(
            f"settings.start.{strange[0]}: no such parameter; there are: {', '.join(space.names)}"
        )
    middle = np.asarray(space.to_physical(jnp.asarray(space.middle)))
    values = [start.get(name, float(at)) for name, at in zip(space.names, middle, strict=True)]
    x = space.to_coordinates(jnp.asarray(values))
    for name, value, u in zip(space.names, values, np.asarray(x), strict=True):
        if not 0 <= u <= 1:
            raise PdsimError(f"settings.start.{name}: {value:g} is beyond the parameter's limits")
    return jnp.asarray(x)


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
