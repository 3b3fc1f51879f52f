"""Which parameters are sought, and between which limits.

Of a double pendulum it is what its motion determines. The recording's pace 1/T and gravity give a
length g T², the torques, if some act, a first moment; these make a scale of every parameter. In a
box of several decades around it gradient matching finds a first guess, and the limits are a factor
of five around that, wider where the motion says little.

Of another system of the second order, as the cart with a pole, it is what the accelerations tell
apart, in decades around the defaults first, and then around a first guess.

Of a robot from its file: `pdsim.draft.robot_limits`.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from pdsim.draft.entries import (
    FACTOR,
    FRICTION,
    FRICTION_DECADES,
    GRAVITY,
    Limits,
    boxed,
    flat_entry,
    log_entry,
    rounded,
    told_apart,
)
from pdsim.draft.matching import Match, Motion, match, matcher
from pdsim.draft.robot_limits import of_robot
from pdsim.runtime.errors import PdsimError
from pdsim.systems.articulated import Articulated
from pdsim.systems.simulator import Simulator
from pdsim.systems.system import System

# Decades on either side of its scale in which a parameter is matched first.
_DECADES = 2.0
# A centre of mass across a link, over that along it: a link's frame leans by no more.
_LEAN = 0.2
# Starts of a fit of which only the quality is asked.
_FEW = 3
# Parameters that nobody looks for in a recording.
_KNOWN = ("gravity",)


class Box(NamedTuple):
    """A wide box of a double pendulum's parameters, in which a first guess is looked for.

    Attributes:
        scales: of what is positive, value and unit.
        viscous, dry: friction, entries of the section.
        entries: of all parameters.
    """

    scales: dict[str, tuple[float, str]]
    viscous: dict[str, dict[str, Any]]
    dry: dict[str, dict[str, Any]]
    entries: dict[str, dict[str, Any]]
    options: dict[str, Any]
    fixed: dict[str, float]

    def simulator(self) -> Simulator:
        """The pendulum in this box."""
        return boxed("double_pendulum", self.options, "rk4", self.entries, self.fixed)


def wide_box(motion: Motion, *, driven: bool) -> Box:
    """Decades around the scales of a double pendulum's motion.

    Args:
        driven: whether torques are known; without, everything is over S1y.
    """
    time = 1 / motion.pace
    length = GRAVITY * time**2
    moment = 1.0
    if driven:
        moment = float(np.sqrt((motion.inputs**2).mean())) / GRAVITY
        if not moment > 0:
            raise PdsimError(
                "the torques are 0 in all that would be learned from, so they tell nothing of "
                "masses; leave their columns out of the table, or record while the motors act"
            )
    inertia, torque = moment * length, moment * GRAVITY
    options = {"parameters": "base", **({"motors": True} if driven else {})}
    scales = {"J1": (inertia, "kg m^2"), "length": (length, "m"), "J2": (inertia, "kg m^2"),
              "S2y": (moment, "kg m")}  # fmt: skip
    if driven:
        scales |= {"S1y": (moment, "kg m"), "rotor_inertia_2": (inertia, "kg m^2")}
    wide = 10**_DECADES
    matched: dict[str, dict[str, Any]] = {
        name: log_entry(scale / wide, scale * wide, unit) for name, (scale, unit) in scales.items()
    }
    matched |= {f"S{i}x": flat_entry(-moment, moment, "kg m") for i in (1, 2)}
    largest = inertia / time
    viscous = {f"friction_{i}": log_entry(1e-6 * largest, largest, "N m s") for i in (1, 2)}
    dry = {f"dry_friction_{i}": flat_entry(0.0, torque, "N m") for i in (1, 2)} if driven else {}
    matched |= viscous | dry
    return Box(scales, viscous, dry, matched, options, {} if driven else {"S1y": 1.0})


def of_double_pendulum(motion: Motion, *, driven: bool) -> Limits:
    """Limits of what the motion of a double pendulum determines.

    Args:
        driven: as of ``wide_box``.
    """
    time = 1 / motion.pace
    box = wide_box(motion, driven=driven)
    scales, viscous, dry, matched, options, fixed = box
    simulator = box.simulator()
    found = match(simulator.system, simulator.space, motion)
    physical = np.asarray(simulator.space.to_physical(jnp.asarray(found.coordinates)))
    guess = dict(zip(simulator.space.names, physical.tolist(), strict=True))
    spread = dict(zip(simulator.space.names, _deviations(found), strict=True))

    parameters: dict[str, dict[str, Any]] = {}
    reasons = {
        "limits": f"the motion's pace is {motion.pace:.3g} /s; a model that is fitted to its "
        f"accelerations misses {100 * found.missed:.2g} % of them"
    }
    for name in _ORDER:
        if name not in matched:
            continue
        unit = matched[name]["unit"]
        if name in scales:
            lower, upper = matched[name]["lower"], matched[name]["upper"]
            # Three deviations, which are shares of the whole box.
            factor = max(FACTOR, (upper / lower) ** min(3 * spread[name], 1.0))
            parameters[name] = log_entry(
                rounded(max(lower, guess[name] / factor)),
                rounded(min(upper, guess[name] * factor)),
                unit,
            )
            reasons[name] = f"first guess {guess[name]:.3g}"
        elif name in viscous:
            # What a moment of inertia would be stopped by, not the scale's but that found.
            upper = max(FACTOR * guess[name], FRICTION * guess["J1"] / time)
            parameters[name] = log_entry(
                rounded(upper / 10**FRICTION_DECADES), rounded(upper), unit
            )
            reasons[name] = f"first guess {guess[name]:.2g}"
        elif name in dry:
            upper = max(3 * guess[name], FRICTION * GRAVITY * guess["S1y"])
            parameters[name] = flat_entry(0.0, rounded(upper), unit)
            reasons[name] = f"first guess {guess[name]:.2g}"
        else:
            along = guess.get(f"{name[:2]}y", 1.0)
            reach = rounded(max(_LEAN * along, 3 * abs(guess[name])))
            parameters[name] = flat_entry(-reach, reach, unit)
            reasons[name] = f"first guess {guess[name]:.2g}"
    return Limits(parameters, fixed, options, reasons, {name: guess[name] for name in parameters})


# Of a double pendulum's parameters, that of the file.
_ORDER = (
    "J1", "S1x", "S1y", "friction_1", "dry_friction_1", "length", "J2", "S2x", "S2y",
    "rotor_inertia_2", "friction_2", "dry_friction_2",
)  # fmt: skip


def _deviations(found: Match) -> np.ndarray:
    """Deviation of each coordinate at the best match, 1 where nothing is said of it."""
    information = found.slopes.T @ found.slopes + np.eye(found.slopes.shape[1])
    return np.sqrt(np.diagonal(np.linalg.inv(information)))


def wide_entries(system: System, motion: Motion) -> dict[str, dict[str, Any]]:
    """Decades around the defaults of a system's parameters, but for gravity, which is known."""
    half = len(system.state) // 2
    reach: dict[str, float] = {}
    for quantity, values in zip(system.state[:half], motion.states.T, strict=False):
        reach[quantity.unit] = max(reach.get(quantity.unit, 0.0), float(np.abs(values).max()))
    wide, found = 10**_DECADES, {}
    for name, number in system.parameters.items():
        if name in _KNOWN:
            continue
        if number.positive:
            scale = number.default if number.default > 0 else 1.0
            found[name] = log_entry(scale / wide, scale * wide, number.unit)
        else:
            # A place is within the motion; anything else is not far beyond its default.
            far = rounded(max(FACTOR * abs(number.default), reach.get(number.unit, 0.0))) or 1.0
            found[name] = flat_entry(-far, far, number.unit)
    return found


def of_system(system: System, options: Mapping[str, Any], motion: Motion) -> Limits:
    """Limits around a first guess, of those parameters that the accelerations tell apart.

    The others are held at their defaults, and the guess is made again.
    """
    entries = wide_entries(system, motion)
    simulator = boxed(system.name, options, "rk4", entries)
    slopes = match(simulator.system, simulator.space, motion).slopes
    names = list(entries)
    chosen = [names[i] for i in sorted(told_apart(slopes))]
    fixed = {
        name: number.default for name, number in system.parameters.items() if name not in chosen
    }
    entries = {name: entries[name] for name in chosen}
    simulator = boxed(system.name, options, "rk4", entries, fixed)
    found = match(simulator.system, simulator.space, motion)
    guess = np.asarray(simulator.space.to_physical(jnp.asarray(found.coordinates)))
    parameters: dict[str, dict[str, Any]] = {}
    reasons = {
        "limits": "around a first guess; a model with it misses "
        f"{100 * found.missed:.2g} % of the accelerations",
        "fixed": "known, or not told apart by the motion and held at its default",
    }
    for name, value, share in zip(chosen, guess, _deviations(found), strict=True):
        lower, upper, unit = (entries[name][key] for key in ("lower", "upper", "unit"))
        if entries[name].get("scale") == "log":
            factor = max(FACTOR, (upper / lower) ** min(3 * share, 1.0))
            parameters[name] = log_entry(rounded(value / factor), rounded(value * factor), unit)
        else:
            around = max(3 * share, 1 / FACTOR) * (upper - lower) / 2
            parameters[name] = flat_entry(rounded(value - around), rounded(value + around), unit)
        reasons[name] = f"first guess {value:.3g}"
    first = dict(zip(chosen, guess.tolist(), strict=True))
    return Limits(parameters, fixed, dict(options), reasons, first)


def misses(system: System, options: Mapping[str, Any], motion: Motion) -> Callable[[Motion], float]:
    """What tells of a motion which share of its accelerations the best of a few fits misses.

    Args:
        motion: for the scales of the box.
    """
    if system.name == "double_pendulum":
        simulator = wide_box(motion, driven=bool(system.inputs)).simulator()
    else:
        simulator = boxed(system.name, options, "rk4", wide_entries(system, motion))
    fit = matcher(simulator.system, simulator.space)
    return lambda other: fit(other, _FEW).missed


def choose_limits(system: System, options: Mapping[str, Any], motion: Motion) -> Limits:
    """Limits for a double pendulum, for a robot from its file, or for another system.

    Args:
        options: with which the system was built.
    """
    if isinstance(system, Articulated):
        return of_robot(system, options, motion)
    if system.name == "double_pendulum":
        return of_double_pendulum(motion, driven=bool(system.inputs))
    return of_system(system, options, motion)
