"""What a task is to the planner: a system, what is sought of it, a reference and a safe set.

A task is written for one sample, as systems are: a state is a tuple of scalars. To add one: a file
in this folder with ``Options`` and ``build(options)``, and a line in ``pdsim.registry``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pdsim.runtime.errors import PdsimError
from pdsim.systems.system import ContinuousSystem, State

# Of the simulated plant [s].
PLANT_STEP = 1e-3


class Rectangle(NamedTuple):
    """A part of a picture; left and right infinite where it goes all along."""

    left: float
    right: float
    low: float
    high: float


class Learnt(NamedTuple):
    """A parameter of the system that the controller does not know.

    Attributes:
        name: as the system calls it.
        nominal: what a controller that does not learn believes.
        lower, upper: limits of the uniform prior, in the system's unit.
        label: for figures.
        certain: whether nothing beyond these limits is possible, however the model errs.
    """

    name: str
    nominal: float
    lower: float
    upper: float
    label: str
    certain: bool = False


@dataclass(frozen=True)
class Task:
    """Subclasses are frozen dataclasses; two tasks are equal if class and fields are.

    Attributes:
        name: that of the module.
        system: stepped by the controller with its own integrator, RK4.
        control_time: between two inputs [s].
        horizon: K, control steps that the planner looks ahead.
        temperature: β of the nominal weights (2); divides the cost.
        robust_temperature: β_R of the robust weights, of costs in the unit of ``clearance``.
        state_weights, input_weights: diagonals of Q and R_u.
        lowest_input, highest_input: limits.
        rest_input: u_0, which costs nothing and begins every plan.
        exploration: (nu, nu) root of Σ_u, rows: Σ_u = E Eᵀ.
        deviations: of the observation model (6), one for each state variable: at least five times
            the error of the model's one step, so that the integrator does not bias the belief.
        scored: state variables that count for the RMSE.
        resets: whether each lap begins at the start again; the belief stays.
        pictured: what a path is drawn over: two state variables, or "time" and one.
        lap_time: of a lap [s]; a field, with its default, of every task.
        residual_inputs: state variable → limits, which with the inputs decide what a nominal model
            lacks; empty where a Gaussian process is not to learn it.
        vehicle: θ of the plant in every simulation; None where each draws its own from the prior.
    """

    name: ClassVar[str]
    system: ClassVar[ContinuousSystem]
    control_time: ClassVar[float] = 0.02
    horizon: ClassVar[int]
    temperature: ClassVar[float]
    robust_temperature: ClassVar[float] = 0.01
    state_weights: ClassVar[tuple[float, ...]]
    input_weights: ClassVar[tuple[float, ...]]
    lowest_input: ClassVar[tuple[float, ...]]
    highest_input: ClassVar[tuple[float, ...]]
    rest_input: ClassVar[tuple[float, ...]]
    exploration: ClassVar[tuple[tuple[float, ...], ...]]
    deviations: ClassVar[tuple[float, ...]]
    scored: ClassVar[tuple[int, ...]]
    resets: ClassVar[bool]
    pictured: ClassVar[tuple[str, str]]
    residual_inputs: ClassVar[Mapping[int, tuple[float, float]]] = {}
    lap_time: float
    vehicle: tuple[float, ...] | None = None

    @property
    def learnt(self) -> tuple[Learnt, ...]:
        """The parameters θ, in the order of θ."""
        raise NotImplementedError

    def system_parameters(self, theta: tuple) -> Mapping[str, jax.Array]:
        """All the system's parameters by name, of the learnt ones (one scalar each)."""
        raise NotImplementedError

    def start(self, key: jax.Array) -> jax.Array:
        """State vector (S,) at the start of a lap."""
        raise NotImplementedError

    def reference(self, time) -> State:
        """Where the state should be at a time since the start of the lap [s]."""
        raise NotImplementedError

    def clearance(self, state: State, prepared: Any) -> jax.Array:
        """h, positive where the state is safe; the truth, whatever is seen of it.

        Args:
            prepared: the system's, for a shape that depends on a parameter.
        """
        raise NotImplementedError

    def seen_clearance(self, state: State, prepared: Any, now: State) -> jax.Array:
        """h as the controller knows it in state ``now``; default: all of it."""
        del now
        return self.clearance(state, prepared)

    def assumed_clearance(self, state: State, prepared: Any, now: State) -> jax.Array:
        """h of the robust cost (10), which may assume more; default: what is seen."""
        return self.seen_clearance(state, prepared, now)

    def crashed(self, state: State) -> jax.Array:
        """Whether a state is one that no controller comes back from."""
        raise NotImplementedError

    # What the plant has beyond the model; default: nothing.

    def remembered(self, state: jax.Array) -> jax.Array:
        """Memory of the plant at the start of a lap, (R,), of its state (S,)."""
        return jnp.zeros(0, state.dtype)

    def plant_parameters(self, theta: tuple) -> Mapping[str, jax.Array]:
        """All the parameters of the plant's system, of the learnt ones."""
        return self.system_parameters(theta)

    def felt(self, state: State, memory: jax.Array, input: tuple, dt: float):
        """Input that the plant's system feels for a step of dt [s], and the memory after it."""
        del state, dt
        return input, memory

    # For pictures.

    @property
    def unsafe(self) -> tuple[Rectangle, ...]:
        """What must not be entered, over ``pictured``."""
        raise NotImplementedError

    def companions(self, states: np.ndarray, theta: np.ndarray) -> dict[str, np.ndarray]:
        """What moves beside the vehicle, name → states (step, S) as if it were the vehicle.

        Args:
            states: (step, S).
            theta: (d,) true θ.
        """
        del states, theta
        return {}

    # What follows is the same for all tasks.

    @property
    def lap_steps(self) -> int:
        """Control steps of a lap."""
        return round(self.lap_time / self.control_time)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the learnt parameters."""
        return tuple(one.name for one in self.learnt)

    @property
    def nominal(self) -> np.ndarray:
        """(d,) nominal θ."""
        return np.array([one.nominal for one in self.learnt])

    @property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """(d,) lower and (d,) upper limits of the prior."""
        return (
            np.array([one.lower for one in self.learnt]),
            np.array([one.upper for one in self.learnt]),
        )

    @property
    def possible(self) -> tuple[np.ndarray, np.ndarray]:
        """(d,) lower and (d,) upper limits of y = log(θ/θ_nominal) that no belief leaves.

        Those of the prior where they are certain. Elsewhere a belief may have to leave its prior,
        and a tenth and four times the nominal value are a guard.
        """
        certain = np.array([one.certain for one in self.learnt])
        lower, upper = (np.log(bound / self.nominal) for bound in self.bounds)
        return (
            np.where(certain, lower, float(np.log(0.1))),
            np.where(certain, upper, float(np.log(4.0))),
        )

    @property
    def scored_unit(self) -> str:
        """Unit of the RMSE; - where the scored variables have several."""
        units = {self.system.state[i].unit for i in self.scored}
        return units.pop() if len(units) == 1 else "-"

    @property
    def substeps(self) -> int:
        """Steps of the plant during a control step."""
        return round(self.control_time / PLANT_STEP)

    def prepare(self, logarithm: jax.Array):
        """Prepare the model's system.

        Args:
            logarithm: y = log(θ/θ_nominal), (d,).
        """
        return self.system.prepare(self.system_parameters(self._physical(logarithm)))

    def prepare_plant(self, logarithm: jax.Array):
        """Prepare the plant's system, of y (d,)."""
        return self.system.prepare(self.plant_parameters(self._physical(logarithm)))

    def _physical(self, logarithm: jax.Array) -> tuple:
        return tuple(jnp.exp(logarithm) * jnp.asarray(self.nominal, logarithm.dtype))

    def draw_truth(self, key: jax.Array) -> jax.Array:
        """y = log(θ/θ_nominal) of a plant, (d,): that of ``vehicle``, or drawn from the prior."""
        if self.vehicle is None:
            return self.draw_prior(key)
        return jnp.log(jnp.asarray(np.asarray(self.vehicle) / self.nominal))

    def draw_prior(self, key: jax.Array) -> jax.Array:
        """Draw y, (d,), with θ uniform over the prior."""
        lower, upper = (np.asarray(bound) for bound in self.bounds)
        share = jax.random.uniform(key, (len(lower),))
        return jnp.log((lower + share * (upper - lower)) / self.nominal).astype(share.dtype)


# Key of a controller that starts from a posterior.
WHERE = "prior_from"


def check_names(names, task: Task) -> None:
    """Refuse a posterior in which a learnt parameter is missing.

    Args:
        names: of the posterior's parameters.
    """
    missing = [name for name in task.names if name not in names]
    if missing:
        raise PdsimError(
            f"{WHERE}: {task.name} learns {', '.join(task.names)}, and the posterior has no "
            f"{missing[0]}, but {', '.join(names)}; estimate it there under this name"
        )
