"""From the config's simulator section to a system and its parameter space."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from pydantic import ValidationError

from pdsim import registry
from pdsim.parameters.joint_prior import JointPrior
from pdsim.parameters.space import Parameter, ParameterSpace
from pdsim.runtime.errors import PdsimError
from pdsim.settings.messages import close_name, explain
from pdsim.systems.config import (
    JointPriorConfig,
    ParameterConfig,
    SimulatorConfig,
    SingleConfig,
    SystemChoice,
)
from pdsim.systems.integrators import DAMPED, INTEGRATORS
from pdsim.systems.ridge import Ridge, single_names
from pdsim.systems.system import ContinuousSystem, System


class Simulator(NamedTuple):
    """A system with the space of its estimated and fixed parameters; hashed by content."""

    system: System
    space: ParameterSpace
    substeps: int


def build_system(config: SystemChoice) -> System:
    """Return the system the section names, with its options and, if given, its integrator.

    Raises:
        PdsimError: no such system, option or integrator; the key is named below ``simulator``.
    """
    if config.system not in registry.NAMES["systems"]:
        raise PdsimError(
            f"simulator.system: no such system (got {config.system!r})"
            f"{close_name(config.system, registry.NAMES['systems'])}"
        )
    module = registry.load("systems", config.system)
    try:
        options = module.Options.model_validate(config.options)
    except ValidationError as error:
        raise explain(error, "simulator.options", module.Options) from None
    system = module.build(options)
    integrator = getattr(config, "integrator", None)
    if integrator is None:
        return system
    if integrator not in INTEGRATORS:
        raise PdsimError(
            f"simulator.integrator: no such integrator (got {integrator!r})"
            f"{close_name(integrator, INTEGRATORS)}"
        )
    if not isinstance(system, ContinuousSystem):
        raise PdsimError(
            f"simulator.integrator: {config.system} has a step of its own; remove this key"
        )
    stepped = system.second_order or hasattr(system, "damped_step")
    if integrator == "semi_implicit_euler" and not stepped:
        raise PdsimError(
            f"simulator.integrator: {integrator} needs a state of positions and their rates, which "
            f"{config.system} has not; use rk4"
        )
    if integrator in DAMPED and not hasattr(system, "damped_step"):
        raise PdsimError(f"simulator.integrator: {config.system} has no step of this kind; use rk4")
    return system.with_integrator(integrator)


def _label(system: System, name: str, target: str) -> str:
    """For figures: the system's own, or the name in the config where it has only a long name."""
    label = system.parameters[target].label
    return name if label == target else label


def targets(name: str, entry: ParameterConfig, system: System) -> tuple[str, ...]:
    """The system's parameters that an estimated one sets; ``*`` stands for anything but a slash."""
    found: list[str] = []
    for pattern in entry.sets or (name,):
        if "*" not in pattern:
            found.append(pattern)
            continue
        matches = [known for known in system.parameters if _matches(known, pattern)]
        if not matches:
            raise PdsimError(
                f"simulator.parameters.{name}.sets: no parameter of {system.name} is like "
                f"{pattern!r}"
            )
        found += matches
    return tuple(found)


def _matches(name: str, pattern: str) -> bool:
    return re.fullmatch(re.escape(pattern).replace(r"\*", "[^/]*"), name) is not None


def build_simulator(config: SimulatorConfig) -> Simulator:
    """Return the system and the space of its estimated and fixed parameters."""
    system = build_system(config)
    space = _space(config.parameters, config.fixed, system)
    if config.joint_prior is not None:
        space = replace(space, joint=_joint(config.joint_prior, space))
    return Simulator(system.with_constants(dict(space.fixed)), space, config.substeps)


def single_prior(config: SimulatorConfig, system: System) -> tuple[Ridge, ParameterSpace] | None:
    """The way to the model's own parameters and their prior, where ``single`` asks for them.

    Raises:
        PdsimError: the system's parameters are its own already, or the prior does not suit; the
            key is named below ``simulator``.
    """
    if config.single is None:
        return None
    found = system.single()
    if found is None:
        raise PdsimError(
            f"simulator.single: the parameters of {system.name} are single ones already; leave "
            "this section out, or seek combinations (simulator.options)"
        )
    own, ridge = found
    _check("simulator.single", config.single, own)
    prior = _space(config.single.parameters, config.single.fixed, own)
    try:
        single_names(ridge, prior)
    except PdsimError as error:
        raise PdsimError(f"simulator.single.parameters: {error}") from None
    sought = {
        target
        for name, entry in config.parameters.items()
        for target in targets(name, entry, system)
    }
    for name, value in prior.fixed:
        base = ridge.determined.get(name)
        if base in sought:
            raise PdsimError(
                f"simulator.single: {name} follows from {base}, which is sought, but is held at "
                f"{value:g}, which no draw meets; give {name} limits in "
                f"simulator.single.parameters, or hold {base} too"
            )
    return ridge, prior


def _space(
    entries: Mapping[str, ParameterConfig], fixed: Mapping[str, float], system: System
) -> ParameterSpace:
    """Estimated parameters, and the values of all others."""
    parameters = []
    for name, entry in entries.items():
        sets = targets(name, entry, system)
        flat = "uniform" if entry.scale == "linear" else "log_uniform"
        parameters.append(
            Parameter(
                name=name,
                lower=entry.lower,
                upper=entry.upper,
                unit=entry.unit,
                scale=entry.scale,
                prior=entry.prior or flat,
                mean=entry.mean or 0.0,
                standard_deviation=entry.standard_deviation or 1.0,
                median=entry.median or 1.0,
                sets=sets,
                label=_label(system, name, sets[0]),
            )
        )
    estimated = {target for parameter in parameters for target in parameter.sets}
    others = tuple(
        (name, fixed.get(name, parameter.default))
        for name, parameter in system.parameters.items()
        if name not in estimated
    )
    return ParameterSpace(tuple(parameters), others)


def _joint(config: JointPriorConfig, space: ParameterSpace) -> JointPrior:
    """From values or their logarithms to unit coordinates, which run evenly over the same."""
    lower, width = evenly(space, config.parameters)
    covariance = np.array(config.covariance) / np.outer(width, width)
    return JointPrior.of(config.parameters, (np.array(config.mean) - lower) / width, covariance)


def evenly(space: ParameterSpace, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Lower limit and width of some parameters: of values, or of logarithms on a log scale."""
    chosen = [space.parameters[space.names.index(name)] for name in names]
    limits = np.array(
        [np.log([p.lower, p.upper]) if p.scale == "log" else [p.lower, p.upper] for p in chosen]
    )
    return limits[:, 0], limits[:, 1] - limits[:, 0]


def check_parameters(config: SimulatorConfig, system: System) -> None:
    """Refuse parameters the system does not have, or that make no sense for it.

    Raises:
        PdsimError: the key is named below ``simulator``.
    """
    _check("simulator", config, system)
    single_prior(config, system)


def _check(where: str, config: SimulatorConfig | SingleConfig, system: System) -> None:
    set_by: dict[str, str] = {}
    for name, parameter in config.parameters.items():
        for target in targets(name, parameter, system):
            if target not in system.parameters:
                raise PdsimError(
                    f"{where}.parameters.{name}: {system.name} has no parameter {target!r}"
                    f"{close_name(target, system.parameters)}"
                )
            declared = system.parameters[target]
            if parameter.unit != declared.unit:
                raise PdsimError(
                    f"{where}.parameters.{name}.unit: {target} is in {declared.unit!r} "
                    f"(got {parameter.unit!r}); convert the limits and write unit: {declared.unit}"
                )
            if declared.positive and parameter.lower < 0:
                raise PdsimError(
                    f"{where}.parameters.{name}.lower: {target} ({declared.meaning}) cannot be "
                    f"negative (got {parameter.lower:g}); raise the limit to 0 or more"
                )
            if target in set_by:
                raise PdsimError(
                    f"{where}.parameters.{name}: {target} is set by {set_by[target]!r} already"
                )
            set_by[target] = name
    for name, value in config.fixed.items():
        if name not in system.parameters:
            raise PdsimError(
                f"{where}.fixed.{name}: {system.name} has no such parameter"
                f"{close_name(name, system.parameters)}"
            )
        if name in set_by:
            raise PdsimError(f"{where}.fixed.{name}: it is estimated too; remove it from one")
        if system.parameters[name].positive and value < 0:
            raise PdsimError(
                f"{where}.fixed.{name}: {system.parameters[name].meaning} cannot be negative "
                f"(got {value:g})"
            )
