"""Which parameters are sought, and between which limits.

Of a double pendulum it is what its motion determines. The recording's pace 1/T and gravity give a
length g T², the torques, if some act, a first moment; these make a scale of every parameter. In a
box of several decades around it gradient matching finds a first guess, and the limits are a factor
of five around that, wider where the motion says little.

Of another system of the second order, as the cart with a pole, it is what the accelerations tell
apart, in decades around the defaults first, and then around a first guess.

Of a robot the limits are around the numbers of its file. Candidates are mass, centre of mass and
inertia of each body that moves, armature and friction of each joint; of these only those are sought
that the accelerations tell apart (QR with column pivoting; Golub, Klema and Stewart, 1976). The
others stay as the file has them.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from pdsim.draft.matching import Match, Motion, match, matcher
from pdsim.runtime.errors import PdsimError
from pdsim.systems.articulated import Articulated
from pdsim.systems.config import SimulatorConfig
from pdsim.systems.describe import moves
from pdsim.systems.simulator import Simulator, build_simulator
from pdsim.systems.system import System

_GRAVITY = 9.81
# Decades on either side of its scale in which a parameter is matched first.
_DECADES = 2.0
# Limits are at least so many times off the first guess.
_FACTOR = 5.0
# A centre of mass across a link, over that along it: a link's frame leans by no more.
_LEAN = 0.2
# Friction, of what would stop the motion within one T: its upper limit, and decades below it.
_FRICTION, _FRICTION_DECADES = 0.1, 4.0
# Starts of a fit of which only the quality is asked.
_FEW = 3
# Parameters that nobody looks for in a recording.
_KNOWN = ("gravity",)
# A parameter is told apart if the others leave it a deviation below this share of its limits.
_TOLD = 1.0


class Limits(NamedTuple):
    """Part of the section `simulator`.

    Attributes:
        parameters: name → entry of the section.
        fixed: values that are known.
        options: of the system.
        reasons: by name of a parameter, and `limits` for all of them.
        kept: parameters of the model that could be sought, but that the motion does not tell.
    """

    parameters: dict[str, dict[str, Any]]
    fixed: dict[str, float]
    options: dict[str, Any]
    reasons: dict[str, str]
    kept: tuple[str, ...] = ()


def _log(lower: float, upper: float, unit: str) -> dict[str, Any]:
    return {"lower": lower, "upper": upper, "unit": unit, "scale": "log"}


def _flat(lower: float, upper: float, unit: str) -> dict[str, Any]:
    return {"lower": lower, "upper": upper, "unit": unit}


def _simulator(system: str, options, integrator: str, parameters, fixed=None):
    return build_simulator(
        SimulatorConfig.model_validate(
            {
                "system": system,
                "options": dict(options),
                "integrator": integrator,
                "parameters": dict(parameters),
                "fixed": dict(fixed or {}),
            }
        )
    )


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
        return _simulator("double_pendulum", self.options, "rk4", self.entries, self.fixed)


def wide_box(motion: Motion, *, driven: bool) -> Box:
    """Decades around the scales of a double pendulum's motion.

    Args:
        driven: whether torques are known; without, everything is over S1y.
    """
    time = 1 / motion.pace
    length = _GRAVITY * time**2
    moment = 1.0
    if driven:
        moment = float(np.sqrt((motion.inputs**2).mean())) / _GRAVITY
        if not moment > 0:
            raise PdsimError(
                "the torques are 0 in all that would be learned from, so they tell nothing of "
                "masses; leave their columns out of the table, or record while the motors act"
            )
    inertia, torque = moment * length, moment * _GRAVITY
    options = {"parameters": "base", **({"motors": True} if driven else {})}
    scales = {"J1": (inertia, "kg m^2"), "length": (length, "m"), "J2": (inertia, "kg m^2"),
              "S2y": (moment, "kg m")}  # fmt: skip
    if driven:
        scales |= {"S1y": (moment, "kg m"), "rotor_inertia_2": (inertia, "kg m^2")}
    wide = 10**_DECADES
    matched: dict[str, dict[str, Any]] = {
        name: _log(scale / wide, scale * wide, unit) for name, (scale, unit) in scales.items()
    }
    matched |= {f"S{i}x": _flat(-moment, moment, "kg m") for i in (1, 2)}
    largest = inertia / time
    viscous = {f"friction_{i}": _log(1e-6 * largest, largest, "N m s") for i in (1, 2)}
    dry = {f"dry_friction_{i}": _flat(0.0, torque, "N m") for i in (1, 2)} if driven else {}
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
            factor = max(_FACTOR, (upper / lower) ** min(3 * spread[name], 1.0))
            parameters[name] = _log(
                _rounded(max(lower, guess[name] / factor)),
                _rounded(min(upper, guess[name] * factor)),
                unit,
            )
            reasons[name] = f"first guess {guess[name]:.3g}"
        elif name in viscous:
            # What a moment of inertia would be stopped by, not the scale's but that found.
            upper = max(_FACTOR * guess[name], _FRICTION * guess["J1"] / time)
            parameters[name] = _log(_rounded(upper / 10**_FRICTION_DECADES), _rounded(upper), unit)
            reasons[name] = f"first guess {guess[name]:.2g}"
        elif name in dry:
            upper = max(3 * guess[name], _FRICTION * _GRAVITY * guess["S1y"])
            parameters[name] = _flat(0.0, _rounded(upper), unit)
            reasons[name] = f"first guess {guess[name]:.2g}"
        else:
            along = guess.get(f"{name[:2]}y", 1.0)
            reach = _rounded(max(_LEAN * along, 3 * abs(guess[name])))
            parameters[name] = _flat(-reach, reach, unit)
            reasons[name] = f"first guess {guess[name]:.2g}"
    return Limits(parameters, fixed, options, reasons)


# Of a double pendulum's parameters, that of the file.
_ORDER = (
    "J1", "S1x", "S1y", "friction_1", "dry_friction_1", "length", "J2", "S2x", "S2y",
    "rotor_inertia_2", "friction_2", "dry_friction_2",
)  # fmt: skip


def _deviations(found: Match) -> np.ndarray:
    """Deviation of each coordinate at the best match, 1 where nothing is said of it."""
    information = found.slopes.T @ found.slopes + np.eye(found.slopes.shape[1])
    return np.sqrt(np.diagonal(np.linalg.inv(information)))


def _rounded(value: float) -> float:
    """Two digits."""
    return float(f"{value:.2g}")


def of_robot(system: Articulated, options: Mapping[str, Any], motion: Motion) -> Limits:
    """Limits around the numbers of a robot's file, of those that the motion tells apart."""
    candidates = _candidates(system, motion)
    simulator = _simulator("articulated", options, "rk4", candidates)
    found = match(simulator.system, simulator.space, motion, starts=4)
    told = _told_apart(found.slopes)
    names = list(candidates)
    chosen = [names[i] for i in sorted(told)]
    reasons = {
        "limits": "around the file's values; a model fitted to the accelerations misses "
        f"{100 * found.missed:.2g} % of them"
    }
    first = np.asarray(simulator.space.to_physical(found.coordinates))
    for i in told:
        reasons[names[i]] = f"first guess {first[i]:.3g}"
    kept = tuple(target for n in names if n not in chosen for target in candidates[n]["sets"])
    return Limits({n: candidates[n] for n in chosen}, {}, dict(options), reasons, kept)


def _told_apart(slopes: np.ndarray) -> list[int]:
    """Columns that are independent enough of each other, the most telling first."""
    from scipy.linalg import qr

    _, triangle, order = qr(slopes, mode="economic", pivoting=True)
    left = np.abs(np.diagonal(triangle))
    count = max(1, int(np.sum(left > 1 / _TOLD)))
    return [int(i) for i in order[:count]]


def _candidates(system: Articulated, motion: Motion) -> dict[str, dict[str, Any]]:
    model, numbers = system.model, system.parameters
    found: dict[str, dict[str, Any]] = {}

    def add(name: str, entry: dict[str, Any], *sets: str) -> None:
        found[name.replace("/", "_")] = {**entry, "sets": list(sets)}

    weight = 0.0
    for body in (b.name for b in model.bodies[1:] if moves(model, b.name)):
        value = {name: p.default for name, p in numbers.items() if name.startswith(f"body/{body}/")}
        mass = value[f"body/{body}/mass"]
        add(f"{body}_mass", _log(mass / 2, 2 * mass, "kg"), f"body/{body}/mass")
        reach = math.hypot(*(value[f"body/{body}/com/{axis}"] for axis in "xyz"))
        weight += mass * _GRAVITY * max(reach, 0.01)
        for axis in "xyz":
            at = value[f"body/{body}/com/{axis}"]
            if abs(at) > 0.1 * reach:
                half = abs(at) / 2
                limits = _flat(_rounded(at - half), _rounded(at + half), "m")
                add(f"{body}_com_{axis}", limits, f"body/{body}/com/{axis}")
        for label, lower, upper, axes in _inertias(value, body):
            entry = _log(lower, upper, "kg m^2")
            add(f"{body}_inertia_{label}", entry, *(f"body/{body}/inertia/{a}" for a in axes))
    if system.inputs:
        weight = max(weight, float(np.sqrt((motion.inputs**2).mean())))
    inertia = weight / motion.pace**2
    for joint in (j.name for j in model.joints if j.scalar):
        for what, scale in (
            ("armature", inertia / _FRICTION),
            ("damping", inertia * motion.pace),
            ("friction", weight),
        ):
            name = f"joint/{joint}/{what}"
            if name in numbers:
                upper = _rounded(max(_FACTOR * numbers[name].default, _FRICTION * scale))
                lower = _rounded(upper / 10**_FRICTION_DECADES)
                add(f"{joint}_{what}", _log(lower, upper, numbers[name].unit), name)
    return found


def _inertias(value: Mapping[str, float], body: str):
    """Label, limits and axes of the principal inertias that can change alone, or by two or three.

    Those that are alike in the file stay alike; none may exceed the sum of the two others.
    """
    axes = ("xx", "yy", "zz")
    own = {axis: value[f"body/{body}/inertia/{axis}"] for axis in axes}
    groups: list[list[str]] = []
    for axis in axes:
        alike = [g for g in groups if math.isclose(own[g[0]], own[axis], rel_tol=0.01)]
        if alike:
            alike[0].append(axis)
        else:
            groups.append([axis])
    for group in groups:
        size = own[group[0]]
        others = [own[axis] for axis in axes if axis not in group]
        lower, upper = size / _FACTOR, size * _FACTOR
        if len(others) == 2:
            lower, upper = max(lower, abs(others[0] - others[1])), min(upper, sum(others))
        elif len(others) == 1:
            lower = max(lower, others[0] / 2)
        # A hundredth inside, so that rounding leaves a body that can be.
        lower, upper = 1.01 * lower, upper / 1.01
        if 0 < lower < upper:
            yield group[0] if len(group) < 3 else "all", lower, upper, group


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
            found[name] = _log(scale / wide, scale * wide, number.unit)
        else:
            # A place is within the motion; anything else is not far beyond its default.
            far = _rounded(max(_FACTOR * abs(number.default), reach.get(number.unit, 0.0))) or 1.0
            found[name] = _flat(-far, far, number.unit)
    return found


def of_system(system: System, options: Mapping[str, Any], motion: Motion) -> Limits:
    """Limits around a first guess, of those parameters that the accelerations tell apart.

    The others are held at their defaults, and the guess is made again.
    """
    entries = wide_entries(system, motion)
    simulator = _simulator(system.name, options, "rk4", entries)
    slopes = match(simulator.system, simulator.space, motion).slopes
    names = list(entries)
    chosen = [names[i] for i in sorted(_told_apart(slopes))]
    fixed = {
        name: number.default for name, number in system.parameters.items() if name not in chosen
    }
    entries = {name: entries[name] for name in chosen}
    simulator = _simulator(system.name, options, "rk4", entries, fixed)
    found = match(simulator.system, simulator.space, motion)
    guess = np.asarray(simulator.space.to_physical(found.coordinates))
    parameters: dict[str, dict[str, Any]] = {}
    reasons = {
        "limits": "around a first guess; a model with it misses "
        f"{100 * found.missed:.2g} % of the accelerations",
        "fixed": "known, or not told apart by the motion and held at its default",
    }
    for name, value, share in zip(chosen, guess, _deviations(found), strict=True):
        lower, upper, unit = (entries[name][key] for key in ("lower", "upper", "unit"))
        if entries[name].get("scale") == "log":
            factor = max(_FACTOR, (upper / lower) ** min(3 * share, 1.0))
            parameters[name] = _log(_rounded(value / factor), _rounded(value * factor), unit)
        else:
            around = max(3 * share, 1 / _FACTOR) * (upper - lower) / 2
            parameters[name] = _flat(_rounded(value - around), _rounded(value + around), unit)
        reasons[name] = f"first guess {value:.3g}"
    return Limits(parameters, fixed, dict(options), reasons)


def misses(system: System, options: Mapping[str, Any], motion: Motion) -> Callable[[Motion], float]:
    """What tells of a motion which share of its accelerations the best of a few fits misses.

    Args:
        motion: for the scales of the box.
    """
    if system.name == "double_pendulum":
        simulator = wide_box(motion, driven=bool(system.inputs)).simulator()
    else:
        simulator = _simulator(system.name, options, "rk4", wide_entries(system, motion))
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
