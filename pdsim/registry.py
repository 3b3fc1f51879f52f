"""Everything a config can choose by name: a line here and the module of that name in its room.

Nothing is imported until it is asked for, and no result depends on this file: adding a line reruns
nothing (``pdsim.runtime.provenance`` leaves it out of every fingerprint).
"""

from importlib import import_module
from types import ModuleType

NAMES: dict[str, tuple[str, ...]] = {
    "systems": (
        "double_pendulum",
        "oscillator",
        "cart_pole",
        "quadrotor",
        "quadrotor_payload",
        "articulated",
        "flexible_loop",
    ),
    "recordings": (
        "ibm",
        "camera",
        "table",
        "simulated",
        "mujoco",
        "arm_path",
    ),
    "inference": (
        "emcee",
        "cem",
        "sgld",
        "nuts",
        "crank_nicolson",
        "svgd",
        "csvgd",
        "least_squares",
        "steepest_descent",
        "gauss_newton",
    ),
    "control.tasks": (
        "quadrotor",
        "cart_pole",
        "payload",
    ),
    # In the order of the tables' rows.
    "metrics": (
        "energy_score",
        "rmse",
        "coverage",
        "prefix",
        "convergence",
        "log_likelihood",
        "kl",
        "mmd",
        "parameters",
        "credible_rank",
        "reference_distance",
        "work",
    ),
    # In the order of the report.
    "figures": (
        "recordings",
        "learning_curve",
        "convergence",
        "densities",
        "landscape",
        "posteriors",
        "density",
        "posterior",
        "windows",
        "scene",
        "motion",
        "loop",
        "loop_motion",
        "descent",
        "hand_path",
        "positions",
        "prediction",
        "pit",
        "statistics",
        "training",
        "calibration",
        "bayessim_densities",
        "bayessim_posteriors",
        "sbc",
    ),
}
# Metrics that are followed over the course of an estimation, which takes as long as all others.
LEARNING_CURVE_METRICS = (
    "energy_score",
    "rmse",
    "coverage",
    "log_likelihood",
    "kl",
    "mmd",
    "parameters",
)


def module_name(room: str, name: str) -> str:
    """Return the dotted name of the module, ``pdsim.<room>.<name>``."""
    return f"pdsim.{room}.{name}"


def load(room: str, name: str) -> ModuleType:
    """Import the module of that name; it must be one of ``NAMES[room]``."""
    if name not in NAMES[room]:
        raise KeyError(f"{name!r} is not among {', '.join(NAMES[room])} in pdsim/{room}")
    return import_module(module_name(room, name))
