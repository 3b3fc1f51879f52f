"""The cores of one process: batches of particles split among them.

XLA runs elementwise arithmetic of a program on one core of a CPU. JAX can take the cores for
devices (``pdsim.runtime.device``); a function of a batch then does a share of the rows on each, and
what is not of rows every core does for itself.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec

from pdsim.xla.blocks import lengthened

_AXIS = "core"


def over_cores(function: Callable) -> Callable:
    """Split the rows of a function's last argument among the cores.

    Where there is one core, or one row, or the rows are a core's share already, the function is
    called as it is.

    Args:
        function: ``(*shared, rows)``; every leaf of ``rows`` and of the result has the same number
            of rows in front, and a row of the result depends on its own row and ``shared`` alone.

    Returns:
        The same function. Rows are filled up, with copies of the last, to a multiple of the cores.
    """

    @wraps(function)
    def split(*arguments: Any) -> Any:
        *shared, rows = arguments
        devices = jax.local_devices()
        count = len(jax.tree.leaves(rows)[0])
        if min(len(devices), count) < 2 or jax.sharding.get_abstract_mesh().manual_axes:
            return function(*arguments)
        lacking = -count % len(devices)
        filled = jax.tree.map(lambda x: lengthened(x, lacking), rows)
        mesh = Mesh(np.array(devices), (_AXIS,))
        whole, share = PartitionSpec(), PartitionSpec(_AXIS)
        result = jax.shard_map(
            lambda shared, rows: function(*shared, rows),
            mesh=mesh,
            in_specs=(whole, share),
            out_specs=share,
            check_vma=False,
        )(tuple(shared), filled)
        return jax.tree.map(lambda x: x[:count], result)

    return split


def one_by_one(routine: Callable) -> Callable:
    """Call a routine of LAPACK for one matrix of a batch after another, where there are cores.

    Since jaxlib 0.10 a batch holds a thread of XLA's pool until others have done their share, and
    two batches at a time stop a pool that has a thread for each core for ever.

    Args:
        routine: of matrices whose leading axes, the same of all its arguments, are a batch.
    """

    @wraps(routine)
    def called(*arrays: jax.Array) -> Any:
        if jax.local_device_count() == 1:
            return routine(*arrays)
        batch = arrays[0].shape[:-2]
        rows = tuple(x.reshape(-1, *x.shape[len(batch) :]) for x in arrays)
        found = jax.lax.map(lambda row: routine(*row), rows)
        return jax.tree.map(lambda x: x.reshape(*batch, *x.shape[1:]), found)

    return called


def gathered(arrays: Any) -> Any:
    """Bring what the cores hold shares of to one, with types that are not weak.

    A program is compiled again for arguments that lie elsewhere or have other types than before;
    gathered before and after a call, those of the next call are as the first's.
    """
    several = jax.local_device_count() > 1

    def one(x: Any) -> Any:
        if several:
            return jnp.asarray(np.asarray(x))
        weak = isinstance(x, int | float) or getattr(x, "weak_type", False)
        return jnp.asarray(x, jnp.result_type(x)) if weak else x

    return jax.tree.map(one, arrays)
