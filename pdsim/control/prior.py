"""A belief that starts from what was identified: particles from the draws of a posterior file."""

import jax
import jax.numpy as jnp
import numpy as np

from pdsim.control.belief import Particles
from pdsim.control.tasks.task import WHERE, Task, check_names
from pdsim.posterior import read_run
from pdsim.runtime.errors import PdsimError
from pdsim.systems.config import PosteriorOf


def first_particles(
    path: str, earlier: PosteriorOf, task: Task, count: int
) -> tuple[tuple[float, ...], ...]:
    """y of ``count`` particles, d each: draws of a posterior, blurred so that its variance stays.

    Draws are taken at random, with the kernels about shrunk centres that the controller's own draws
    have (``Particles.draw``): the same draw twice would give two particles that never part.

    Raises:
        PdsimError: the file is of another run, lacks a learnt parameter or has it in another unit,
            or has draws that are no positive numbers.
    """
    posterior = read_run(path, earlier, WHERE)
    check_names(list(posterior.parameters), task)
    for name in task.names:
        unit, expected = posterior.parameters[name].unit, task.system.parameters[name].unit
        if unit != expected:
            raise PdsimError(f"{path}: {name} is in {unit}, and {task.name} has it in {expected}")
    values = posterior.table(task.names)
    if not (values > 0).all():
        raise PdsimError(f"{path}: a draw of {', '.join(task.names)} is not a positive number")
    logarithms = jnp.asarray(np.log(values / task.nominal))
    drawn = Particles(task, count).draw(logarithms, jax.random.key(0), count)
    return tuple(tuple(float(x) for x in point) for point in np.asarray(drawn))
