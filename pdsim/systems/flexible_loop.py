"""A robot arm bends, stretches and twists a flexible loop that is clamped to a table.

The model stands in ``loop_mechanics``, its steps in ``pdsim.variational``: a constrained
variational integrator, whose closed chains stay closed to rounding. Sought are the stiffnesses
κ_θ and κ_ψ of the springs in the loop's joints; the path of the hand is observed.

State: configuration q and discrete momentum p, 7 + 2n each. Inputs, constant during a frame: the
torques that were measured in the arm's joints, and the angles and rates that were measured there,
near which a controller keeps the arm (``loop_mechanics``). A torque sensor may be off by a
constant, a parameter of each joint: what acts is the measured torque less that.

Stability. Steps treat the direction of the constraints' forces explicitly, so light links need
short steps: 12 links without damping diverge at dt = 0.01 s within a second, which
``pdsim.variational.stability`` predicts. The default is ``damping`` 0.05 N m s/rad in the joints of
the loop, at one step for each frame of 0.01 s; with ``substeps: 4`` 12 links need none. A step that
does not converge is NaN, and its roll-out counts as diverged.

Newton's method needs float64: in float32 no step converges to the tolerance that keeps the loop
closed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from pydantic import Field, model_validator

from pdsim.settings.section import Section
from pdsim.systems.baxter_arm import LINKS
from pdsim.systems.loop_mechanics import ARM, Drive, LoopMechanics
from pdsim.systems.system import Quantity, System, SystemParameter
from pdsim.variational.constraint import project
from pdsim.variational.implicit import Given, step
from pdsim.variational.midpoint import Guess, at_rest

Gain = tuple[float, float, float, float, float, float, float]


class Options(Section):
    """Section `simulator.options` of `flexible_loop`."""

    links: int = Field(12, ge=4, le=1000, description="stiff links of the loop, an even number")
    position_gain: Gain = Field(
        (400.0, 400.0, 300.0, 300.0, 100.0, 100.0, 60.0),
        description="K_p of the controller, joint by joint [N m/rad]; the stronger, the less the "
        "hand tells of the loop",
    )
    velocity_gain: Gain = Field(
        (40.0, 40.0, 20.0, 20.0, 5.0, 4.0, 1.5), description="K_v [N m s/rad]"
    )
    mass_factors: tuple[float, ...] = Field(
        (), description="mass of each link over an equal share; default: equal shares"
    )

    @model_validator(mode="after")
    def _check(self) -> "Options":
        if self.links % 2:
            raise ValueError(f"links: an even number is needed, half on each side ({self.links})")
        if self.mass_factors and len(self.mass_factors) != self.links:
            raise ValueError(
                f"mass_factors: one for each of {self.links} links is needed "
                f"(got {len(self.mass_factors)})"
            )
        return self


_PARAMETERS = {
    "kappa_theta": SystemParameter(
        "N m/rad", 5.0, "stiffness of the joints' first hinges", r"$\kappa_\theta$", positive=True
    ),
    "kappa_psi": SystemParameter(
        "N m/rad", 5.0, "stiffness of the joints' second hinges", r"$\kappa_\psi$", positive=True
    ),
    "mass": SystemParameter("kg", 0.132, "mass of the loop", "$m$", positive=True),
    "damping": SystemParameter(
        "N m s/rad", 0.05, "viscous damping of each hinge of the loop", "$c$", positive=True
    ),
    "gravity": SystemParameter("m/s^2", 9.81, "gravitational acceleration", "$g$"),
}
_BIASES = {
    f"bias_{link.name}": SystemParameter(
        "N m",
        0.0,
        f"constant error of the torque measured in joint {link.name}",
        rf"$\tau_\mathrm{{{link.name}}}$",
    )
    for link in LINKS
}


class State(NamedTuple):
    """Of the loop: configuration and momentum, and where Newton's method starts from."""

    q: jax.Array
    p: jax.Array
    guess: Guess


class Prepared(NamedTuple):
    """Of the parameters: those of the mechanics, and the biases of the torques (7,) [N m]."""

    rho: dict[str, jax.Array]
    bias: jax.Array


@dataclass(frozen=True)
class FlexibleLoop(System):
    """The loop in the hand of the arm.

    Attributes:
        mechanics: the model.
        forward: whether steps are differentiable in forward mode, and not in reverse mode.
    """

    name: ClassVar[str] = "flexible_loop"
    mechanics: LoopMechanics = None  # type: ignore[assignment]
    forward: bool = False

    @cached_property
    def _state(self) -> tuple[Quantity, ...]:
        half = self.mechanics.links // 2
        joints = [f"{side}{i + 1}" for side in ("left", "right") for i in range(half)]
        loop = [f"{angle}_{joint}" for joint in joints for angle in ("theta", "psi")]
        names = [*(link.name for link in LINKS), *loop]
        return (
            *(Quantity(name, "rad", "angle") for name in names),
            *(Quantity(f"p_{name}", "N m s", "momentum") for name in names),
        )

    @property
    def state(self) -> tuple[Quantity, ...]:
        return self._state

    @property
    def channels(self) -> tuple[Quantity, ...]:
        return tuple(Quantity(f"hand_{axis}", "m", "position") for axis in "xyz")

    @property
    def inputs(self) -> tuple[Quantity, ...]:
        groups = (("torque", "N m"), ("angle", "rad"), ("velocity", "rad/s"))
        return tuple(
            Quantity(f"{kind}_{link.name}", unit, kind) for kind, unit in groups for link in LINKS
        )

    @property
    def parameters(self) -> Mapping[str, SystemParameter]:
        return _PARAMETERS | _BIASES

    def prepare(self, parameters: Mapping[str, Any]) -> Prepared:
        rho = {name: jnp.asarray(parameters[name]) for name in _PARAMETERS}
        return Prepared(rho, jnp.stack([jnp.asarray(parameters[name]) for name in _BIASES]))

    def drive(self, input, prepared: Prepared) -> Drive:
        """What acts during a frame whose inputs (21,) were recorded."""
        torque, angle, rate = (jnp.stack(input[i : i + ARM]) for i in range(0, 3 * ARM, ARM))
        return Drive(torque - prepared.bias, angle, rate)

    def unpack(self, vector):
        q, p = jnp.split(vector, 2)
        return State(q, p, at_rest(self.mechanics, q, {}))

    def pack(self, state):
        return jnp.concatenate([state.q, state.p])

    def step(self, state, input, time, prepared, dt):
        del time
        end, guess, report = step(
            self.mechanics,
            Given(state.q, state.p, self.drive(input, prepared), prepared.rho),
            state.guess,
            dt,
            forward=self.forward,
        )
        del report
        return State(end.q, end.p, guess)

    def observe(self, state, prepared):
        del prepared
        return tuple(self.mechanics.hand(state.q))

    def start(self) -> np.ndarray:
        """The state vector of the undeformed loop at rest, the arm in its posture."""
        return np.concatenate([self.mechanics.start, np.zeros_like(self.mechanics.start)])

    def nearest(self, vector: jax.Array, prepared: Prepared) -> jax.Array:
        """The nearest state whose loop is closed and stays so; NaN where there is none near."""
        q, p = jnp.split(vector, 2)
        return jnp.concatenate(project(self.mechanics, q, p, prepared.rho))

    def forward_mode(self) -> "FlexibleLoop":
        return replace(self, forward=True)


def build(options: Options) -> FlexibleLoop:
    """Return the system."""
    return FlexibleLoop(
        LoopMechanics(
            options.links, options.position_gain, options.velocity_gain, options.mass_factors
        )
    )
