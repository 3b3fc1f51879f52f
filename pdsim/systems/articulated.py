"""Any robot from its model file: a tree of bodies joined by hinges, slides, balls and free joints.

The file (MJCF or URDF) gives the structure and the numbers; the experiment says what acts, what is
observed and which numbers are sought, by name (``pdsim model <file>`` prints them). Dynamics:
``pdsim.rigid_body``. Contacts are not simulated.

Actuation. ``torque``: one input for each actuated joint, the torque or force in it, to which
``torque/<joint>/offset`` is added: what a sensor of torques shows too little. ``pd``: one input for
each, the target q_t of a controller,

    τ = kp (q_t − q) − kd v

with gains ``pd/<joint>/kp`` and ``pd/<joint>/kd``. ``motors``: one input for each actuator of the
file. ``none``: nothing acts.

``sensor/delay`` is the time by which observations lag behind, to first order: what is seen of a
position q is q − delay · v.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np

from pdsim.rigid_body.dynamics import forward_dynamics, mass_matrix
from pdsim.rigid_body.forces import passive, scalar_positions, springs
from pdsim.rigid_body.inertia import COORDINATES, check_has_mass, consistent, known_body
from pdsim.rigid_body.kinematics import place, point
from pdsim.rigid_body.links import Links, links_of
from pdsim.rigid_body.load import load_model
from pdsim.rigid_body.model import AXES, Joint, Model
from pdsim.rigid_body.motion import advanced, all_scalar, normalised, rates
from pdsim.rigid_body.names import described
from pdsim.rigid_body.vectors import is_zero
from pdsim.runtime.errors import PdsimError
from pdsim.settings.messages import close_name
from pdsim.systems.articulated_options import Options, located
from pdsim.systems.system import ContinuousSystem, Quantity, SystemParameter

__all__ = ["Articulated", "Options", "build", "located"]


@dataclass(frozen=True)
class Articulated(ContinuousSystem):
    """A robot.

    Attributes:
        model: its tree and numbers.
        actuation: see the head of this file.
        actuated: numbers of the joints that torques or controllers act on.
        points: name, body and place (or site) of each point observed.
        shown_positions, shown_velocities: places in the state's vector.
        coordinates: (body, kind) of those given by other coordinates (``rigid_body.inertia``).
        constants: (name, value) of the numbers that nothing moves; they are part of the program.
    """

    name: ClassVar[str] = "articulated"
    lapack: ClassVar[bool] = False
    large_steps: ClassVar[bool] = True
    model: Model = None  # type: ignore[assignment]
    actuation: str = "none"
    actuated: tuple[int, ...] = ()
    points: tuple[tuple[str, int, tuple[float, float, float] | str], ...] = ()
    shown_positions: tuple[int, ...] = ()
    shown_velocities: tuple[int, ...] = ()
    coordinates: tuple[tuple[str, str], ...] = ()
    constants: tuple[tuple[str, float], ...] = ()

    @property
    def second_order(self) -> bool:  # type: ignore[override]
        """Whether there are no quaternions."""
        return all_scalar(self.model)

    @cached_property
    def _state(self) -> tuple[Quantity, ...]:
        positions, velocities = [], []
        for joint in self.model.joints:
            if joint.scalar:
                slides = joint.kind == "slide"
                kind, unit = ("position", "m") if slides else ("angle", "rad")
                positions.append(Quantity(joint.name, unit, kind))
                velocities.append(Quantity(f"d{joint.name}", f"{unit}/s", "velocity"))
                continue
            if joint.kind == "free":
                positions += [Quantity(f"{joint.name}_{a}", "m", "position") for a in AXES]
                velocities += [Quantity(f"d{joint.name}_{a}", "m/s", "velocity") for a in AXES]
            positions += [Quantity(f"{joint.name}_q{a}", "-", "position") for a in "wxyz"]
            velocities += [Quantity(f"w{joint.name}_{a}", "rad/s", "velocity") for a in AXES]
        return (*positions, *velocities)

    @property
    def state(self) -> tuple[Quantity, ...]:
        return self._state

    @cached_property
    def _channels(self) -> tuple[Quantity, ...]:
        shown = [self.state[i] for i in (*self.shown_positions, *self.shown_velocities)]
        places = [
            Quantity(f"{name}_{axis}", "m", "position")
            for name, _, _ in self.points
            for axis in AXES
        ]
        return (*shown, *places)

    @property
    def channels(self) -> tuple[Quantity, ...]:
        return self._channels

    @property
    def inputs(self) -> tuple[Quantity, ...]:
        if self.actuation == "none":
            return ()
        if self.actuation == "motors":
            return tuple(
                self._input(a.name, self.model.joints[a.joint], a.kind == "position")
                for a in self.model.actuators
            )
        target = self.actuation == "pd"
        prefix = "target" if target else "torque"
        joints = [self.model.joints[i] for i in self.actuated]
        return tuple(self._input(f"{prefix}_{j.name}", j, target) for j in joints)

    @staticmethod
    def _input(name: str, joint: Joint, target: bool) -> Quantity:
        slides = joint.kind == "slide"
        if target:
            return Quantity(name, "m" if slides else "rad", "position" if slides else "angle")
        return Quantity(name, "N" if slides else "N m", "force" if slides else "torque")

    @cached_property
    def parameters(self) -> Mapping[str, SystemParameter]:
        numbers = dict(self.model.numbers)
        for body, kind in self.coordinates:
            own = COORDINATES[kind][0](numbers, body)
            for name in [n for n in numbers if n.startswith(f"body/{body}/")]:
                if name.split("/")[2] in ("mass", "com", "inertia"):
                    del numbers[name]
            numbers |= own
        if self.actuation == "pd":
            for i in self.actuated:
                joint = self.model.joints[i].name
                numbers |= {f"pd/{joint}/kp": 100.0, f"pd/{joint}/kd": 10.0}
        if self.actuation == "torque":
            numbers |= {f"torque/{self.model.joints[i].name}/offset": 0.0 for i in self.actuated}
        numbers["sensor/delay"] = 0.0
        found = {}
        for name, value in numbers.items():
            unit, meaning, positive = described(self.model, name)
            found[name] = SystemParameter(unit, value, meaning, name, positive)
        return found

    def with_constants(self, values: Mapping[str, float]) -> "Articulated":
        for body, kind in self.coordinates:
            if kind == "linear":
                check_has_mass(values.get(f"body/{body}/mass"), body)
        return replace(self, constants=tuple((k, float(v)) for k, v in values.items()))

    def bodies(self, numbers: Mapping[str, Any]) -> dict[str, Any]:
        """Mass, centre and inertia, by name, of the bodies given by other coordinates."""
        found: dict[str, Any] = {}
        for body, kind in self.coordinates:
            found |= COORDINATES[kind][1](numbers, body)
        return found

    def prepare(self, parameters: Mapping[str, Any]) -> Links:
        """Arrays over links; gravity is NaN where a body is none that can be."""
        numbers = {**parameters, **dict(self.constants)}
        numbers |= self.bodies(numbers)
        links = dict(links_of(self.model, numbers))
        for name, value in numbers.items():
            if name.startswith(("pd/", "torque/", "actuator/", "site/", "sensor/")):
                links[name] = value
        moved = [b.name for b in self.model.bodies[1:] if not known_body(numbers, b.name)]
        for body in moved:
            if (body, "consistent") not in self.coordinates:
                good = consistent(numbers, body)
                # As all failures are: a roll-out that is not finite counts as diverged.
                links["option/gravity/z"] = jnp.where(good, links["option/gravity/z"], jnp.nan)
        return Links(links)

    def unpack(self, vector):
        return vector[: self.model.position_count], vector[self.model.position_count :]

    def pack(self, state):
        return jnp.concatenate(state)

    def _torques(self, links: Links, q, v, input: tuple):
        if self.actuation == "none":
            return jnp.zeros_like(v)
        found = [jnp.zeros((), v.dtype)] * self.model.velocity_count
        for at, force in self._drives(links, scalar_positions(self.model, q), v, input):
            found[at] = found[at] + force
        return jnp.stack(found)

    def _drives(self, links, q, v, input):
        if self.actuation == "motors":
            for actuator, value in zip(self.model.actuators, input, strict=True):
                at = self.model.joints[actuator.joint].first_velocity
                prefix = f"actuator/{actuator.name}"
                if actuator.kind == "torque":
                    yield at, links[f"{prefix}/gear"] * value
                else:
                    kp, kv = links[f"{prefix}/kp"], links[f"{prefix}/kv"]
                    yield at, kp * (value - q[at]) - kv * v[at]
            return
        for i, value in zip(self.actuated, input, strict=True):
            joint = self.model.joints[i]
            at = joint.first_velocity
            if self.actuation == "torque":
                yield at, value + links[f"torque/{joint.name}/offset"]
            else:
                kp, kd = links[f"pd/{joint.name}/kp"], links[f"pd/{joint.name}/kd"]
                yield at, kp * (value - q[at]) - kd * v[at]

    def _accelerations(self, links: Links, q, v, input, dt=None):
        """Accelerations (V,); with dt those of a step this long with the friction of its end."""
        own = links.cast(q.dtype)
        force = self._torques(own, q, v, input)
        if dt is None:
            force = force + passive(self.model, own, q, v)
        else:
            force = force + springs(self.model, own, q)
        # Not cast: what is known stays known.
        return forward_dynamics(self.model, links, q, v, force, dt)

    def derivative(self, state, input, time, prepared):
        del time
        q, v = state
        q = normalised(self.model, q)
        return rates(self.model, q, v), self._accelerations(prepared, q, v, input)

    def mass_matrix(self, vector, prepared):
        q, _ = self.unpack(vector)
        return mass_matrix(self.model, prepared, q)

    def step(self, state, input, time, prepared, dt):
        """A step; semi-implicit Euler's is the system's own where there are quaternions."""
        if self.integrator == "semi_implicit_euler" and not self.second_order:
            return self._step(state, input, prepared, dt)
        q, v = super().step(state, input, time, prepared, dt)
        return normalised(self.model, q), v

    def damped_step(self, state, input, time, prepared, dt, halves: bool = False):
        """A step with implicit friction, see ``pdsim.systems.integrators``."""
        del time
        return self._step(state, input, prepared, dt, implicit=True, halves=halves)

    def _step(self, state, input, prepared, dt, *, implicit: bool = False, halves: bool = False):
        q, v = state
        q = normalised(self.model, q)
        rest = dt
        if halves:
            rest = dt / 2
            q = normalised(self.model, advanced(self.model, q, v, rest))
        v = v + dt * self._accelerations(prepared, q, v, input, dt if implicit else None)
        return normalised(self.model, advanced(self.model, q, v, rest)), v

    def observe(self, state, prepared):
        q, v = state
        links = prepared.cast(q.dtype)
        delay = links["sensor/delay"]
        if not is_zero(delay):
            q = normalised(self.model, q - delay * rates(self.model, q, v))
        count = self.model.position_count
        shown = [q[i] for i in self.shown_positions]
        shown += [v[i - count] for i in self.shown_velocities]
        if self.points:
            placed = place(self.model, links, normalised(self.model, q))
            for _, body, at in self.points:
                local = np.array(at) if isinstance(at, tuple) else links.vector(f"site/{at}/pos")
                shown += point(self.model, placed, body, local)
        return tuple(shown)


def build(options: Options) -> Articulated:
    """Return the robot.

    Raises:
        PdsimError: the file cannot be used, or a name is not in it.
    """
    model = load_model(options.model, options.ignore, motors=options.actuation == "motors")
    joints = {joint.name: i for i, joint in enumerate(model.joints) if joint.scalar}
    bodies = {body.name: i for i, body in enumerate(model.bodies)}
    sites = {site.name: site.body for site in model.sites}

    def find(key: str, names, known_names: Mapping[str, int]) -> list[int]:
        for name in names:
            if name not in known_names:
                raise PdsimError(
                    f"simulator.options.{key}: {options.model} has nothing called {name!r}"
                    f"{close_name(name, known_names)}"
                )
        return [known_names[name] for name in names]

    shown = options.observe
    positions = find("observe.positions", _all(shown.positions, joints), joints)
    velocities = find("observe.velocities", _all(shown.velocities, joints), joints)
    points: list[Any] = list(
        zip(shown.sites, find("observe.sites", shown.sites, sites), shown.sites, strict=True)
    )
    for name, config in shown.points.items():
        (body,) = find(f"observe.points.{name}.body", [config.body], bodies)
        points.append((name, body, config.at))
    for name, owner in shown.frames.items():
        (body,) = find(f"observe.frames.{name}", [owner], bodies)
        points.append((f"{name}_o", body, (0.0, 0.0, 0.0)))
        for axis, unit in zip(AXES, np.eye(3), strict=True):
            points.append((f"{name}_{axis}", body, tuple(map(float, unit))))
    given: dict[str, str] = {}
    for kind in COORDINATES:
        names = getattr(options, kind)
        find(kind, names, {k: v for k, v in bodies.items() if v})
        for name in names:
            if given.setdefault(name, kind) != kind:
                raise PdsimError(
                    f"simulator.options.{kind}: {name} is already in {given[name]}; a body has "
                    "one kind of coordinates"
                )
    actuated = find("joints", _all(options.joints, joints), joints)
    if options.actuation == "motors" and not model.actuators:
        raise PdsimError(f"simulator.options.actuation: {options.model} has no motors; use torque")
    count = model.position_count
    system = Articulated(
        model=model,
        actuation=options.actuation,
        actuated=tuple(actuated) if options.actuation in ("torque", "pd") else (),
        points=tuple(points),
        shown_positions=tuple(model.joints[i].first_position for i in positions),
        shown_velocities=tuple(count + model.joints[i].first_velocity for i in velocities),
        coordinates=tuple(given.items()),
    )
    _check_names(options.model, system)
    return system


def _check_names(path: str, system: Articulated) -> None:
    """Refuse a robot of which two positions or velocities, or two channels, are called alike."""
    for quantities, remedy in (
        (system.state, "rename a joint: d and w before a joint's name are its velocities"),
        (system.channels, "rename it in simulator.options.observe"),
    ):
        names = [quantity.name for quantity in quantities]
        for name in names:
            if names.count(name) > 1:
                raise PdsimError(
                    f"{path}: two positions, velocities or points are called {name!r}; {remedy}"
                )


def _all(names: tuple[str, ...] | None, known_names: Mapping[str, int]) -> tuple[str, ...]:
    return tuple(known_names) if names is None else names
