"""A cart is driven to the end of its rail with the pole upright; both masses are unknown.

The rail is safe for x ≥ 0 and the goal is x = 0, so the cart must stop without passing it, and the
tip of the pole must not pass it either: h = min(x, x + 2 l sin a).

The public benchmark's model has φ = π − a for the angle (upright is 0), a uniform pole of half
length l, hence I = m l²/3 about its centre, no friction, and g = 9.8 m/s². In the coordinates of
``pdsim.systems.cart_pole`` the equations are the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from pydantic import Field, model_validator

from pdsim.control.tasks.task import Learnt, Rectangle, Task
from pdsim.settings.section import Positive, Section
from pdsim.systems.cart_pole import CartPole

_CART, _POLE, _LENGTH, _GRAVITY = 1.0, 0.1, 0.5, 9.8


class Options(Section):
    """Section `task.options` of `cart_pole`."""

    lap_time: Positive = Field(5.0, description="of one run [s]")
    nearest_start: Positive = Field(1.0, description="of the cart [m]")
    farthest_start: Positive = Field(1.5, description="of the cart [m]")
    tilt: float = Field(0.1, ge=0, description="of the pole at the start, at most [rad]")
    spread: float = Field(0.1, gt=0, lt=1, description="half width of both priors, relative")

    @model_validator(mode="after")
    def _check(self) -> "Options":
        if self.nearest_start > self.farthest_start:
            raise ValueError(
                f"nearest_start: must not be above farthest_start ({self.farthest_start:g})"
            )
        return self


@dataclass(frozen=True)
class CartPoleTask(Task):
    """See the head of this file; the fields are those of ``Options``."""

    lap_time: float = 5.0
    nearest_start: float = 1.0
    farthest_start: float = 1.5
    tilt: float = 0.1
    spread: float = 0.1

    name: ClassVar[str] = "cart_pole"
    system: ClassVar[CartPole] = CartPole()
    horizon: ClassVar[int] = 40
    temperature: ClassVar[float] = 1.0
    state_weights: ClassVar[tuple[float, ...]] = (5.0, 5.0, 0.1, 0.1)
    input_weights: ClassVar[tuple[float, ...]] = (0.001,)
    lowest_input: ClassVar[tuple[float, ...]] = (-10.0,)
    highest_input: ClassVar[tuple[float, ...]] = (10.0,)
    rest_input: ClassVar[tuple[float, ...]] = (0.0,)
    exploration: ClassVar[tuple[tuple[float, ...], ...]] = ((3.0,),)
    deviations: ClassVar[tuple[float, ...]] = (1e-3, 1e-3, 5e-3, 5e-3)
    scored: ClassVar[tuple[int, ...]] = (0, 1)
    resets: ClassVar[bool] = True
    pictured: ClassVar[tuple[str, str]] = ("time", "x")
    residual_inputs: ClassVar[Mapping[int, tuple[float, float]]] = {
        1: (np.pi - 0.5, np.pi + 0.5),
        3: (-3.0, 3.0),
    }

    @property
    def learnt(self) -> tuple[Learnt, ...]:
        low, high = 1 - self.spread, 1 + self.spread
        return (
            Learnt("mass_cart", _CART, low * _CART, high * _CART, "$m_c$"),
            Learnt("mass_pole", _POLE, low * _POLE, high * _POLE, "$m_p$"),
        )

    def system_parameters(self, theta):
        cart, pole = theta
        return {
            "mass_cart": cart,
            "mass_pole": pole,
            "length": _LENGTH,
            "inertia": pole * (_LENGTH * _LENGTH / 3),
            "friction_cart": 0.0,
            "friction_pole": 0.0,
            "gravity": _GRAVITY,
        }

    def start(self, key):
        place, tilt = jax.random.split(key)
        x = jax.random.uniform(place, (), minval=self.nearest_start, maxval=self.farthest_start)
        angle = jax.random.uniform(tilt, (), minval=-self.tilt, maxval=self.tilt)
        return jnp.stack([x, np.pi + angle, jnp.zeros_like(x), jnp.zeros_like(x)])

    def reference(self, time):
        zero = jnp.zeros_like(time)
        return (zero, zero + np.pi, zero, zero)

    def clearance(self, state, prepared):
        del prepared
        x, angle = state[:2]
        return jnp.minimum(x, x + 2 * _LENGTH * jnp.sin(angle))

    @property
    def unsafe(self):
        return (Rectangle(-np.inf, np.inf, -0.3, 0.0),)

    def crashed(self, state):
        return ~(jnp.abs(state[1] - np.pi) <= np.pi / 2)


def build(options: Options) -> CartPoleTask:
    """Return the task."""
    return CartPoleTask(**options.model_dump())
