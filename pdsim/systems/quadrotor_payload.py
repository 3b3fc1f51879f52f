"""A quadrotor as a point that is accelerated at will, with a load on a massless cable below it.

With r = L (sin a cos b, sin b, −cos a cos b) the load is at p + r, where p = (x, y, z) is the
vehicle and z upward. The input u is what both would be accelerated by if nothing swung: a force
(m + m_p)(u + g e_z) on the vehicle, so u = 0 hovers. With the share μ = m_p / (m + m_p),

    p̈ + μ r̈ = u
    (1 − μ) L² (cos²b ä − 2 sin b cos b ȧ ḃ) = −(u + g e_z) · ∂r/∂a − β₁ ȧ / m_p
    (1 − μ) L² (b̈ + sin b cos b ȧ²) = −(u + g e_z) · ∂r/∂b − β₂ ḃ / m_p

a and b are angles in two vertical planes. An azimuth and a polar angle, in which the document
writes the load, have no inverse where it hangs at rest. The motion determines L, μ and β / m_p.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import jax

from pdsim.settings.section import Section
from pdsim.systems.system import ContinuousSystem, Quantity, SystemParameter
from pdsim.xla.sincos import sincos


class Options(Section):
    """Section `simulator.options` of `quadrotor_payload`, which has none."""


class Coefficients(NamedTuple):
    """The numbers the motion depends on; scalars.

    Attributes:
        share: μ, of the load in the mass.
        length: L [m].
        spin: 1 / ((1 − μ) L) [1/m].
        drag_a, drag_b: β / ((1 − μ) m_p L²) [1/s].
        gravity: [m/s²].
    """

    share: jax.Array
    length: jax.Array
    spin: jax.Array
    drag_a: jax.Array
    drag_b: jax.Array
    gravity: jax.Array


_PARAMETERS = {
    "mass": SystemParameter("kg", 0.0411, "mass of the vehicle", "$m$", positive=True),
    "mass_load": SystemParameter("kg", 0.023, "mass of the load", "$m_p$", positive=True),
    "length": SystemParameter("m", 0.6, "length of the cable", "$L$", positive=True),
    "damping_1": SystemParameter("N m s", 0.0, "damping of the swing along x", r"$\beta_1$"),
    "damping_2": SystemParameter("N m s", 0.0, "damping of the swing along y", r"$\beta_2$"),
    "gravity": SystemParameter("m/s^2", 9.81, "gravitational acceleration", "$g$"),
}


@dataclass(frozen=True)
class QuadrotorPayload(ContinuousSystem):
    """The model at the head of this file; all ten state variables are observed."""

    name: ClassVar[str] = "quadrotor_payload"
    lapack: ClassVar[bool] = False
    second_order: ClassVar[bool] = True

    @property
    def state(self) -> tuple[Quantity, ...]:
        return (
            Quantity("x", "m", "position"),
            Quantity("y", "m", "position"),
            Quantity("z", "m", "position"),
            Quantity("a", "rad", "angle"),
            Quantity("b", "rad", "angle"),
            Quantity("dx", "m/s", "velocity"),
            Quantity("dy", "m/s", "velocity"),
            Quantity("dz", "m/s", "velocity"),
            Quantity("da", "rad/s", "velocity"),
            Quantity("db", "rad/s", "velocity"),
        )

    @property
    def inputs(self) -> tuple[Quantity, ...]:
        return tuple(Quantity(f"acceleration_{axis}", "m/s^2", "acceleration") for axis in "xyz")

    @property
    def parameters(self) -> Mapping[str, SystemParameter]:
        return _PARAMETERS

    def prepare(self, parameters: Mapping[str, Any]) -> Coefficients:
        load, length = parameters["mass_load"], parameters["length"]
        share = load / (parameters["mass"] + load)
        reduced = (1 - share) * load * length * length
        return Coefficients(
            share=share,
            length=length,
            spin=1 / ((1 - share) * length),
            drag_a=parameters["damping_1"] / reduced,
            drag_b=parameters["damping_2"] / reduced,
            gravity=parameters["gravity"],
        )

    def derivative(self, state, input, time, prepared: Coefficients):
        del time
        _, _, _, a, b, dx, dy, dz, da, db = state
        c, (ux, uy, uz) = prepared, input
        (sa, ca), (sb, cb) = sincos(a), sincos(b)
        lift = uz + c.gravity
        # Forces along ∂r/∂a and ∂r/∂b, over L.
        along_a = (ux * ca + lift * sa) * cb
        along_b = (lift * ca - ux * sa) * sb + uy * cb
        dda = (-c.spin * along_a / cb - c.drag_a * da / cb) / cb + 2 * sb / cb * da * db
        ddb = -c.spin * along_b - c.drag_b * db - sb * cb * da * da
        # r̈ / L, by components.
        squares, both = da * da + db * db, 2 * da * db
        rx = ca * cb * dda - sa * sb * ddb - sa * cb * squares - ca * sb * both
        ry = cb * ddb - sb * db * db
        rz = sa * cb * dda + ca * sb * ddb + ca * cb * squares - sa * sb * both
        pull = c.share * c.length
        return dx, dy, dz, da, db, ux - pull * rx, uy - pull * ry, uz - pull * rz, dda, ddb

    def combinations(self, parameters):
        """Length, share of the load, damping over the load's mass, and gravity."""
        load = parameters["mass_load"]
        return {
            "length": (parameters["length"], "m"),
            "share": (load / (parameters["mass"] + load), "-"),
            "damping_1_per_load": (parameters["damping_1"] / load, "m^2/s"),
            "damping_2_per_load": (parameters["damping_2"] / load, "m^2/s"),
            "gravity": (parameters["gravity"], "m/s^2"),
        }

    @property
    def combination_meanings(self):
        return {
            "length": "of the cable",
            "share": "mass_load / (mass + mass_load)",
            "damping_1_per_load": "damping_1 / mass_load",
            "damping_2_per_load": "damping_2 / mass_load",
            "gravity": "gravitational acceleration",
        }


def hang(state, length) -> tuple[Any, Any, Any]:
    """Where the load is [m], of a state and a length of the cable."""
    x, y, z, a, b = state[:5]
    (sa, ca), (sb, cb) = sincos(a), sincos(b)
    return x + length * sa * cb, y + length * sb, z - length * ca * cb


def build(options: Options) -> QuadrotorPayload:
    """Return the system."""
    del options
    return QuadrotorPayload()
