"""Independent draws from a Gaussian that is cut by a box.

With the Cholesky factor of the covariance, coordinates are drawn one after the other, each from a
Gaussian on an interval that those before it set (Geweke, Hajivassiliou and Keane). Such a draw z
has weight w(z) = density over proposal. Shifting the mean of each coordinate by μ_k changes both:

    log w = Σ_k ½ μ_k² − μ_k z_k + log P(l_k(z) − μ_k < Z < u_k(z) − μ_k),   Z ~ N(0, 1)

which is concave in z and convex in μ. At its saddle point the largest weight is as small as it can
be, and known: a draw is accepted with probability w(z)/w_max, and those accepted are exact and
independent (Botev, 2017, "The normal law under linear restrictions: simulation and estimation via
minimax tilting", J. R. Statist. Soc. B 79). Coordinates are drawn in the order of Gibson, Glasbey
and Elston (1994), the least probable interval first.
"""

import logging
from typing import NamedTuple

import numpy as np

log = logging.getLogger(__name__)

# Proposals for each draw wanted, after which draws are taken by weight.
_MOST_PROPOSALS = 1000
# Proposals at once, at most.
_BATCH = 20_000
# Rise of the log weight that is left when its saddle point counts as found.
_SADDLE = 1e-6
# Steps to it, and to the best shifts on the way.
_NEWTON_STEPS, _SHIFT_STEPS = 100, 100
# Error of such a shift: of the mean it gives, over the distance to the nearer bound.
_SHIFT_ERROR = 1e-10
# Share of the box that is left between where the search starts and a face.
_INTERIOR = 0.01


def truncated_gaussian(
    mean: np.ndarray,
    covariance: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    count: int,
    random: np.random.Generator,
) -> np.ndarray:
    """Draw (count, D) from N(mean, covariance) between ``lower`` and ``upper``.

    Where the box is so unlikely a corner that fewer than one proposal in a thousand is accepted, or
    no saddle point is found, the draws are chosen among all proposals by weight, with a warning:
    they may then repeat.

    Args:
        mean: (D,); may lie outside.
        covariance: (D, D), positive definite.
        lower, upper: (D,), finite.
    """
    tilted = _Tilted.build(covariance, lower - mean, upper - mean)
    accepted: list[np.ndarray] = []
    proposed: list[tuple[np.ndarray, np.ndarray]] = []
    found, tried, most = 0, 0, _MOST_PROPOSALS * count
    size = min(max(2 * count, 100), _BATCH)
    while found < count and tried < most:
        z, weight = tilted.propose(random.uniform(size=(len(mean), size)))
        chosen = z[np.log(random.uniform(size=size)) < weight - tilted.largest]
        accepted.append(chosen)
        proposed.append((z, weight))
        found, tried = found + len(chosen), tried + size
        if tilted.largest == np.inf and tried >= 10 * count:
            break
    if found >= count:
        z = np.concatenate(accepted)[:count]
    else:
        z, weight = (np.concatenate(part) for part in zip(*proposed, strict=True))
        weight = np.exp(weight - weight.max())
        effective = weight.sum() ** 2 / (weight**2).sum()
        log.warning(
            "the Gaussian meets little of its box: its %d draws are chosen by weight among %d, "
            "an effective %.0f",
            count,
            len(z),
            effective,
        )
        z = z[random.choice(len(z), count, p=weight / weight.sum())]
    # Rounding must not carry a draw across a face.
    return np.clip(mean + tilted.restore(z), lower, upper)


def spread_gaussian(
    mean: np.ndarray,
    covariance: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    points: np.ndarray,
) -> np.ndarray:
    """Carry points of the unit box, as Sobol's, to where N(mean, covariance) is in its own box.

    Each coordinate is a quantile given those drawn before it, which cover the Gaussian evenly; but
    for its cut they would have its distribution.

    Args:
        points: (count, D), 0 to 1.

    Returns:
        (count, D), between ``lower`` and ``upper``.
    """
    tilted = _Tilted.build(covariance, lower - mean, upper - mean)
    z, _ = tilted.propose(points.T)
    return np.clip(mean + tilted.restore(z), lower, upper)


class _Tilted(NamedTuple):
    """A proposal: coordinates in the order drawn, in units of their conditional deviations.

    Attributes:
        order: which coordinate is drawn k-th, (D,).
        deviation: of each given those before it, (D,).
        factor: Cholesky factor over ``deviation``, without its diagonal of ones, (D, D).
        lower, upper: bounds over ``deviation``, (D,).
        shift: μ, (D,).
        largest: bound of the log weights; ∞ where none is known.
    """

    order: np.ndarray
    deviation: np.ndarray
    factor: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    shift: np.ndarray
    largest: float

    @classmethod
    def build(cls, covariance: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> "_Tilted":
        """Order, factorise and shift a Gaussian of mean 0."""
        order, factor = _ordered_cholesky(covariance, lower, upper)
        deviation = np.diag(factor)
        factor = factor / deviation[:, None] - np.eye(len(order))
        lower, upper = lower[order] / deviation, upper[order] / deviation
        # A point inside, as near to the mean as one can be that is not too near to a face.
        margin = _INTERIOR * (upper - lower)
        inside = np.clip(0.0, lower + margin, upper - margin)
        inside = np.linalg.solve(factor + np.eye(len(order)), inside)
        shift, largest = _saddle(factor, lower, upper, inside)
        return cls(order, deviation, factor, lower, upper, shift, largest)

    def propose(self, levels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return z (count, D) and log weights (count,).

        Args:
            levels: of each coordinate's distribution, in the order drawn, (D, count).
        """
        count = levels.shape[1]
        z, weight = np.zeros((count, len(self.order))), np.zeros(count)
        for k, shift in enumerate(self.shift):
            before = z[:, :k] @ self.factor[k, :k] + shift
            low, high = self.lower[k] - before, self.upper[k] - before
            z[:, k] = shift + _standard(low, high, levels[k])
            weight += _moments(low, high).chance + 0.5 * shift**2 - shift * z[:, k]
        return z, weight

    def restore(self, z: np.ndarray) -> np.ndarray:
        """Map z (n, D) back to coordinates in their own order and units."""
        x = np.empty_like(z)
        x[:, self.order] = (z + z @ self.factor.T) * self.deviation
        return x


def _standard(low, high, uniform):
    """Quantiles of a standard Gaussian between bounds."""
    from scipy.special import log_ndtr, ndtri_exp

    right = low + high > 0
    a, b = np.where(right, (-high, -low), (low, high))
    with np.errstate(divide="ignore"):
        level = np.logaddexp(np.log1p(-uniform) + log_ndtr(a), np.log(uniform) + log_ndtr(b))
    z = np.clip(ndtri_exp(np.minimum(level, 0.0)), a, b)
    return np.where(right, -z, z)


def _ordered_cholesky(covariance, lower, upper) -> tuple[np.ndarray, np.ndarray]:
    """Return the order in which coordinates are drawn, and the factor in that order.

    The next is the one whose interval is least probable where those before it are at their means.
    """
    size = len(covariance)
    order, factor, mean = np.arange(size), np.zeros((size, size)), np.zeros(size)
    # Rounding may leave a variance given the others below zero.
    least = np.finfo(float).eps * np.diag(covariance)
    for k in range(size):
        rest = order[k:]
        variance = np.diag(covariance)[rest] - (factor[k:, :k] ** 2).sum(axis=1)
        deviation = np.sqrt(np.maximum(variance, least[rest]))
        centre = factor[k:, :k] @ mean[:k]
        low, high = (lower[rest] - centre) / deviation, (upper[rest] - centre) / deviation
        moments = _moments(low, high)
        pick = int(np.argmin(moments.chance))
        swap = [k, k + pick]
        order[swap], factor[swap] = order[swap[::-1]], factor[swap[::-1]]
        factor[k, k] = deviation[pick]
        later = order[k + 1 :]
        common = covariance[later, order[k]] - factor[k + 1 :, :k] @ factor[k, :k]
        factor[k + 1 :, k] = common / factor[k, k]
        mean[k] = moments.mean[pick]
    return order, factor


class _Weight(NamedTuple):
    """The log weight at z with the best shifts there, and its derivatives along z_0 … z_{D−2}.

    The last coordinate bears on no other, and neither it nor its shift is optimised.
    """

    value: float
    shift: np.ndarray
    slope: np.ndarray
    curvature: np.ndarray


def _weight(z, factor, lower, upper, shift) -> _Weight:
    """Evaluate at z, which must be inside; ``shift`` is where to look for the best."""
    low, high = lower - factor @ z, upper - factor @ z
    # The best shift is the one whose truncated Gaussian has its mean at z_k; the mean grows with
    # the shift, and is on the bound itself only for an infinite one.
    below, above = np.full_like(z, -np.inf), np.full_like(z, np.inf)
    near = np.minimum(np.minimum(z - low, high - z), 1.0)[:-1]
    for _ in range(_SHIFT_STEPS):
        moments = _moments(low - shift, high - shift)
        error = shift + moments.mean - z
        if (np.abs(error[:-1]) < _SHIFT_ERROR * near).all():
            break
        below, above = np.where(error < 0, shift, below), np.where(error > 0, shift, above)
        newton = shift - error / moments.variance
        reach = 10 * (1 + np.abs(shift))
        middle = np.where(
            np.isfinite(below) & np.isfinite(above),
            (below + above) / 2,
            shift - np.sign(error) * reach,
        )
        trusted = (newton > below) & (newton < above) & (np.abs(newton - shift) < reach)
        shift = np.where(trusted, newton, middle)
        shift[-1] = 0.0
    chance, edge, variance = _moments(low - shift, high - shift)
    inner = len(z) - 1
    # Slopes of the chances in z through the bounds, of the rest in z and in the shifts.
    slope = (factor.T @ edge - shift)[:inner]
    bent = (variance - 1)[:, None] * factor
    twice, mixed = (factor.T @ bent)[:inner, :inner], (bent - np.eye(len(z)))[:inner, :inner]
    curvature = twice - mixed.T @ (mixed / variance[:inner, None])
    value = (chance + 0.5 * shift**2 - shift * z)[:inner].sum() + chance[inner]
    return _Weight(float(value), shift, slope, curvature)


class _Moments(NamedTuple):
    """Of a standard Gaussian between bounds: log P, mean, variance."""

    chance: np.ndarray
    mean: np.ndarray
    variance: np.ndarray


def _moments(low, high) -> _Moments:
    """Moments, mirrored to the right, where Mills' ratio R keeps its digits far out.

    P = φ(a) (R(a) − exp(−(b² − a²)/2) R(b)) for bounds 0 < a < b, with φ the density.
    """
    from scipy.special import erfcx, ndtr

    left = low + high < 0
    a, b = np.where(left, (-high, -low), (low, high))
    outside = a > 0
    drop = np.exp(-0.5 * np.where(outside, (b - a) * (b + a), 0.0))
    # P over φ(a), or P itself where the interval holds the mean.
    far_a, far_b = (np.where(outside, x, 0.0) / np.sqrt(2) for x in (a, b))
    tail = np.sqrt(np.pi / 2) * (erfcx(far_a) - drop * erfcx(far_b))
    tail = np.where(outside, tail, ndtr(b) - ndtr(a))
    log_densities = -0.5 * np.stack([a, b]) ** 2 - 0.5 * np.log(2 * np.pi)
    at_a, at_b = np.where(outside, (np.ones_like(a), drop), np.exp(log_densities)) / tail
    mean = at_a - at_b
    variance = 1 - at_a * (mean - a) + at_b * (mean - b)
    return _Moments(
        np.where(outside, log_densities[0], 0.0) + np.log(tail),
        np.where(left, -mean, mean),
        np.clip(variance, np.finfo(float).tiny, 1.0),
    )


def _saddle(factor, lower, upper, z) -> tuple[np.ndarray, float]:
    """Return the shifts μ and the bound of the log weights; no shift and ∞ if none is found.

    With the best shift for each z, the weight is concave in z: Newton's steps, halved until they
    ascend, find the top from any z inside the bounds.
    """
    size = len(lower)
    inner = size - 1
    with np.errstate(all="ignore"):
        here = _weight(z, factor, lower, upper, np.zeros(size))
        for _ in range(_NEWTON_STEPS):
            if inner == 0:
                break
            step = np.zeros(size)
            step[:inner] = _solve(-here.curvature, here.slope)
            rise = here.slope @ step[:inner]
            if not np.isfinite(rise):
                return np.zeros(size), np.inf
            if rise < _SADDLE:
                break
            length = 1.0
            while length > 1e-10:
                tried = z + length * step
                inside = tried + factor @ tried
                if (inside > lower)[:inner].all() and (inside < upper)[:inner].all():
                    there = _weight(tried, factor, lower, upper, here.shift)
                    if there.value >= here.value + 0.1 * length * rise:
                        break
                length /= 2
            else:
                return np.zeros(size), np.inf
            z, here = tried, there
        else:
            return np.zeros(size), np.inf
    return here.shift, here.value


def _solve(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve with a positive definite matrix whose rows differ by many orders of magnitude."""
    scale = 1 / np.sqrt(np.maximum(np.diag(matrix), np.finfo(float).tiny))
    return scale * np.linalg.solve(matrix * np.outer(scale, scale), scale * right)
