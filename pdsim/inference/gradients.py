"""Slopes by reverse mode, of some particles at a time.

Reverse mode keeps numbers of every step of a roll-out until it comes back to it. So that those of a
block are used before those of the next are made, values and slopes are taken together. A GPU, which
starts the kernels of each block anew, takes all particles at once.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from pdsim.xla.blocks import in_blocks
from pdsim.xla.cores import over_cores


def by_blocks(function: Callable) -> Callable:
    """Work through the rows of a function that takes slopes, ``gradient_block`` at a time.

    Args:
        function: ``(problem, *shared, rows)``; a row of its result depends on its own row and on
            what is shared alone.
    """
    blocks = in_blocks(lambda problem, *_: problem.gradient_block, on_gpu=False)
    return over_cores(blocks(function))


def value_and_gradient(function: Callable, problem: Any, rows: Any) -> tuple[jax.Array, Any, Any]:
    """Evaluate a function of particles with its slopes.

    Args:
        function: ``(problem, rows)``: a value (particle,) and what else there is to report.
        problem: a problem, or a target.
        rows: where the particles are, a tree of arrays with particles in front.

    Returns:
        The value, its slope in every array of the rows, and the rest of the report.
    """

    def both(problem, rows):
        value, pullback, seen = jax.vjp(lambda at: function(problem, at), rows, has_aux=True)
        return value, pullback(jnp.ones_like(value))[0], seen

    return by_blocks(both)(problem, rows)
