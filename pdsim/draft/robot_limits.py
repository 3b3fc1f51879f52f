"""Which parameters of a robot from its file are sought, and between which limits.

Limits are around the numbers of the file. Candidates are mass, centre of mass and inertia of each
body that moves and has mass, armature and friction of each joint; of these only those are sought
that the accelerations tell apart (QR with column pivoting; Golub, Klema and Stewart, 1976). The
others stay as the file has them. Few files know their friction: where the first guess of armature
or friction comes near its limit, that is moved.
"""

import math
from collections.abc import Mapping
from typing import Any

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
from pdsim.draft.matching import Motion, match
from pdsim.rigid_body.names import key_for
from pdsim.systems.articulated import Articulated
from pdsim.systems.describe import moves

# Of joints, what a file rarely knows.
_JOINT = ("armature", "damping", "friction")


def of_robot(system: Articulated, options: Mapping[str, Any], motion: Motion) -> Limits:
    """Limits around the numbers of a robot's file, of those that the motion tells apart."""
    candidates = candidates_of(system, motion)
    simulator = boxed("articulated", options, "rk4", candidates)
    found = match(simulator.system, simulator.space, motion, starts=4)
    told = told_apart(found.slopes)
    names = list(candidates)
    chosen = [names[i] for i in sorted(told)]
    reasons = {
        "limits": "around the file's values; a model fitted to the accelerations misses "
        f"{100 * found.missed:.2g} % of them"
    }
    first = np.asarray(simulator.space.to_physical(jnp.asarray(found.coordinates)))
    for i in told:
        reasons[names[i]] = f"first guess {first[i]:.3g}"
        if names[i].endswith(_JOINT):
            candidates[names[i]] = _beyond(candidates[names[i]], float(first[i]))
    kept = tuple(target for n in names if n not in chosen for target in candidates[n]["sets"])
    guess = {name: float(first[names.index(name)]) for name in chosen}
    return Limits({n: candidates[n] for n in chosen}, {}, dict(options), reasons, guess, kept)


def _beyond(entry: Mapping[str, Any], guess: float) -> dict[str, Any]:
    """Limits of friction or armature, moved where a guess comes near the upper one."""
    if guess < entry["upper"] / 2:
        return dict(entry)
    upper = rounded(FACTOR * guess)
    return {**entry, "lower": rounded(upper / 10**FRICTION_DECADES), "upper": upper}


def candidates_of(system: Articulated, motion: Motion) -> dict[str, dict[str, Any]]:
    """Entries of all numbers that could be sought, around the file's values."""
    model, numbers = system.model, system.parameters
    found: dict[str, dict[str, Any]] = {}

    def add(name: str, entry: dict[str, Any], *sets: str) -> None:
        found[key_for(name, found)] = {**entry, "sets": list(sets)}

    weight = 0.0
    for body in (b.name for b in model.bodies[1:] if moves(model, b.name)):
        value = {name: p.default for name, p in numbers.items() if name.startswith(f"body/{body}/")}
        mass = value[f"body/{body}/mass"]
        if not mass > 0:
            # A frame, as a flange or a foot, that only marks a place.
            continue
        add(f"{body}_mass", log_entry(mass / 2, 2 * mass, "kg"), f"body/{body}/mass")
        reach = math.hypot(*(value[f"body/{body}/com/{axis}"] for axis in "xyz"))
        weight += mass * GRAVITY * max(reach, 0.01)
        for axis in "xyz":
            at = value[f"body/{body}/com/{axis}"]
            if abs(at) > 0.1 * reach:
                half = abs(at) / 2
                limits = flat_entry(rounded(at - half), rounded(at + half), "m")
                add(f"{body}_com_{axis}", limits, f"body/{body}/com/{axis}")
        for label, lower, upper, axes in _inertias(value, body):
            entry = log_entry(lower, upper, "kg m^2")
            add(f"{body}_inertia_{label}", entry, *(f"body/{body}/inertia/{a}" for a in axes))
    if system.inputs:
        weight = max(weight, float(np.sqrt((motion.inputs**2).mean())))
    inertia = weight / motion.pace**2
    for joint in (j.name for j in model.joints if j.scalar):
        for what, scale in (
            ("armature", inertia / FRICTION),
            ("damping", inertia * motion.pace),
            ("friction", weight),
        ):
            name = f"joint/{joint}/{what}"
            if name in numbers:
                upper = rounded(max(FACTOR * numbers[name].default, FRICTION * scale))
                lower = rounded(upper / 10**FRICTION_DECADES)
                add(f"{joint}_{what}", log_entry(lower, upper, numbers[name].unit), name)
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
        lower, upper = size / FACTOR, size * FACTOR
        if len(others) == 2:
            lower, upper = max(lower, abs(others[0] - others[1])), min(upper, sum(others))
        elif len(others) == 1:
            lower = max(lower, others[0] / 2)
        # Three digits a hundredth inside: what is rounded is still a body that can be.
        lower, upper = (float(f"{value:.3g}") for value in (1.01 * lower, upper / 1.01))
        if 0 < lower < upper:
            yield group[0] if len(group) < 3 else "all", lower, upper, group
