"""Steepest descent on the planar loop: the stiffnesses come back from the path of a hinge."""

from dataclasses import dataclass, field

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from inference.targets import build
from variational.problems import PlanarLoop

from pdsim.inference.runner import run
from pdsim.likelihood.problem import Linearisation
from pdsim.parameters.space import Parameter, ParameterSpace
from pdsim.variational.constraint import project
from pdsim.variational.simulate import simulate

LOOP, DT, STEPS, SIGMA = PlanarLoop(4), 0.01, 60, 0.01
TRUTH = np.array([0.8, 0.5])


def path(rho, **form):
    """Where the loop's middle is, (step, 2), after it was let go of bent."""
    bent = jnp.array(LOOP.rest) + jnp.array([0.5, -0.6, 0.3, 0.1])
    q, p = project(LOOP, bent, jnp.zeros(4), rho)
    motion, _ = simulate(LOOP, q, p, None, rho, DT, steps=STEPS, **form)
    return jax.vmap(lambda q: LOOP.points(q)[0][1])(motion.q)


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class PlanarProblem:
    """A Gaussian likelihood of the path; what an estimator of points asks of a problem."""

    measured: jax.Array
    space: ParameterSpace = field(metadata={"static": True})
    rollout_count: int = field(default=1, metadata={"static": True})
    tangent_count: int = field(default=2, metadata={"static": True})

    def start_shooting(self):
        return jnp.zeros((1, 0, 1))

    def residuals(self, x, **form):
        return ((path(self.space.to_physical(x), **form) - self.measured) / SIGMA).ravel()

    def evaluate(self, position):
        found = jax.vmap(self.residuals)(position.parameters)
        return -0.5 * (found**2).sum(axis=1), position.shooting

    def linearise(self, position):
        value, defects = self.evaluate(position)
        slope = jax.jacfwd(lambda x: self.residuals(x, forward=True))
        count = len(value)
        return Linearisation(
            log_likelihood=value,
            weights=jnp.ones((count, 1)),
            residuals=jax.vmap(self.residuals)(position.parameters)[:, None, None],
            residual_parameters=jax.vmap(slope)(position.parameters)[:, None, None],
            residual_start=jnp.zeros((count, 1, 0, 2 * STEPS, 1)),
            defects=defects,
            end_parameters=jnp.zeros((count, 1, 0, 1, 2)),
            end_start=jnp.zeros((count, 1, 0, 1, 1)),
        )


@pytest.mark.slow
def test_steepest_descent_finds_the_stiffnesses_of_the_planar_loop():
    """A constrained integrator, its adjoint and the estimator find two stiffnesses to 1 %."""
    space = ParameterSpace(
        tuple(Parameter(name, 0.1, 2.0, "N m/rad") for name in ("first", "second"))
    )
    problem = PlanarProblem(path(jnp.array(TRUTH)), space)
    settings = {
        "start": {"first": 1.2, "second": 1.0},
        "cost_of_nat": 2 * SIGMA**2,
        "tolerance": 1e-7,
        "iterations": 200,
    }
    estimator = build("steepest_descent", particles=40, iterations=100, settings=settings)
    result = run(estimator, problem, seed=0, chunk_size=100, report=False)
    draws = np.asarray(estimator.draws(problem, result.state).parameters)
    found = np.asarray(space.to_physical(jnp.asarray(draws)))[0]
    np.testing.assert_allclose(found, TRUTH, rtol=0.01)
    # The cost is the sum of squares, and the first is that of the start.
    start = path(jnp.array([1.2, 1.0])) - problem.measured
    np.testing.assert_allclose(result.history["cost"][0], (start**2).sum(), rtol=1e-9)
