"""Directions that the recordings leave open, in words."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from pdsim.parameters.space import ParameterSpace
from pdsim.units.conversion import unit

# A direction is open if its parts cancel but for this share of what each would change alone.
_CANCEL = 1e-6
# Deviation of a flat prior, in widths of the box: what remains of an open direction.
_PRIOR = 12**-0.5
# Of a deviation: that of which nothing was seen, and that of which little was.
_NOTHING, _LITTLE = 0.99, 0.5
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
    """Say of which directions the recordings tell nothing, and of which little.

    By the covariance (F + 12 I)⁻¹ that remains of a flat prior, mean over the points: unlike a
    mean of F it is not ruled by the point that tells most.

    Args:
        points, information: as in ``common_factor``.
    """
    told = []
    factor = common_factor(space, points, information)
    if factor:
        told.append(f"only the ratios of {', '.join(factor)}: up to one common factor")
        # The factor has been told; what else is open is at right angles to it.
        along = np.stack([mass_direction(space, point) for point in points])
        along /= np.linalg.norm(along, axis=1, keepdims=True)
        scale = 1e6 * (np.trace(information, axis1=1, axis2=2) + _PRIOR**-2)
        information = information + np.einsum("p,pi,pj->pij", scale, along, along)
    prior = np.eye(space.dimension) / _PRIOR**2
    left, axes = np.linalg.eigh(np.linalg.inv(information + prior).mean(axis=0) / _PRIOR**2)
    left = np.sqrt(np.maximum(left, 0.0))
    for axis in simplest(axes[:, left > _NOTHING]):
        told.append(f"nothing is seen of {_named(space.names, axis)}")
    for share, axis in zip(left[::-1], axes.T[::-1], strict=True):
        if _LITTLE < share <= _NOTHING:
            told.append(
                f"little is seen of {_named(space.names, axis)}: {100 * share:.0f} % of the width "
                "of the limits remains at best"
            )
    return told


def simplest(axes: np.ndarray) -> np.ndarray:
    """Directions that span the same space, each with a parameter that the others leave alone.

    Any mixture of directions of which nothing is seen is another one; these have few parts.

    Args:
        axes: (M, direction), at right angles.

    Returns:
        (direction, M), by Gauss–Jordan elimination with complete pivoting.
    """
    rows = axes.T.copy()
    for i in range(len(rows)):
        below = np.abs(rows[i:])
        place, pivot = np.unravel_index(below.argmax(), below.shape)
        rows[[i, i + place]] = rows[[i + place, i]]
        rows[i] /= rows[i, pivot]
        others = np.arange(len(rows)) != i
        rows[others] -= np.outer(rows[others, pivot], rows[i])
    return rows


def _named(names: Sequence[str], axis: np.ndarray) -> str:
    """A direction by its largest parts: these parameters, so far each in widths of its limits."""
    order = np.argsort(-np.abs(axis))
    parts = axis[order] / axis[order[0]]
    kept = [i for i, part in enumerate(parts) if abs(part) > _NAMED]
    listed = ", ".join(names[order[i]] for i in kept)
    if len(kept) == 1:
        return f"{listed} alone"
    ratios = " : ".join(f"{parts[i]:.2g}".replace("-", "−") for i in kept)
    return f"{listed} moved together by {ratios} of their limits' widths"
