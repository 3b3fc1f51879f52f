"""Which double pendulum it is: options of the config."""

from typing import Literal

from pydantic import Field

from pdsim.settings.section import Positive, Section


class Options(Section):
    """Section `simulator.options` of `double_pendulum`."""

    parameters: Literal["links", "base"] = Field(
        "links",
        description="masses, inertias and centres of mass of the links, or what the motion "
        "determines of them: J1, J2 and first moments, over S1y unless `fixed` gives it",
    )
    motors: bool = Field(
        False, description="torques in both joints as inputs, rotor inertia and dry friction"
    )
    dry_friction: bool = Field(
        False, description="dry friction in both joints of a pendulum without motors"
    )
    air_drag: bool = Field(
        False, description="drag of air on both links, by the square of a point's speed"
    )
    friction_velocity: Positive = Field(
        0.1, description="ε, joint rate at which dry friction is 76 % of its full size [rad/s]"
    )
