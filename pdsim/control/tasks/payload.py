"""A quadrotor carries a load on a cable of unknown length round a square with three obstacles.

The square has sides of 1.5 m at a height of 1 m; a lap begins at (−0.75, −0.75) m. Across its
first side lies a beam, on the second stands a wall that the load clears only on a cable shorter
than 0.62 m unless the vehicle climbs, on the third are two pillars to fly between. Vehicle and load
are spheres; h is the smallest distance between any of them and a box or the floor.

The plant has what the model does not: its rotors answer with a delay of first order, air drags, and
where the damping of the swing is not sought the model has none. The document flew a real vehicle;
its square and obstacles are not given and were chosen here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import jax.numpy as jnp
import numpy as np
from pydantic import Field

from pdsim.control.tasks.task import Learnt, Rectangle, Task
from pdsim.settings.section import Positive, Section
from pdsim.systems.quadrotor_payload import QuadrotorPayload, hang

_MASS, _LOAD, _GRAVITY = 0.0411, 0.023, 9.81
_SIDE, _HEIGHT = 1.5, 1.0
# Radii of vehicle and load [m].
_VEHICLE_RADIUS, _LOAD_RADIUS = 0.08, 0.03
# Of the plant: lag of the rotors [s], drag of the air over the speed squared [1/m].
_LAG, _DRAG = 0.1, 0.05


class Box(NamedTuple):
    """An obstacle, its sides along the axes: what it is called, centre and half sides [m]."""

    name: str
    centre: tuple[float, float, float]
    half: tuple[float, float, float]


OBSTACLES = (
    Box("beam", (0.0, -0.75, 1.575), (0.05, 0.5, 0.425)),
    Box("wall", (0.75, 0.0, 0.175), (0.5, 0.05, 0.175)),
    Box("pillar", (0.0, 1.05, 1.0), (0.05, 0.05, 1.0)),
    Box("pillar", (0.0, 0.45, 1.0), (0.05, 0.05, 1.0)),
)


class Options(Section):
    """Section `task.options` of `payload`."""

    lap_time: Positive = Field(12.0, description="of one round [s]")
    damping: bool = Field(
        True, description="seek the damping of the swing beside the cable's length"
    )
    plant_damping: float = Field(
        0.015, ge=0, description="of the plant where it is not sought [N m s]"
    )


@dataclass(frozen=True)
class PayloadTask(Task):
    """See the head of this file; the fields are those of ``Options``."""

    lap_time: float = 12.0
    damping: bool = True
    plant_damping: float = 0.015

    name: ClassVar[str] = "payload"
    system: ClassVar[QuadrotorPayload] = QuadrotorPayload()
    control_time: ClassVar[float] = 1 / 30
    horizon: ClassVar[int] = 30
    temperature: ClassVar[float] = 1.0
    state_weights: ClassVar[tuple[float, ...]] = (*[5.0] * 3, *[0.1] * 2, *[0.5] * 3, *[0.05] * 2)
    input_weights: ClassVar[tuple[float, ...]] = (0.05,) * 3
    lowest_input: ClassVar[tuple[float, ...]] = (-4.0,) * 3
    highest_input: ClassVar[tuple[float, ...]] = (4.0,) * 3
    rest_input: ClassVar[tuple[float, ...]] = (0.0,) * 3
    exploration: ClassVar[tuple[tuple[float, ...], ...]] = tuple(
        tuple(map(float, row)) for row in 0.5 * np.eye(3)
    )
    deviations: ClassVar[tuple[float, ...]] = (*[5e-3] * 3, *[2e-2] * 2, *[5e-2] * 3, *[0.2] * 2)
    scored: ClassVar[tuple[int, ...]] = (0, 1, 2)
    resets: ClassVar[bool] = False
    pictured: ClassVar[tuple[str, str]] = ("time", "z")

    @property
    def learnt(self) -> tuple[Learnt, ...]:
        # A cable can be measured that well with the eye.
        length = Learnt("length", 0.6, 0.3, 0.9, "$L$", certain=True)
        if not self.damping:
            return (length,)
        return (
            length,
            *(Learnt(f"damping_{i}", 0.05, 0.005, 0.1, rf"$\beta_{i}$") for i in (1, 2)),
        )

    def system_parameters(self, theta):
        length, *damping = theta
        return self._parameters(length, *(damping or (0.0, 0.0)))

    def plant_parameters(self, theta):
        length, *damping = theta
        return self._parameters(length, *(damping or (self.plant_damping,) * 2))

    def _parameters(self, length, damping_1, damping_2):
        return {
            "mass": _MASS,
            "mass_load": _LOAD,
            "length": length,
            "damping_1": damping_1,
            "damping_2": damping_2,
            "gravity": _GRAVITY,
        }

    def start(self, key):
        del key
        return jnp.array([-_SIDE / 2, -_SIDE / 2, _HEIGHT, *[0.0] * 7])

    def reference(self, time):
        done = 4 * time / self.lap_time % 4
        speed = 4 * _SIDE / self.lap_time
        side, along = jnp.floor(done), (done % 1 - 0.5) * _SIDE
        half, zero = _SIDE / 2 + 0 * along, jnp.zeros_like(along)
        sides = [side == i for i in range(4)]
        x = jnp.select(sides, [along, half, -along, -half])
        y = jnp.select(sides, [-half, along, half, -along])
        dx = jnp.select(sides, [zero + speed, zero, zero - speed, zero])
        dy = jnp.select(sides, [zero, zero + speed, zero, zero - speed])
        return x, y, zero + _HEIGHT, zero, zero, dx, dy, zero, zero, zero

    def remembered(self, state):
        return jnp.zeros(3, state.dtype)

    def felt(self, state, memory, input, dt):
        share = 1 - float(np.exp(-dt / _LAG))
        memory = memory + share * (jnp.stack(input) - memory)
        speeds = state[5:8]
        total = jnp.sqrt(sum(v * v for v in speeds))
        return tuple(m - _DRAG * total * v for m, v in zip(memory, speeds, strict=True)), memory

    def clearance(self, state, prepared):
        return jnp.stack([*_distances(state, prepared)]).min(axis=0)

    @property
    def unsafe(self):
        """Beam, wall and floor, where the reference passes them; the pillars stand beside it."""
        speed = 4 * _SIDE / self.lap_time
        found = [Rectangle(-np.inf, np.inf, -0.2, 0.0)]
        for box, middle, axis in zip(OBSTACLES[:2], (0.5, 1.5), (0, 1), strict=True):
            time, wide = middle * self.lap_time / 4, box.half[axis] / speed
            low, high = (box.centre[2] + sign * box.half[2] for sign in (-1, 1))
            found.append(Rectangle(time - wide, time + wide, low, high))
        return tuple(found)

    def companions(self, states, theta):
        load = states.copy()
        load[:, :3] = np.stack(hang(tuple(states.T), theta[0]), axis=1)
        return {"load": load}

    def crashed(self, state):
        x, y, z, a, b = state[:5]
        inside = (z >= 0) & (z <= 2.5) & (jnp.abs(x) <= 2.5) & (jnp.abs(y) <= 2.5)
        return ~(inside & (jnp.maximum(jnp.abs(a), jnp.abs(b)) <= np.deg2rad(80.0)))


def _distances(state, prepared) -> Iterator[Any]:
    load = hang(state, prepared.length)
    for place, radius in ((state[:3], _VEHICLE_RADIUS), (load, _LOAD_RADIUS)):
        yield place[2] - radius
        for box in OBSTACLES:
            out = [jnp.abs(p - c) - h for p, c, h in zip(place, box.centre, box.half, strict=True)]
            beside = jnp.sqrt(sum(jnp.maximum(d, 0.0) ** 2 for d in out))
            within = jnp.minimum(jnp.maximum(jnp.maximum(out[0], out[1]), out[2]), 0.0)
            yield beside + within - radius


def build(options: Options) -> PayloadTask:
    """Return the task."""
    return PayloadTask(**options.model_dump())
