"""Problems whose functions are compiled whole.

Called outside `jax.jit`, a function is compiled operation by operation: some hundred small programs
where one does.
"""

import jax


class Whole:
    """A problem like the one given; what estimators compile is compiled here too."""

    def __init__(self, problem):
        self._problem = problem
        self.evaluate = jax.jit(problem.evaluate)
        self.linearise = jax.jit(problem.linearise)

    def __getattr__(self, name):
        return getattr(self._problem, name)


def slope(function, at):
    """Gradient of a function at a position, compiled whole."""
    return jax.jit(jax.grad(function))(at)
