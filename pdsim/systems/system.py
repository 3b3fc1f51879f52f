"""What a physical system is to the rest of pdsim: named channels, named parameters, a step.

A state is a tuple of arrays, one per state variable, all of one batch shape (particles,
trajectories, windows, …); the functions act elementwise over the batch. Separate arrays, and not
one stacked array, keep the transpose of every step free of pads and scatters.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax

State = tuple[jax.Array, ...]


@dataclass(frozen=True)
class Channel:
    """One observed quantity."""

    name: str
    unit: str
    kind: str  # "position" or "velocity"
    label: str


@dataclass(frozen=True)
class SystemParameter:
    """One number of the model that may be estimated or fixed."""

    unit: str
    default: float
    meaning: str
    label: str


@dataclass(frozen=True)
class System:
    """A mechanical system as pure functions.

    Attributes:
        state: names of the state variables, in the order of the state tuple.
        channels: what is observed, in the order ``observe`` returns it.
        parameters: every number of the model, by name.
        coefficients: ``(parameters: name → array) → pytree``; the combinations of parameters the
            step needs, computed once per roll-out.
        step: ``(state, coefficients, dt) → state``; one step of ``dt`` seconds. Differentiable in
            reverse mode.
        tangent_step: the same step, differentiable in forward mode.
        observe: ``state → tuple of channel arrays``.
        energy: ``(state, coefficients) → total mechanical energy [J]``.
    """

    name: str
    state: tuple[str, ...]
    channels: tuple[Channel, ...]
    parameters: Mapping[str, SystemParameter]
    coefficients: Callable[[Mapping[str, Any]], Any]
    step: Callable[[State, Any, float], State]
    tangent_step: Callable[[State, Any, float], State]
    observe: Callable[[State], State]
    energy: Callable[[State, Any], jax.Array]

    def __hash__(self) -> int:
        return hash(self.name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, System) and other.name == self.name
