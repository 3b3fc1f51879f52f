"""A planar quadrotor flies a circle that a ceiling cuts; mass and inertia are unknown.

The circle has its centre at (0, 1) m. The ceiling is below its top, so it cannot be flown whole:
clipped at 1.4 m it has an RMSE of 0.143 m by itself. A vehicle of half the nominal mass can
accelerate downward by 1.46 m/s² at most while it is level, since its rotors never stop; R ω² must
stay below that, or light vehicles cannot follow.

Where the vehicle sees only ``sight`` far, the ceiling counts when it is that near, and the robust
cost assumes one at that distance above and below.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import jax.numpy as jnp
import numpy as np
from pydantic import Field

from pdsim.control.tasks.task import Learnt, Rectangle, Task
from pdsim.settings.section import Positive, Section
from pdsim.systems.quadrotor import Quadrotor

_MASS, _INERTIA, _ARM, _GRAVITY = 0.027, 1.4e-5, 0.0397, 9.8
_HOVER = _MASS * _GRAVITY / 2
_CENTRE = 1.0
# Deviations of T1 + T2 and T2 − T1 [N]: equal noise on both rotors tumbles the vehicle.
_SUM, _DIFFERENCE = 0.04, 0.006


class Options(Section):
    """Section `task.options` of `quadrotor`."""

    radius: Positive = Field(0.75, description="of the circle [m]")
    lap_time: Positive = Field(6.0, description="of one round [s]")
    ceiling: float = Field(1.4, description="height that must not be passed [m]")
    sight: Positive | None = Field(
        None, description="how far the ceiling is seen [m]; null: from everywhere"
    )
    spread: float = Field(
        0.5, gt=0, lt=1, description="half width of the prior of mass and inertia, relative"
    )


@dataclass(frozen=True)
class QuadrotorTask(Task):
    """See the head of this file; the fields are those of ``Options``."""

    radius: float = 0.75
    lap_time: float = 6.0
    ceiling: float = 1.4
    sight: float | None = None
    spread: float = 0.5

    name: ClassVar[str] = "quadrotor"
    system: ClassVar[Quadrotor] = Quadrotor()
    horizon: ClassVar[int] = 30
    temperature: ClassVar[float] = 1.0
    state_weights: ClassVar[tuple[float, ...]] = (5.0, 5.0, 0.1, 0.5, 0.5, 0.05)
    input_weights: ClassVar[tuple[float, ...]] = (0.1, 0.1)
    lowest_input: ClassVar[tuple[float, ...]] = (0.0563, 0.0563)
    highest_input: ClassVar[tuple[float, ...]] = (0.2967, 0.2967)
    rest_input: ClassVar[tuple[float, ...]] = (_HOVER, _HOVER)
    exploration: ClassVar[tuple[tuple[float, ...], ...]] = (
        (_SUM / 2, -_DIFFERENCE / 2),
        (_SUM / 2, _DIFFERENCE / 2),
    )
    deviations: ClassVar[tuple[float, ...]] = (2e-3, 2e-3, 1e-2, 2e-2, 2e-2, 1e-1)
    scored: ClassVar[tuple[int, ...]] = (0, 1)
    resets: ClassVar[bool] = False
    pictured: ClassVar[tuple[str, str]] = ("x", "z")
    residual_inputs: ClassVar[Mapping[int, tuple[float, float]]] = {2: (-1.0, 1.0)}

    @property
    def learnt(self) -> tuple[Learnt, ...]:
        low, high = 1 - self.spread, 1 + self.spread
        return (
            Learnt("mass", _MASS, low * _MASS, high * _MASS, "$m$"),
            Learnt("inertia", _INERTIA, low * _INERTIA, high * _INERTIA, "$I$"),
        )

    def system_parameters(self, theta):
        mass, inertia = theta
        return {"mass": mass, "inertia": inertia, "arm": _ARM, "gravity": _GRAVITY}

    def start(self, key):
        del key
        return jnp.array([self.radius, _CENTRE, 0.0, 0.0, 0.0, 0.0])

    def reference(self, time):
        rate = 2 * np.pi / self.lap_time
        sine, cosine = jnp.sin(rate * time), jnp.cos(rate * time)
        speed, zero = self.radius * rate, jnp.zeros_like(sine)
        return (
            self.radius * cosine,
            _CENTRE + self.radius * sine,
            zero,
            -speed * sine,
            speed * cosine,
            zero,
        )

    def clearance(self, state, prepared):
        del prepared
        return self.ceiling - state[1]

    def seen_clearance(self, state, prepared, now):
        h = self.clearance(state, prepared)
        if self.sight is None:
            return h
        return jnp.where(self.clearance(now, prepared) < self.sight, h, jnp.inf)

    def assumed_clearance(self, state, prepared, now):
        h = self.seen_clearance(state, prepared, now)
        if self.sight is None:
            return h
        return jnp.minimum(h, self.sight - jnp.abs(state[1] - now[1]))

    @property
    def unsafe(self):
        return (Rectangle(-np.inf, np.inf, self.ceiling, self.ceiling + 0.5),)

    def crashed(self, state):
        x, z, pitch = state[:3]
        inside = (z >= -0.05) & (z <= 2.0) & (jnp.abs(x) <= 2.0)
        return ~(inside & (jnp.abs(pitch) <= np.deg2rad(85.0)))


def build(options: Options) -> QuadrotorTask:
    """Return the task."""
    return QuadrotorTask(**options.model_dump())
