"""Tasks and the exact posterior on a grid."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pdsim.control.belief import log_likelihood
from pdsim.control.tasks.cart_pole import CartPoleTask
from pdsim.control.tasks.quadrotor import QuadrotorTask

TASKS = {"cart_pole": CartPoleTask(), "quadrotor": QuadrotorTask()}


@pytest.fixture(params=list(TASKS))
def task(request):
    return TASKS[request.param]


@pytest.fixture(scope="session")
def grid_posterior():
    """Function: mean and deviation of y under a uniform prior over θ, from all transitions."""

    def solve(task, transitions, size=61, refinements=3):
        lower, upper = (bound / task.nominal for bound in task.bounds)
        limits = np.log(lower), np.log(upper)
        low, high = limits

        @jax.jit
        def log_density(points):
            def total(y):
                each = jax.vmap(lambda one: log_likelihood(task, y, one))(transitions)
                return each.sum() + y.sum()  # uniform over θ = e^y has density e^y over y

            return jax.lax.map(jax.vmap(total), points)

        for _ in range(refinements + 1):
            axes = [np.linspace(a, b, size) for a, b in zip(low, high, strict=True)]
            points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
            log_p = np.asarray(log_density(jnp.asarray(points)))
            weight = np.exp(log_p - log_p.max())
            weight /= weight.sum()
            mean = np.einsum("ij,ijd->d", weight, points)
            deviation = np.sqrt(np.einsum("ij,ijd->d", weight, (points - mean) ** 2))
            step = np.array([axis[1] - axis[0] for axis in axes])
            reach = 6 * np.maximum(deviation, step)
            low = np.maximum(mean - reach, limits[0])
            high = np.minimum(mean + reach, limits[1])
        return mean, deviation

    return solve
