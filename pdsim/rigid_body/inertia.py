"""Other coordinates of a body than its mass, centre of mass c and inertia about that centre.

**consistent**. A body's mass, first moment h = m c and second moment Σ = ∫ x xᵀ dm about its
frame's origin make up the pseudo-inertia (Wensing, Kim and Slotine, 2018)

    J = [[Σ, h], [hᵀ, m]]

which is positive definite for every body that has mass everywhere, and for no other. With
J = U Uᵀ and (Rucker and Wensing, 2022)

    U = e^α [[e^d1, s12, s13, t1], [0, e^d2, s23, t2], [0, 0, e^d3, t3], [0, 0, 0, 1]]

any ten numbers α, d, s, t are a body: m = e^2α, c = t.

**linear**. The equation of motion is linear in mass, first moment h and inertia about the frame's
origin, I° = I + m (|c|² 1 − c cᵀ) (Atkeson, An and Hollerbach, 1986). What motion determines of a
body and what it leaves open are therefore straight here: a Gaussian can follow the one along the
other, where with c and I a ridge of equivalent bodies is curved.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from pdsim.rigid_body.model import AXES, INERTIA
from pdsim.rigid_body.vectors import is_zero, known
from pdsim.runtime.errors import PdsimError

CHOLESKY = ("alpha", "d1", "d2", "d3", "s12", "s13", "s23", "t1", "t2", "t3")
_OWN = ("mass", *(f"com/{a}" for a in AXES), *(f"inertia/{e}" for e in INERTIA))
# What rounding may leave of a second moment that is 0, over the trace of the inertia.
_ROUNDING = 1e-9
LINEAR = ("mass", *(f"moment/{a}" for a in AXES), *(f"origin_inertia/{e}" for e in INERTIA))


def to_cholesky(numbers: Mapping[str, float], body: str) -> dict[str, float]:
    """The ten coordinates of a body, by name.

    Raises:
        PdsimError: no body with a volume has such numbers.
    """
    prefix = f"body/{body}"
    mass = numbers[f"{prefix}/mass"]
    c = np.array([numbers[f"{prefix}/com/{a}"] for a in AXES])
    xx, yy, zz, xy, xz, yz = (numbers[f"{prefix}/inertia/{e}"] for e in INERTIA)
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    central = 0.5 * np.trace(inertia) * np.eye(3) - inertia
    if mass <= 0 or np.linalg.eigvalsh(central).min() <= 0:
        raise PdsimError(
            f"simulator.options.consistent: {body} has a mass of {mass:g} kg and an inertia that "
            "no body with a volume has: the mass must be above 0, and each principal inertia below "
            f"the sum of the two others; mend the file, or leave {body} out"
        )
    # With t = c, U's upper block is that of the central moment over the mass, by its last column
    # first: an upper triangle.
    flip = np.eye(3)[::-1]
    upper = flip @ np.linalg.cholesky(flip @ (central / mass) @ flip) @ flip
    values = [
        0.5 * np.log(mass),
        *np.log(np.diag(upper)),
        upper[0, 1], upper[0, 2], upper[1, 2],
        *c,
    ]  # fmt: skip
    return {f"{prefix}/cholesky/{k}": float(v) for k, v in zip(CHOLESKY, values, strict=True)}


def from_cholesky(numbers: Mapping[str, Any], body: str) -> dict[str, Any]:
    """Mass, centre of mass and inertia of a body by name, from its ten coordinates."""
    prefix = f"body/{body}"
    alpha, d1, d2, d3, s12, s13, s23, *t = (numbers[f"{prefix}/cholesky/{k}"] for k in CHOLESKY)
    # Constants stay constants.
    mass, e1, e2, e3 = (math.exp(x) if known(x) else jnp.exp(x) for x in (2 * alpha, d1, d2, d3))
    xx = mass * (e1 * e1 + s12 * s12 + s13 * s13)
    yy = mass * (e2 * e2 + s23 * s23)
    zz = mass * e3 * e3
    xy = mass * (s12 * e2 + s13 * s23)
    xz, yz = mass * s13 * e3, mass * s23 * e3
    values = (mass, *t, yy + zz, xx + zz, xx + yy, -xy, -xz, -yz)
    return {f"{prefix}/{name}": value for name, value in zip(_OWN, values, strict=True)}


def to_linear(numbers: Mapping[str, float], body: str) -> dict[str, float]:
    """Mass [kg], first moment [kg m] and inertia about the frame's origin [kg m²], by name."""
    prefix = f"body/{body}"
    mass, *rest = (numbers[f"{prefix}/{name}"] for name in _OWN)
    c, inertia = rest[:3], rest[3:]
    values = (mass, *(mass * x for x in c), *_shifted(inertia, c, mass))
    return {f"{prefix}/{k}": float(v) for k, v in zip(LINEAR, values, strict=True)}


def from_linear(numbers: Mapping[str, Any], body: str) -> dict[str, Any]:
    """Mass, centre of mass and inertia about it, by name.

    Raises:
        PdsimError: the mass is known to be 0.
    """
    prefix = f"body/{body}"
    mass, *rest = (numbers[f"{prefix}/{name}"] for name in LINEAR)
    check_has_mass(mass, body)
    c, inertia = [h / mass for h in rest[:3]], rest[3:]
    values = (mass, *c, *_shifted(inertia, c, -mass))
    return {f"{prefix}/{name}": value for name, value in zip(_OWN, values, strict=True)}


def check_has_mass(mass: Any, body: str) -> None:
    """Refuse a body without mass, which has no centre.

    Raises:
        PdsimError: the mass is known to be 0.
    """
    if is_zero(mass):
        raise PdsimError(
            f"simulator.options.linear: the mass of {body} is 0, and it has no centre then; fix "
            f"body/{body}/mass, seek it, or leave {body} out"
        )


def _shifted(inertia, c, mass):
    """Entries of I + m (|c|² 1 − c cᵀ), in the order of ``INERTIA``."""
    x, y, z = c
    away = (y * y + z * z, x * x + z * z, x * x + y * y, -x * y, -x * z, -y * z)
    return [entry + mass * more for entry, more in zip(inertia, away, strict=True)]


# Kind of coordinates → a body's from its own numbers, and back.
COORDINATES = {"consistent": (to_cholesky, from_cholesky), "linear": (to_linear, from_linear)}


def is_coordinate(name: str) -> bool:
    """Whether a number is a coordinate that a body's own numbers are made of."""
    return name.startswith("body/") and name.split("/")[2] in (
        "cholesky",
        "moment",
        "origin_inertia",
    )


def consistent(numbers: Mapping[str, Any], body: str):
    """Whether a body can have its mass and inertia: the central second moment is positive.

    A known inertia may be that of a point, a rod or a plate, whose second moment is only not
    negative: the file gave it.
    """
    prefix = f"body/{body}"
    entries = [numbers[f"{prefix}/inertia/{e}"] for e in INERTIA]
    if known(*entries):
        return (numbers[f"{prefix}/mass"] > 0) & _possible(entries)
    xx, yy, zz, xy, xz, yz = entries
    a, b, c = (yy + zz - xx) / 2, (xx + zz - yy) / 2, (xx + yy - zz) / 2
    second = a * b - xy * xy
    third = a * (b * c - yz * yz) - xy * (xy * c + yz * xz) - xz * (xy * yz + b * xz)
    return (numbers[f"{prefix}/mass"] > 0) & (a > 0) & (second > 0) & (third > 0)


def _possible(entries: Sequence[float]) -> bool:
    """Whether a body can have these entries of its inertia, known numbers."""
    xx, yy, zz, xy, xz, yz = (float(entry) for entry in entries)
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    trace = np.trace(inertia)
    return bool(np.linalg.eigvalsh(trace / 2 * np.eye(3) - inertia)[0] >= -_ROUNDING * trace)


def known_body(numbers: Mapping[str, Any], body: str) -> bool:
    """Whether its mass and inertia are known while a program is traced."""
    names = ("mass", *(f"inertia/{e}" for e in INERTIA))
    return known(*(numbers[f"body/{body}/{name}"] for name in names))
