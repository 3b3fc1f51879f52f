"""Estimators that take slopes of some particles at a time draw what they draw of all at once."""

from dataclasses import dataclass, field, replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from inference.targets import ChainProblem, build, gaussian

from pdsim.inference.runner import run

PARTICLES, BLOCK = 17, 6
CHAINS = {"nuts": {"chain_count": PARTICLES, "doublings": 3}, "sgld": {"chain_count": PARTICLES}}
GAUSSIAN = gaussian([0.5, 0.4], np.diag([0.1**2, 0.05**2]))
WINDOWS = ChainProblem(jnp.array([0.4, 0.45, 0.5]), jnp.array(0.05), gaussian([0.5], [[1]]).space)


@pytest.mark.parametrize(
    ("method", "problem"),
    [
        ("svgd", GAUSSIAN),
        ("sgld", GAUSSIAN),
        ("nuts", GAUSSIAN),
        ("csvgd_gradient", WINDOWS),
    ],
)
def test_draws_of_blocks_are_those_of_all(method, problem, monkeypatch):
    """The last two blocks overlap."""
    shapes = []
    monkeypatch.setattr(jax, "default_backend", lambda: "cpu")

    @jax.tree_util.register_dataclass
    @dataclass(frozen=True)
    class Watched(type(problem)):
        # To JAX trees of classes with the same fields are equal, and may share programs.
        test: str = field(default=method, metadata={"static": True})

        def evaluate(self, position):
            shapes.append(len(position.parameters))
            return super().evaluate(position)

    def draws(block):
        watched = Watched(**vars(replace(problem, gradient_block=block)))
        estimator = build(method, particles=PARTICLES, iterations=30, settings=CHAINS.get(method))
        result = run(estimator, watched, seed=0, chunk_size=30)
        return estimator.draws(watched, result.state)

    whole = draws(None)
    # Seventeen, filled up to vectors of eight.
    assert set(shapes) == {24}
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12), draws(BLOCK), whole)
    # Three blocks of a vector each.
    assert set(shapes) == {24, 8}
