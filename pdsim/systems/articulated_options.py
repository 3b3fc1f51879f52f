"""Section `simulator.options` of a robot from its model file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from pdsim.rigid_body.fingerprint import locate_model
from pdsim.settings.section import Section


class PointConfig(Section):
    """A point that is observed."""

    body: str = Field(description="that it is fixed to")
    at: tuple[float, float, float] = Field((0.0, 0.0, 0.0), description="in the body's frame [m]")


class ObserveConfig(Section):
    """What is observed; left out: positions and velocities of all hinges and slides."""

    positions: tuple[str, ...] | None = Field(None, description="joints; default: all")
    velocities: tuple[str, ...] | None = Field(None, description="joints; default: all")
    sites: tuple[str, ...] = Field((), description="sites of the model, three channels each")
    points: dict[str, PointConfig] = Field({}, description="by name, three channels each")
    frames: dict[str, str] = Field(
        {},
        description="name → body: its origin and the points 1 m along its axes, twelve channels",
    )


class Options(Section):
    """Section `simulator.options` of `articulated`."""

    model: str = Field(
        description="robot's file, MJCF (.xml) or URDF; looked for beside the experiment's file, "
        "below PDSIM_DATA_DIR, and below data/"
    )
    sha256: str | None = Field(None, description="of the file and what it reads; pdsim fills it in")
    ignore: tuple[str, ...] = Field(
        (), description="what of the file is not to be simulated: contacts, equality, tendons, …"
    )
    actuation: Literal["none", "torque", "pd", "motors"] = Field("none", description="what acts")
    joints: tuple[str, ...] | None = Field(
        None, description="that `torque` or `pd` act on; default: all hinges and slides"
    )
    observe: ObserveConfig = ObserveConfig()
    consistent: tuple[str, ...] = Field(
        (),
        description="bodies whose mass, centre and inertia are given by ten coordinates of which "
        "any are a body that can be: body/<body>/cholesky/{alpha,d1,…}",
    )
    linear: tuple[str, ...] = Field(
        (),
        description="bodies given by mass, first moment and inertia about their frame's origin, in "
        "which the equation of motion is linear: body/<body>/{moment/x,…,origin_inertia/xx,…}",
    )


def located(options: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Options with the model's path found, and its fingerprint, so that a change is seen."""
    if not isinstance(options.get("model"), str):
        return dict(options)
    return {**options, **locate_model(options["model"], folder, "simulator.options.model")}
