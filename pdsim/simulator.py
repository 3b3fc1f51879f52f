"""From the config's simulator section to a system and its parameter space."""

import numpy as np

from pdsim.parameters import Parameter, ParameterSpace
from pdsim.simulator_config import SimulatorConfig
from pdsim.systems import load_system
from pdsim.systems.system import System


def build_simulator(config: SimulatorConfig) -> tuple[System, ParameterSpace]:
    """Return the system and the space of its estimated and fixed parameters."""
    system = load_system(config.system)
    parameters = []
    for name, entry in config.parameters.items():
        sets = entry.sets or (name,)
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
                sets=sets,
                label=system.parameters[sets[0]].label,
            )
        )
    estimated = {target for parameter in parameters for target in parameter.sets}
    fixed = tuple(
        (name, config.fixed.get(name, parameter.default))
        for name, parameter in system.parameters.items()
        if name not in estimated
    )
    return system, ParameterSpace(tuple(parameters), fixed)


def known_truth(config: SimulatorConfig) -> np.ndarray | None:
    """Return the true parameters (M,), physical units, if the config knows every one of them."""
    truth = [entry.truth for entry in config.parameters.values()]
    return None if any(value is None for value in truth) else np.array(truth, dtype=float)
