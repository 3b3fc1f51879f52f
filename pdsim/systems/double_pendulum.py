"""The planar double pendulum: two rigid links, two hinges, friction, and motors if it has some.

Conventions. ``q0`` is the absolute angle a of link 1 (0 = hanging), ``q1`` the angle of link 2
relative to link 1, so b = q0 + q1 is the absolute angle of link 2. Each link carries a frame at
its proximal joint, y along the link (down when it hangs) and x across it (a quarter turn ahead,
in the direction of growing angle). A centre of mass (x, y) then stands at x·e_x + y·e_y with
e_y(a) = (sin a, −cos a) and e_x(a) = (cos a, sin a) in horizontal and upward coordinates.

The equations of motion are those of ``pdsim.systems.pendulum_motion``, where J, C, D and G are.

With ``parameters: base`` the system's parameters are what its motion determines, in place of
masses, inertias and centres of mass: J1, J2, friction, l and the first moments

    S1x = m1 x1      S1y = m1 y1 + m2 l      S2x = m2 x2      S2y = m2 y2

so that C = l S2 and G = g S. J1 then counts R1, which the motion cannot tell from it; R2 stays a
parameter. Free motion scales: S1y, unless given, is 1 kg m, and J1, J2, S1x, S2x, S2y, friction of
either kind and drag are then those over S1y. Links of these values exist if J1 J2 > l² |S2|², since
|S2|² ≤ m2 J2 and m2 l² ≤ J1; elsewhere the mass matrix is not positive at some q1, and every
acceleration is NaN.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np

from pdsim.rigid_body.vectors import known
from pdsim.systems.pendulum_links import ridge
from pdsim.systems.pendulum_motion import (
    Coefficients,
    Drag,
    Motors,
    accelerations,
    mass_matrix,
    plain_accelerations,
)
from pdsim.systems.pendulum_options import Options
from pdsim.systems.system import ContinuousSystem, Quantity, SystemParameter


def coefficients(parameters, options: Options) -> Coefficients:
    """Combine the model's parameters (by name, SI units)."""
    if options.parameters == "base":
        return _base_coefficients(parameters, options)
    m1, m2 = parameters["mass_1"], parameters["mass_2"]
    x1, y1 = parameters["com_x_1"], parameters["com_y_1"]
    x2, y2 = parameters["com_x_2"], parameters["com_y_2"]
    length, gravity = parameters["length"], parameters["gravity"]
    free = Coefficients(
        J1=parameters["inertia_1"] + m1 * (x1 * x1 + y1 * y1) + m2 * length * length,
        J2=parameters["inertia_2"] + m2 * (x2 * x2 + y2 * y2),
        Cy=m2 * length * y2,
        Cx=m2 * length * x2,
        G1y=gravity * (m1 * y1 + m2 * length),
        G1x=gravity * m1 * x1,
        G2y=gravity * m2 * y2,
        G2x=gravity * m2 * x2,
        f1=parameters["friction_1"],
        f2=parameters["friction_2"],
    )
    if not options.motors:
        return _with_friction(free, None, parameters, options)
    R1 = parameters["rotor_inertia_1"]
    return _with_motors(free._replace(J1=free.J1 + R1), parameters, options)


def _with_motors(free: Coefficients, parameters, options: Options) -> Coefficients:
    """Add motors to the coefficients without, whose J1 counts R1 already."""
    R2 = parameters["rotor_inertia_2"]
    free = free._replace(J1=free.J1 + R2, J2=free.J2 + R2)
    return _with_friction(free, R2, parameters, options)


def _with_friction(free: Coefficients, R2, parameters, options: Options) -> Coefficients:
    """Add the drag of air if there is any, and dry friction, which there is with motors."""
    if options.air_drag:
        reach = parameters["length"] / parameters["drag_arm"]
        free = free._replace(drag=Drag(parameters["drag_1"], parameters["drag_2"], reach))
    if not options.motors and not options.dry_friction:
        return free
    d1, d2 = parameters["dry_friction_1"], parameters["dry_friction_2"]
    epsilon: Any = options.friction_velocity
    if not known(d1):
        # Parameters may be whole numbers; ε is none.
        epsilon = jnp.full_like(d1, epsilon, dtype=jnp.result_type(d1, float))
    return free._replace(motors=Motors(R2, d1, d2, epsilon))


def _base_coefficients(parameters, options: Options) -> Coefficients:
    """``coefficients`` of base parameters; J1 is NaN where no pendulum has them."""
    J1, J2 = parameters["J1"], parameters["J2"]
    S2x, S2y = parameters["S2x"], parameters["S2y"]
    length, gravity = parameters["length"], parameters["gravity"]
    Cx, Cy = length * S2x, length * S2y
    # Both must be positive: the product of two negative ones would be.
    some_pendulum = (J1 > 0) & (J2 > 0) & (Cx * Cx + Cy * Cy < J1 * J2)
    where: Any = np.where if known(J1, some_pendulum) else jnp.where
    free = Coefficients(
        J1=where(some_pendulum, J1, np.nan),
        J2=J2,
        Cy=Cy,
        Cx=Cx,
        G1y=gravity * parameters["S1y"],
        G1x=gravity * parameters["S1x"],
        G2y=gravity * S2y,
        G2x=gravity * S2x,
        f1=parameters["friction_1"],
        f2=parameters["friction_2"],
    )
    if options.motors:
        return _with_motors(free, parameters, options)
    return _with_friction(free, None, parameters, options)


def _link(i: int) -> dict[str, SystemParameter]:
    return {
        f"mass_{i}": SystemParameter("kg", 0.1, f"mass of link {i}", f"$m_{i}$", positive=True),
        f"inertia_{i}": SystemParameter(
            "kg m^2",
            1e-4,
            f"inertia of link {i} about its centre of mass",
            f"$I_{i}$",
            positive=True,
        ),
        f"com_x_{i}": SystemParameter(
            "m", 0.0, f"centre of mass of link {i}, across the link", f"$x_{i}$"
        ),
        f"com_y_{i}": SystemParameter(
            "m", 0.05, f"centre of mass of link {i}, along the link", f"$y_{i}$"
        ),
        f"friction_{i}": SystemParameter(
            "N m s", 0.0, f"viscous friction of joint {i}", f"$f_{i}$", positive=True
        ),
    }


def _motor(i: int) -> dict[str, SystemParameter]:
    return {
        f"rotor_inertia_{i}": SystemParameter(
            "kg m^2",
            0.0,
            f"inertia of rotor {i} times the square of its gear's ratio",
            f"$R_{i}$",
            positive=True,
        ),
        **_dry(i),
    }


def _dry(i: int) -> dict[str, SystemParameter]:
    return {
        f"dry_friction_{i}": SystemParameter(
            "N m", 0.0, f"dry friction of joint {i}", f"$d_{i}$", positive=True
        )
    }


_DRAG = {
    f"drag_{i}": SystemParameter(
        "N m s^2", 0.0, f"drag of air on link {i}, its joint at rest", f"$c_{i}$", positive=True
    )
    for i in (1, 2)
} | {
    "drag_arm": SystemParameter(
        "m", 0.1, "from joint 2 to where the air acts on link 2", "$r$", positive=True
    )
}


_FRAME = {
    "length": SystemParameter("m", 0.1, "distance between the joints", "$l$", positive=True),
    "gravity": SystemParameter("m/s^2", 9.81, "gravitational acceleration", "$g$"),
}
_FREE = {**_link(1), "length": _FRAME["length"], **_link(2), "gravity": _FRAME["gravity"]}


def _base_link(i: int, J: float, S: float, of: str) -> dict[str, SystemParameter]:
    return {
        f"J{i}": SystemParameter(
            "kg m^2", J, f"inertia of {of} about joint {i}", f"$J_{i}$", positive=True
        ),
        f"S{i}x": SystemParameter(
            "kg m", 0.0, f"first moment of {of}, across link {i}", f"$S_{{{i}x}}$"
        ),
        f"S{i}y": SystemParameter(
            "kg m", S, f"first moment of {of}, along link {i}", f"$S_{{{i}y}}$"
        ),
        f"friction_{i}": _link(i)[f"friction_{i}"],
    }


# Those of links at their defaults, over S1y.
_BASE = {
    **_base_link(1, 0.09, 1.0, "link 1 with the mass of link 2 in joint 2"),
    "length": _FRAME["length"],
    **_base_link(2, 0.07 / 3, 1 / 3, "link 2"),
    "gravity": _FRAME["gravity"],
}


# y of a centre of mass across its link too: √(x² + y²), and of S1 as a vector.
_MEANINGS = {
    "J1": "I1 + m1 y1² + m2 l² (+ rotors): inertia about joint 1, link 2 as a point in joint 2",
    "J2": "I2 + m2 y2² (+ rotor 2): inertia of link 2 about joint 2",
    "C": "m2 l y2: coupling of the links",
    "R2": "inertia of rotor 2 times the square of its gear's ratio",
    "G1": "g (m1 y1 + m2 l): largest moment of weight about joint 1, link 2 as a point in joint 2",
    "G2": "g m2 y2: largest moment of weight of link 2 about joint 2",
    "f1": "viscous friction of joint 1",
    "f2": "viscous friction of joint 2",
    "d1": "dry friction of joint 1",
    "d2": "dry friction of joint 2",
    "c1": "drag of air on link 1",
    "c2": "drag of air on link 2, joint 2 at rest",
}
_G1 = "G1, with G1 = g (m1 y1 + m2 l)"
_MEANINGS_OVER_G1 = {
    "J1_over_G1": f"inertia about joint 1, I1 + m1 y1² + m2 l², over {_G1}",
    "J2_over_G1": f"inertia of link 2 about joint 2, I2 + m2 y2², over {_G1}",
    "C_over_G1": f"coupling of the links, m2 l y2, over {_G1}",
    "G2_over_G1": f"moment of weight of link 2, g m2 y2, over {_G1}",
    "f1_over_G1": f"viscous friction of joint 1 over {_G1}",
    "f2_over_G1": f"viscous friction of joint 2 over {_G1}",
    "d1_over_G1": f"dry friction of joint 1 over {_G1}",
    "d2_over_G1": f"dry friction of joint 2 over {_G1}",
    "c1_over_G1": f"drag of air on link 1 over {_G1}",
    "c2_over_G1": f"drag of air on link 2, joint 2 at rest, over {_G1}",
}


@dataclass(frozen=True)
class DoublePendulum(ContinuousSystem):
    """Two links, two hinges; all four state variables are observed.

    Attributes:
        options: of the config.
        written_adjoint: whether derivatives are those of reverse mode, written out.
    """

    name: ClassVar[str] = "double_pendulum"
    lapack: ClassVar[bool] = False
    second_order: ClassVar[bool] = True
    options: Options = field(default_factory=Options)
    written_adjoint: bool = True

    @property
    def state(self) -> tuple[Quantity, ...]:
        return (
            Quantity("q0", "rad", "angle"),
            Quantity("q1", "rad", "angle"),
            Quantity("dq0", "rad/s", "velocity"),
            Quantity("dq1", "rad/s", "velocity"),
        )

    @property
    def inputs(self) -> tuple[Quantity, ...]:
        names = ("torque_1", "torque_2") if self.options.motors else ()
        return tuple(Quantity(name, "N m", "torque") for name in names)

    @property
    def parameters(self) -> Mapping[str, SystemParameter]:
        base = self.options.parameters == "base"
        free = _BASE if base else _FREE
        if self.options.air_drag:
            free = free | _DRAG
        if not self.options.motors:
            return free | _dry(1) | _dry(2) if self.options.dry_friction else free
        motors = _motor(1) | _motor(2)
        if base:
            del motors["rotor_inertia_1"]
        return free | motors

    def prepare(self, parameters) -> Coefficients:
        return coefficients(parameters, self.options)

    def derivative(self, state, input, time, prepared):
        del time
        form = accelerations if self.written_adjoint else plain_accelerations
        return (*state[2:], *form(state, input, prepared))

    def mass_matrix(self, vector, prepared):
        return mass_matrix(vector[1], prepared)

    def single(self):
        if self.options.parameters != "base":
            return None
        links = self.options.model_copy(update={"parameters": "links"})
        return replace(self, options=links), ridge(links)

    def combinations(self, parameters):
        """The coefficients; without motors over G1, since free motion has no scale of mass.

        With motors base parameters are what the motion determines, by names of their own.
        """
        if self.options.motors and self.options.parameters == "base":
            return {}
        k = self.prepare(parameters)
        hypot = np.hypot if known(*parameters.values()) else jnp.hypot
        G1, G2, C = hypot(k.G1y, k.G1x), hypot(k.G2y, k.G2x), hypot(k.Cy, k.Cx)
        m, drags = k.motors, () if k.drag is None else (k.drag.c1, k.drag.c2)
        if m is None or m.R2 is None:
            frictions = () if m is None else (m.d1, m.d2)
            dry = {f"d{i}_over_G1": (d / G1, "-") for i, d in enumerate(frictions, 1)}
            drag = {f"c{i}_over_G1": (c / G1, "s^2") for i, c in enumerate(drags, 1)}
            return {
                "J1_over_G1": (k.J1 / G1, "s^2"),
                "J2_over_G1": (k.J2 / G1, "s^2"),
                "C_over_G1": (C / G1, "s^2"),
                "G2_over_G1": (G2 / G1, "-"),
                "f1_over_G1": (k.f1 / G1, "s"),
                "f2_over_G1": (k.f2 / G1, "s"),
                **dry,
                **drag,
            }
        return {
            "J1": (k.J1, "kg m^2"),
            "J2": (k.J2, "kg m^2"),
            "C": (C, "kg m^2"),
            "R2": (m.R2, "kg m^2"),
            "G1": (G1, "N m"),
            "G2": (G2, "N m"),
            "f1": (k.f1, "N m s"),
            "f2": (k.f2, "N m s"),
            "d1": (m.d1, "N m"),
            "d2": (m.d2, "N m"),
        } | {f"c{i}": (c, "N m s^2") for i, c in enumerate(drags, 1)}

    @property
    def combination_meanings(self) -> Mapping[str, str]:
        return _MEANINGS if self.options.motors else _MEANINGS_OVER_G1

    def forward_mode(self) -> "DoublePendulum":
        return replace(super().forward_mode(), written_adjoint=False)


def build(options: Options) -> DoublePendulum:
    """Return the system."""
    return DoublePendulum(options=options)
