"""Directions that the recordings leave open, in words."""

import jax
import jax.numpy as jnp
import numpy as np

from pdsim.parameters import ParameterSpace
from pdsim.recordings.units import unit

# A direction is open if its parts cancel but for this share of what each would change alone.
_CANCEL = 1e-6
# Deviation of a flat prior, in widths of the box: what remains of an open direction.
_PRIOR = 12**-0.5
# Parts of a direction that are named, over the largest.
_NAMED = 0.2
# Place of the kilogram among a unit's dimensions.
_MASS = 0


def mass_exponents(space: ParameterSpace) -> np.ndarray:
    """Power of the kilogram in each parameter's unit, (M,)."""
    return np.array([unit(p.unit).dimension[_MASS] for p in space.parameters], float)


def mass_direction(space: ParameterSpace, point: np.ndarray) -> np.ndarray:
    """Where all that has a mass in its unit goes when masses grow, per unit of log mass, (M,)."""
    u = jnp.asarray(point)
    physical, slope = jax.jvp(space.to_physical, (u,), (jnp.ones_like(u),))
    return mass_exponents(space) * np.asarray(physical) / np.asarray(slope)


def common_factor(space: ParameterSpace, points: np.ndarray, information: np.ndarray) -> list[str]:
    """Parameters that a common factor changes without any effect, at every point; else none.

    Args:
        points: (point, M) unit coordinates.
        information: (point, M, M), finite.
    """
    for point, matrix in zip(points, information, strict=True):
        v = mass_direction(space, point)
        alone = float(v**2 @ np.diagonal(matrix))
        if not v.any() or not v @ matrix @ v <= _CANCEL * alone:
            return []
    exponents = mass_exponents(space)
    return [p.name for p, e in zip(space.parameters, exponents, strict=True) if e]


def open_directions(
    space: ParameterSpace, points: np.ndarray, information: np.ndarray
) -> list[str]:
    """Say what the recordings leave open, the median over the points.

    Args:
        points, information: as in ``common_factor``.
    """
    told = []
    factor = common_factor(space, points, information)
    if factor:
        told.append(f"only the ratios of {', '.join(factor)}: up to one common factor")
    mean = np.median(information, axis=0)
    if factor:
        # The factor has been told; what else is open is at right angles to it.
        v = np.mean([mass_direction(space, point) for point in points], axis=0)
        mean = mean + np.outer(v, v) / (v @ v) * np.trace(mean)
    values, axes = np.linalg.eigh(mean)
    for value, axis in zip(values, axes.T, strict=True):
        if value * _PRIOR**2 < 1:
            largest = np.abs(axis).max()
            parts = [
                f"{'+' if part > 0 else '−'}{abs(part):.2f} {name}"
                for name, part in zip(space.names, axis, strict=True)
                if abs(part) > _NAMED * largest
            ]
            told.append(f"what moves along {' '.join(parts)} (in widths of the limits)")
    return told
