"""Gauss and Newton's method from one start: the optimum, and its curvature as covariance.

The steps are those of ``least_squares``, damped where their linear model fails; what is returned is
the optimum itself, and not draws from the Gaussian about it.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

import jax
import jax.numpy as jnp
import numpy as np
from pydantic import Field

from pdsim.inference import least_squares
from pdsim.inference.least_squares import LeastSquares, State
from pdsim.inference.point import described, iterates
from pdsim.likelihood.problem import Position, Problem


class Settings(least_squares.Settings):
    """Damped Gauss–Newton steps from one start."""

    start_count: Literal[1] = Field(1, description="one start, and no other")


@dataclass(frozen=True)
class GaussNewton(LeastSquares):
    """One start of least squares; every iterate is kept."""

    settings: Settings
    sample_kind: ClassVar[str] = "point"
    one_mode: ClassVar[bool] = False
    cheaper: ClassVar[str] = "raise iteration_count; each iteration pays for its tangents"

    def step(self, key: jax.Array, problem: Problem, state: State):
        moved, info = super().step(key, problem, state)
        own = info.own | iterates(problem.space, state.position.parameters[0])
        return moved, info._replace(own=own)

    def draws(self, problem: Problem, state: State) -> Position:
        """Return the point where the last step that was evaluated began."""
        del problem
        return state.model.position

    def convergence(self, problem: Problem, state: State) -> dict[str, jax.Array]:
        model = state.model
        return described(
            problem.space, model.position.parameters[0], np.asarray(model.information[0])
        )

    def diverging(self, problem: Problem, state: State) -> jax.Array:
        return jnp.asarray(state.diverging)


ESTIMATOR = GaussNewton
