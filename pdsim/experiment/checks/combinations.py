"""Whether the combinations that a user names can be computed, before anything runs."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from pdsim.runtime.errors import PdsimError
from pdsim.systems.simulator import Simulator
from pdsim.units.expressions import parse


def check_combinations(
    combinations: Mapping[str, str], simulator: Simulator, *, fixed: bool
) -> None:
    """Refuse a combination of unknown quantities, or of units that do not go together.

    An experiment is checked before its job configures JAX, so this check computes with NumPy alone.

    Args:
        fixed: as in ``quantities``.

    Raises:
        PdsimError: names the key; also where a part has no finite value at the bounds' centre.
    """
    known = _at_centre(simulator, fixed=fixed)
    for name, text in combinations.items():
        if name in known or name in simulator.system.parameters:
            raise PdsimError(
                f"combinations.{name}: {name} is the name of a parameter or a combination of "
                f"{simulator.system.name} already; give this combination another name"
            )
        try:
            parse(text).of(known, finite=True)
        except ValueError as error:
            raise PdsimError(f"combinations.{name}: {error}") from None


def _at_centre(simulator: Simulator, *, fixed: bool) -> dict[str, tuple[Any, str]]:
    """``quantities`` at the centre of the bounds, scalars."""
    system, space, _ = simulator
    found: dict[str, tuple[Any, str]] = {}
    centre = space.centre.tolist()
    if fixed:
        values = dict(space.fixed)
        found |= {name: (value, system.parameters[name].unit) for name, value in space.fixed}
        for parameter, value in zip(space.parameters, centre, strict=True):
            values |= dict.fromkeys(parameter.sets, value)
        with np.errstate(all="ignore"):
            found |= system.combinations(values)
    for parameter, value in zip(space.parameters, centre, strict=True):
        found |= dict.fromkeys((*parameter.sets, parameter.name), (value, parameter.unit))
    return found
