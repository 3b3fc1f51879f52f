"""A cart on a rail with a pole hinged to it, pushed by a force along the rail.

Conventions. x is the position of the cart, a the angle of the pole from hanging straight down
(a = π is upright), growing anticlockwise: with x to the right and z upward the centre of mass of
the pole stands at (x + l sin a, −l cos a). The pole is a rigid body, I its inertia about its centre
of mass; I = 0 is a point mass on a massless rod.

With M and m the masses of cart and pole and

    S = M + m        H = m l        J = I + m l²        G = m g l

the kinetic energy is ½ S ẋ² + H cos a ẋ ȧ + ½ J ȧ², the potential energy −G cos a, and
Euler–Lagrange gives, with the force u on the cart and viscous friction in rail and hinge,

    S ẍ + H cos a ä = H sin a ȧ² + u − f1 ẋ
    H cos a ẍ + J ä = −G sin a − f2 ȧ

The friction f2 acts between pole and cart, as a couple, so the cart does not feel it. The force is
known in newtons and sets the scale of mass: the motion determines S, H, J, G, f1 and f2 each.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import jax

from pdsim.settings.section import Section
from pdsim.systems.system import ContinuousSystem, Quantity, SystemParameter
from pdsim.xla.sincos import sincos


class Options(Section):
    """Section `simulator.options` of `cart_pole`, which has none."""


class Coefficients(NamedTuple):
    """The numbers the motion depends on; scalars.

    Attributes:
        S: mass of cart and pole [kg].
        H: first moment of the pole about its hinge [kg m].
        J: inertia of the pole about its hinge [kg m²].
        G: gravity's torque on the level pole [N m].
        f1: viscous friction of the cart [N s/m].
        f2: viscous friction of the hinge [N m s].
    """

    S: jax.Array
    H: jax.Array
    J: jax.Array
    G: jax.Array
    f1: jax.Array
    f2: jax.Array


def coefficients(parameters: Mapping) -> Coefficients:
    """Combine the model's parameters (by name, SI units)."""
    moment = parameters["mass_pole"] * parameters["length"]
    return Coefficients(
        S=parameters["mass_cart"] + parameters["mass_pole"],
        H=moment,
        J=parameters["inertia"] + moment * parameters["length"],
        G=parameters["gravity"] * moment,
        f1=parameters["friction_cart"],
        f2=parameters["friction_pole"],
    )


def accelerations(state, force, k: Coefficients):
    """Accelerations of cart [m/s²] and pole [rad/s²].

    Args:
        state: (x [m], a [rad], ẋ [m/s], ȧ [rad/s]), scalars.
        force: on the cart [N], scalar.
        k: coefficients, scalars.
    """
    _, angle, dx, rate = state
    sine, cosine = sincos(angle)
    C = k.H * cosine
    right_1 = k.H * sine * rate * rate + force - k.f1 * dx
    right_2 = -k.G * sine - k.f2 * rate
    determinant = k.S * k.J - C * C
    return (
        (k.J * right_1 - C * right_2) / determinant,
        (k.S * right_2 - C * right_1) / determinant,
    )


def energy(state, k: Coefficients):
    """Total mechanical energy [J], zero for a level pole at rest on a cart at rest."""
    _, angle, dx, rate = state
    _, cosine = sincos(angle)
    kinetic = 0.5 * k.S * dx * dx + k.H * cosine * dx * rate + 0.5 * k.J * rate * rate
    return kinetic - k.G * cosine


_PARAMETERS = {
    "mass_cart": SystemParameter("kg", 1.0, "mass of the cart", "$M$", positive=True),
    "mass_pole": SystemParameter("kg", 0.1, "mass of the pole", "$m$", positive=True),
    "length": SystemParameter(
        "m", 0.5, "distance from the hinge to the pole's centre of mass", "$l$", positive=True
    ),
    "inertia": SystemParameter(
        "kg m^2", 8e-3, "inertia of the pole about its centre of mass", "$I$", positive=True
    ),
    "friction_cart": SystemParameter(
        "N s/m", 0.1, "viscous friction of the cart on its rail", "$f_1$", positive=True
    ),
    "friction_pole": SystemParameter(
        "N m s", 1e-3, "viscous friction of the hinge", "$f_2$", positive=True
    ),
    "gravity": SystemParameter("m/s^2", 9.81, "gravitational acceleration", "$g$"),
}


@dataclass(frozen=True)
class CartPole(ContinuousSystem):
    """The model at the head of this file; all four state variables are observed."""

    name: ClassVar[str] = "cart_pole"
    lapack: ClassVar[bool] = False
    second_order: ClassVar[bool] = True

    @property
    def state(self) -> tuple[Quantity, ...]:
        return (
            Quantity("x", "m", "position"),
            Quantity("angle", "rad", "angle"),
            Quantity("dx", "m/s", "velocity"),
            Quantity("dangle", "rad/s", "velocity"),
        )

    @property
    def inputs(self) -> tuple[Quantity, ...]:
        return (Quantity("force", "N", "force"),)

    @property
    def parameters(self) -> Mapping[str, SystemParameter]:
        return _PARAMETERS

    def prepare(self, parameters) -> Coefficients:
        return coefficients(parameters)

    def derivative(self, state, input, time, prepared):
        del time
        (force,) = input
        return (*state[2:], *accelerations(state, force, prepared))

    def combinations(self, parameters):
        """The coefficients; the force, known in newtons, sets their scale."""
        k = self.prepare(parameters)
        return {
            "S": (k.S, "kg"),
            "H": (k.H, "kg m"),
            "J": (k.J, "kg m^2"),
            "G": (k.G, "N m"),
            "f1": (k.f1, "N s/m"),
            "f2": (k.f2, "N m s"),
        }

    @property
    def combination_meanings(self) -> Mapping[str, str]:
        return {
            "S": "M + m: mass of cart and pole",
            "H": "m l: first moment of the pole about its hinge",
            "J": "I + m l²: inertia of the pole about its hinge",
            "G": "m g l: largest moment of the pole's weight",
            "f1": "viscous friction of the cart",
            "f2": "viscous friction of the hinge",
        }


def build(options: Options) -> CartPole:
    """Return the system."""
    del options
    return CartPole()
