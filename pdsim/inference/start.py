"""Where estimators begin that climb from a point."""

from collections.abc import Mapping

import jax
import jax.numpy as jnp
import numpy as np
from pydantic import Field

from pdsim.parameters.space import ParameterSpace
from pdsim.runtime.errors import PdsimError
from pdsim.settings.section import Section


class StartSettings(Section):
    """What estimators share that climb from a point."""

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
    given = np.isin(space.names, list(start))
    return jnp.where(given, x, jnp.asarray(space.middle, x.dtype))
