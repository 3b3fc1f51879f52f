"""A quadrotor in a vertical plane, lifted by two pairs of rotors.

Conventions. x is to the right and z upward, ϑ the pitch from level; thrust points along
(sin ϑ, cos ϑ), so a positive pitch leads to +x. T1 and T2 are the thrusts of both pairs, which
stand at distance L cos 45° on either side of the centre of mass (an X configuration of arms L):

    m ẍ = sin ϑ (T1 + T2)        m z̈ = cos ϑ (T1 + T2) − m g        I ϑ̈ = L/√2 (T2 − T1)

Thrust is known in newtons and sets the scale of mass: the motion determines m, I/L and g.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import jax
import numpy as np

from pdsim.settings.section import Section
from pdsim.systems.system import ContinuousSystem, Quantity, SystemParameter
from pdsim.xla.sincos import sincos


class Options(Section):
    """Section `simulator.options` of `quadrotor`, which has none."""


class Coefficients(NamedTuple):
    """The numbers the motion depends on; scalars.

    Attributes:
        lift: acceleration that one newton gives, 1/m [1/kg].
        turn: angular acceleration that one newton of difference gives, L/(√2 I) [1/(kg m)].
        gravity: [m/s²].
    """

    lift: jax.Array
    turn: jax.Array
    gravity: jax.Array


_PARAMETERS = {
    "mass": SystemParameter("kg", 0.027, "mass", "$m$", positive=True),
    "inertia": SystemParameter(
        "kg m^2", 1.4e-5, "inertia about the pitch axis", "$I$", positive=True
    ),
    "arm": SystemParameter(
        "m", 0.0397, "distance of each rotor from the centre of mass", "$L$", positive=True
    ),
    "gravity": SystemParameter("m/s^2", 9.81, "gravitational acceleration", "$g$"),
}


@dataclass(frozen=True)
class Quadrotor(ContinuousSystem):
    """The model at the head of this file; all six state variables are observed."""

    name: ClassVar[str] = "quadrotor"
    lapack: ClassVar[bool] = False
    second_order: ClassVar[bool] = True

    @property
    def state(self) -> tuple[Quantity, ...]:
        return (
            Quantity("x", "m", "position"),
            Quantity("z", "m", "position"),
            Quantity("pitch", "rad", "angle"),
            Quantity("dx", "m/s", "velocity"),
            Quantity("dz", "m/s", "velocity"),
            Quantity("dpitch", "rad/s", "velocity"),
        )

    @property
    def inputs(self) -> tuple[Quantity, ...]:
        return (Quantity("thrust_1", "N", "force"), Quantity("thrust_2", "N", "force"))

    @property
    def parameters(self) -> Mapping[str, SystemParameter]:
        return _PARAMETERS

    def prepare(self, parameters: Mapping[str, Any]) -> Coefficients:
        return Coefficients(
            lift=1 / parameters["mass"],
            turn=parameters["arm"] / (float(np.sqrt(2.0)) * parameters["inertia"]),
            gravity=parameters["gravity"],
        )

    def derivative(self, state, input, time, prepared: Coefficients):
        del time
        thrust_1, thrust_2 = input
        sine, cosine = sincos(state[2])
        force = (thrust_1 + thrust_2) * prepared.lift
        return (
            *state[3:],
            sine * force,
            cosine * force - prepared.gravity,
            prepared.turn * (thrust_2 - thrust_1),
        )

    def combinations(self, parameters):
        """Mass, the inertia for each metre of arm, and gravity; thrust sets their scale."""
        return {
            "mass": (parameters["mass"], "kg"),
            "inertia_per_arm": (parameters["inertia"] / parameters["arm"], "kg m"),
            "gravity": (parameters["gravity"], "m/s^2"),
        }

    @property
    def combination_meanings(self):
        return {
            "mass": "of the vehicle",
            "inertia_per_arm": "inertia / arm",
            "gravity": "gravitational acceleration",
        }


def build(options: Options) -> Quadrotor:
    """Return the system."""
    del options
    return Quadrotor()
