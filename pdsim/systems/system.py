"""What a physical system is to the rest of pdsim: named quantities, named parameters, a step.

A system is written for one sample: a state, one set of parameters, one input. Batches (particles,
recordings, windows, tangents) are made by ``vmap`` in ``pdsim.systems.rollout``. To add a system:
a file in this folder with ``Options``, a config section of its own, and ``build(options)``, and a
line in ``pdsim.registry``; ``oscillator`` shows the shortest.

A state is a tuple of scalars, one per state variable, unless the system says otherwise in
``unpack`` and ``pack``. Separate scalars, and not one array, keep the transpose of a step free of
pads and scatters. A step that fails, say an iteration that does not converge, returns NaN and never
a finite number: the roll-out then counts as diverged.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import jax
import jax.numpy as jnp

from pdsim.systems.integrators import EVALUATIONS, INTEGRATORS

if TYPE_CHECKING:
    from pdsim.systems.ridge import Ridge

State = Any
POSITIONS = ("angle", "position")


@dataclass(frozen=True)
class Quantity:
    """A state variable, an observed channel or an input.

    Attributes:
        name: as it appears in files and figures.
        unit: SI, as every number of a system.
        kind: "angle" (of a joint, counted on beyond a turn), "position", "velocity" (of either),
            "acceleration", "momentum", "force" or "torque".
    """

    name: str
    unit: str
    kind: str

    @property
    def label(self) -> str:
        """Name and unit, for axes and tables."""
        return f"{self.name} [{self.unit}]"


@dataclass(frozen=True)
class SystemParameter:
    """One number of the model that may be estimated or fixed.

    Attributes:
        unit: SI.
        default: its value where the config gives none.
        meaning: in words.
        label: for figures.
        positive: whether the model has no meaning at negative values.
    """

    unit: str
    default: float
    meaning: str
    label: str
    positive: bool = False


@dataclass(frozen=True)
class System:
    """A system in discrete time. Subclasses are frozen dataclasses whose fields are all they know.

    Two systems are equal, and share compiled programs, if class and fields are.

    Attributes:
        name: that of the module.
        large_steps: whether a step makes many numbers. A reverse pass then computes each once more
            from its state and keeps the states alone, and few particles at a time are linearised.
        lapack: whether its equations call ``jnp.linalg``. Without, a job of several cores may have
            one thread of XLA for each, which is faster (``pdsim.runtime.device``).
    """

    name: ClassVar[str]
    large_steps: ClassVar[bool] = False
    lapack: ClassVar[bool] = True

    @property
    def evaluations(self) -> int:
        """How often a step evaluates the motion."""
        return 1

    @property
    def state(self) -> tuple[Quantity, ...]:
        """State variables, in the order of a state's vector."""
        raise NotImplementedError

    @property
    def channels(self) -> tuple[Quantity, ...]:
        """What is observed, in the order ``observe`` returns it; default: the state."""
        return self.state

    @property
    def inputs(self) -> tuple[Quantity, ...]:
        """What acts from outside, held constant between two frames."""
        return ()

    @property
    def parameters(self) -> Mapping[str, SystemParameter]:
        """Every number of the model, by name."""
        raise NotImplementedError

    def prepare(self, parameters: Mapping[str, Any]) -> Any:
        """Combine parameters (name → scalar) into what every step needs, once for each roll-out."""
        return parameters

    def with_constants(self, values: Mapping[str, float]) -> "System":
        """The same system, told which parameters never move; default: it makes nothing of it."""
        del values
        return self

    def step(self, state: State, input: tuple, time, prepared: Any, dt: float) -> State:
        """Advance a state by ``dt`` seconds.

        Args:
            state: see the head of this file.
            input: one scalar for each of ``inputs``, constant during the step.
            time: since the first frame of the recording [s].
            prepared: what ``prepare`` returned.
            dt: [s].
        """
        raise NotImplementedError

    def observe(self, state: State, prepared: Any) -> tuple[jax.Array, ...]:
        """One scalar for each of ``channels``; default: the state itself."""
        del prepared
        return state

    def unpack(self, vector: jax.Array) -> State:
        """Read a state out of its vector (S,)."""
        return tuple(vector[i] for i in range(len(self.state)))

    def pack(self, state: State) -> jax.Array:
        """Inverse of ``unpack``."""
        return jnp.stack(state)

    def difference(self, a: jax.Array, b: jax.Array) -> jax.Array:
        """The tangent (S,) that leads from b to a, state vectors; 0 where they are equal.

        Plain subtraction, unless states hold rotations. Angles are counted on beyond a turn, so
        they can be subtracted.
        """
        return a - b

    def mass_matrix(self, vector: jax.Array, prepared: Any) -> jax.Array:
        """M (V, V) at a state vector whose last V entries are rates v, so that M v are momenta.

        Of a mechanism; other systems leave it out.
        """
        raise NotImplementedError

    def combinations(self, parameters: Mapping[str, Any]) -> dict[str, tuple[Any, str]]:
        """What the motion can determine, name → (value, unit), where the system knows it.

        Names become variables of a file: letters, digits and underscores. Of plain floats the
        values are NumPy's: experiments are checked before JAX is configured, and a first
        computation would end that (``pdsim.experiment.checks.combinations``).
        """
        del parameters
        return {}

    @property
    def combination_meanings(self) -> Mapping[str, str]:
        """What each of ``combinations`` is, in symbols or words, for the report."""
        return {}

    def single(self) -> "tuple[System, Ridge] | None":
        """The model in its own parameters, and the way there, if this one seeks combinations."""
        return None

    def forward_mode(self) -> "System":
        """The same system, differentiable in forward mode; default: it is already."""
        return self


@dataclass(frozen=True)
class ContinuousSystem(System):
    """A system in continuous time, ẋ = f(x, u, t), stepped by an integrator.

    Attributes:
        integrator: a name from ``pdsim.systems.integrators``.
        looped: whether the stages of a step are a loop, which suits tangents in forward mode.
        second_order: whether the state is positions and then, in the same order, their rates.
    """

    integrator: str = "rk4"
    looped: bool = False
    second_order: ClassVar[bool] = False

    def derivative(self, state: State, input: tuple, time, prepared: Any) -> State:
        """Rates ẋ of a state, shaped as the state."""
        raise NotImplementedError

    def step(self, state: State, input: tuple, time, prepared: Any, dt: float) -> State:
        return INTEGRATORS[self.integrator](self, state, input, time, prepared, dt)

    @property
    def evaluations(self) -> int:
        return EVALUATIONS.get(self.integrator, 1)

    def with_integrator(self, name: str) -> Self:
        """Return the system with another integrator."""
        return replace(self, integrator=name)

    def forward_mode(self) -> Self:
        return replace(self, looped=True)
