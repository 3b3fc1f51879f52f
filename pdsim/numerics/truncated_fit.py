"""The Gaussian that, cut by a box, has given moments.

Draws of a posterior that its limits cut are less wide than the Gaussian behind them, and their mean
lies further inside: the Gaussian of their own moments, cut again, would claim what nobody observed.
Of a parameter that a recording leaves open, with draws all over its range, it would make a hump of
two thirds of their variance. What has the greatest likelihood has, once cut, the draws' mean m and
covariance S. With m_k and S_k the moments of the k-th guess, which are those of many of its draws,
the precision P and the slope g of the log density at m follow

    P ← P + ½ (S⁻¹ − S_k⁻¹)        g ← g + ½ S_k⁻¹ (m − m_k)        mean = m + P⁻¹ g

which is at rest where both agree, and there at once where nothing is cut. A density that rises
towards both limits, or falls off faster than an exponential one, would need a P that is not
positive: that is held above a hundredth of S⁻¹.
"""

import logging

import numpy as np

from pdsim.numerics.truncated_gaussian import truncated_gaussian

log = logging.getLogger(__name__)

# Draws of each guess, guesses at most, and the step from one to the next.
_DRAWS, _STEPS, _STEP = 8000, 60, 0.5
# Least precision along any direction, over that of the draws.
_LEAST = 0.01
# Share of the uncut Gaussian beyond the box for which no cut is taken into account.
_UNCUT = 1e-3
# Errors of mean and covariance, in units of the draws' own, that end the search, and that are told.
_CLOSE, _FAR = 0.02, 0.25


def truncated_fit(
    mean: np.ndarray, covariance: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and covariance of the Gaussian whose part in a box has these moments.

    A part that cannot be that of any Gaussian is matched in its mean, and told.

    Args:
        mean: of the part (D,), inside the box.
        covariance: of the part (D, D), positive definite.
        lower, upper: (D,), finite.
    """
    random = np.random.default_rng(0)
    uncut = random.multivariate_normal(mean, covariance, size=_DRAWS, method="cholesky")
    if ((uncut < lower) | (uncut > upper)).any(axis=1).mean() < _UNCUT:
        return mean, covariance
    values, axes = np.linalg.eigh(covariance)
    root, whiten = (axes * np.sqrt(values)) @ axes.T, (axes / np.sqrt(values)) @ axes.T
    wanted = np.linalg.inv(covariance)
    centre, precision = mean, wanted
    for _ in range(_STEPS):
        draws = truncated_gaussian(
            centre, np.linalg.inv(precision), lower, upper, _DRAWS, np.random.default_rng(0)
        )
        found, spread = draws.mean(axis=0), np.cov(draws, rowvar=False).reshape(covariance.shape)
        off = np.abs(whiten @ (found - mean)).max()
        apart = np.abs(whiten @ spread @ whiten - np.eye(len(mean))).max()
        if max(off, apart) < _CLOSE:
            break
        slope = precision @ (centre - mean) + _STEP * np.linalg.solve(spread, mean - found)
        raised = precision + _STEP * (wanted - np.linalg.inv(spread))
        values, axes = np.linalg.eigh(root @ raised @ root)
        precision = whiten @ ((axes * np.maximum(values, _LEAST)) @ axes.T) @ whiten
        centre = mean + np.linalg.solve(precision, slope)
    if max(off, apart) > _FAR:
        log.warning(
            "no Gaussian cut by the limits has the moments of these draws: the mean of the nearest "
            "is off by %.2g of their deviations, its variance along some direction by %.0f %%",
            off,
            100 * apart,
        )
    return centre, np.linalg.inv(precision)
