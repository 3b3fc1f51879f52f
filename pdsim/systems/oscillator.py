"""A mass on a spring and a damper, pushed by a force: what a system of your own has to say.

    m ẍ + c ẋ + k (x − rest) = gain · u

Copy this file to begin a system: name its state, its inputs and its parameters, write ẋ = f(x, u)
for one sample, and add its name to ``pdsim.registry``. Integrators, batches, derivatives and the
conformance test come with it. ``pdsim.systems.system`` says what else a system can override.
"""

from dataclasses import dataclass
from typing import ClassVar

from pdsim.settings.section import Section
from pdsim.systems.system import ContinuousSystem, Quantity, SystemParameter


class Options(Section):
    """Section `simulator.options` of `oscillator`, which has none."""


_PARAMETERS = {
    "mass": SystemParameter("kg", 1.0, "mass that moves", "$m$", positive=True),
    "damping": SystemParameter("N s/m", 0.5, "viscous damping", "$c$", positive=True),
    "stiffness": SystemParameter("N/m", 20.0, "stiffness of the spring", "$k$", positive=True),
    "rest": SystemParameter("m", 0.0, "position in which the spring is relaxed", "$x_0$"),
    "gain": SystemParameter("-", 1.0, "force on the mass per force commanded", "$b$"),
}


@dataclass(frozen=True)
class Oscillator(ContinuousSystem):
    """The model at the head of this file; position and velocity are observed."""

    name: ClassVar[str] = "oscillator"
    lapack: ClassVar[bool] = False
    second_order: ClassVar[bool] = True

    @property
    def state(self):
        return Quantity("x", "m", "position"), Quantity("dx", "m/s", "velocity")

    @property
    def inputs(self):
        return (Quantity("force", "N", "force"),)

    @property
    def parameters(self):
        return _PARAMETERS

    def derivative(self, state, input, time, prepared):
        p, (x, dx), (force,) = prepared, state, input
        pull = p["gain"] * force - p["damping"] * dx - p["stiffness"] * (x - p["rest"])
        return dx, pull / p["mass"]

    def combinations(self, parameters):
        """Everything over the mass: a common factor of the other three does not show."""
        p = parameters
        return {
            "damping_over_mass": (p["damping"] / p["mass"], "1/s"),
            "stiffness_over_mass": (p["stiffness"] / p["mass"], "1/s^2"),
            "gain_over_mass": (p["gain"] / p["mass"], "1/kg"),
            "rest": (p["rest"], "m"),
        }

    @property
    def combination_meanings(self):
        return {
            "damping_over_mass": "damping / mass",
            "stiffness_over_mass": "stiffness / mass: square of the undamped angular frequency",
            "gain_over_mass": "gain / mass",
            "rest": "position without any force",
        }


def build(options: Options) -> Oscillator:
    """Return the system."""
    del options
    return Oscillator()
