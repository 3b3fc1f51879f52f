"""A robot's file in words: its tree, every number by name, and a section to start from."""

from pathlib import Path

from pdsim.rigid_body.model import WORLD, Model
from pdsim.rigid_body.names import key_for
from pdsim.settings.scalars import flow
from pdsim.systems.articulated import Articulated, Options, build


def describe(path: str, ignore: tuple[str, ...] = ()) -> str:
    """Text for a terminal; the last part is a section ``simulator`` of an experiment.

    Raises:
        PdsimError: the file cannot be used; the message says what to ignore.
    """
    system = build(Options(model=path, ignore=ignore, actuation="torque"))
    return "\n".join(
        [
            f"{path}: {system.model.velocity_count} degrees of freedom",
            "",
            *_tree(system.model),
            "",
            *_numbers(system),
            "",
            "# To start from: half and twice the file's values; keep what is sought.",
            *_section(path, ignore, system),
        ]
    )


def _tree(model: Model) -> list[str]:
    lines: list[str] = []

    def add(number: int, depth: int) -> None:
        body = model.bodies[number]
        joints = ", ".join(f"{joint.name} ({joint.kind})" for joint in body.joints)
        lines.append("  " * depth + body.name + (f"  by {joints}" if joints else ""))
        lines.extend(
            "  " * (depth + 1) + f"· site {site.name}"
            for site in model.sites
            if site.body == number
        )
        for other, child in enumerate(model.bodies):
            if child.parent == number and other != number:
                add(other, depth + 1)

    add(WORLD, 0)
    return lines


def _numbers(system: Articulated) -> list[str]:
    width = max(len(name) for name in system.parameters)
    return [
        f"{name:{width}}  {parameter.default:12.6g}  {parameter.unit}"
        for name, parameter in system.parameters.items()
    ]


def _section(path: str, ignore: tuple[str, ...], system: Articulated) -> list[str]:
    lines = ["simulator:", "  system: articulated", "  options:"]
    lines.append(f"    model: {flow(Path(path).name)}")
    if ignore:
        lines.append(f"    ignore: {flow(list(ignore))}")
    lines += ["    actuation: torque", "  integrator: rk4", "  parameters:"]
    keys: set[str] = set()
    for name, parameter in system.parameters.items():
        kind, owner, *rest = name.split("/")
        sought = (kind, *rest) in (("body", "mass"), ("joint", "damping"), ("joint", "friction"))
        value = parameter.default
        if not sought or (kind == "body" and not (value > 0 and moves(system.model, owner))):
            continue
        limits = (value / 2, value * 2) if value > 0 else (1e-3, 1.0)
        key = key_for(f"{owner}_{rest[0]}", keys)
        keys.add(key)
        lines.append(
            f"    {key}: {{lower: {limits[0]:.4g}, upper: {limits[1]:.4g}, "
            f"unit: {parameter.unit}, scale: log, sets: {flow([name])}}}"
        )
    return lines


def moves(model: Model, name: str) -> bool:
    """Whether a joint moves a body."""
    number = model.body(name)
    while number > WORLD:
        if model.bodies[number].joints:
            return True
        number = model.bodies[number].parent
    return False
