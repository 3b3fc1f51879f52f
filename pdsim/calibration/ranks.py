"""Ranks of true parameters among draws of their posteriors, and what they say.

If truth θ and data y come from the joint density and θ¹ … θᴸ are independent draws from p(θ | y),
the rank r = #{θˡ < θ} is uniform on 0 … L (Talts et al., 2018). Of n data sets, the share with a
rank below k then has the mean k/(L + 1), and n times it is binomial. A band holds all of these
shares at once with a given probability: pointwise intervals whose level γ is lowered until they do
(Säilynoja, Bürkner and Vehtari, 2022), here by simulation of uniform ranks.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

# Simulated sets of uniform ranks that the level is taken from.
_SIMULATIONS = 20_000
# Bins of the chi-square test, at most, and ranks expected in each, at least.
_BINS, _EXPECTED = 20, 5


def rank(
    truth: np.ndarray,
    draws: np.ndarray,
    count: int,
    random: np.random.Generator,
    *,
    chains: bool = False,
) -> np.ndarray:
    """Rank each true parameter among ``count`` of the draws, (M,); ties are broken at random.

    Args:
        truth: (M,).
        draws: (draw, M), ``count`` or more.
        chains: whether the draws are chain by chain: then they are thinned evenly, so that those
            kept are as far apart as can be; else they are chosen at random.
    """
    if chains:
        chosen = np.round(np.linspace(0, len(draws) - 1, count)).astype(int)
    else:
        chosen = random.choice(len(draws), count, replace=False)
    kept = draws[chosen]
    below, ties = (kept < truth).sum(axis=0), (kept == truth).sum(axis=0)
    return below + random.integers(0, ties + 1)


def ecdf_difference(ranks: np.ndarray, count: int) -> np.ndarray:
    """Share of ranks (n,) below k less k/(L + 1), of k = 1 … L, (L,).

    Args:
        count: L, the draws that each truth was ranked among.
    """
    places = np.arange(1, count + 1)
    return (ranks[:, None] < places).mean(axis=0) - places / (count + 1)


class Band(NamedTuple):
    """A simultaneous band of ``ecdf_difference``.

    Attributes:
        level: γ, one minus the share that each pointwise interval holds.
        lower, upper: (L,), both inside.
    """

    level: float
    lower: np.ndarray
    upper: np.ndarray

    def holds(self, difference: np.ndarray) -> bool:
        """Whether a difference (L,) is nowhere outside."""
        digits = 1e-9
        inside = (difference >= self.lower - digits) & (difference <= self.upper + digits)
        return bool(inside.all())


@lru_cache
def band(number: int, count: int, share: float = 0.95) -> Band:
    """Return the band that holds the differences of ``number`` uniform ranks with ``share``.

    With c_k of them below k, the pointwise two-sided p-value is 2 min(P(X ≤ c_k), P(X ≥ c_k)), X
    binomial. γ is the quantile of its minimum over k; the same random numbers every time.

    Args:
        count: L; ranks are 0 … L.
    """
    from scipy import stats

    places = np.arange(1, count + 1)
    share_below = (places / (count + 1))[:, None]
    counts = np.arange(number + 1)
    below = stats.binom.cdf(counts, number, share_below)
    above = stats.binom.sf(counts - 1, number, share_below)
    p_value = np.minimum(2 * np.minimum(below, above), 1.0)
    random = np.random.default_rng(0)
    cells = random.multinomial(number, np.full(count + 1, 1 / (count + 1)), size=_SIMULATIONS)
    simulated = np.cumsum(cells, axis=1)[:, :-1]
    least = np.sort(p_value[places - 1, simulated].min(axis=1))
    level = least[int((1 - share) * _SIMULATIONS)]
    inside = p_value >= level
    lowest = inside.argmax(axis=1)
    highest = number - inside[:, ::-1].argmax(axis=1)
    expected = places / (count + 1)
    return Band(float(level), lowest / number - expected, highest / number - expected)


def histogram(ranks: np.ndarray, count: int, bins: int) -> np.ndarray:
    """Count ranks (n,) of 0 … ``count`` in equal bins; ``bins`` divides ``count`` + 1."""
    return np.bincount(ranks * bins // (count + 1), minlength=bins)


def bin_count(number: int, count: int) -> int:
    """Number of equal bins for ``number`` ranks of 0 … ``count``, each expected to hold some."""
    most = max(min(_BINS, number // _EXPECTED), 2)
    return max((b for b in range(2, most + 1) if (count + 1) % b == 0), default=count + 1)


class Summary(NamedTuple):
    """What the ranks of one parameter say.

    Attributes:
        inside: whether they are nowhere outside the band.
        deviation: largest |share below k − k/(L + 1)|.
        p_value: of the chi-square test that bins are equally full.
        mean: of (r + ½)/(L + 1); ½ if neither too low nor too high draws prevail. Below ½ draws
            are too high.
        spread: root mean square of r − L/2 over that of uniform ranks; above 1 draws are too
            narrow, below 1 too wide.
    """

    inside: bool
    deviation: float
    p_value: float
    mean: float
    spread: float


def summarise(ranks: np.ndarray, count: int) -> Summary:
    """Summarise the ranks (n,) of one parameter among ``count`` draws."""
    from scipy import stats

    difference = ecdf_difference(ranks, count)
    cells = histogram(ranks, count, bin_count(len(ranks), count))
    uniform = np.sqrt(((count + 1) ** 2 - 1) / 12)
    about = np.sqrt(np.mean((ranks - count / 2) ** 2))
    return Summary(
        band(len(ranks), count).holds(difference),
        float(np.abs(difference).max()),
        float(stats.chisquare(cells).pvalue),
        float((ranks.mean() + 0.5) / (count + 1)),
        float(about / uniform),
    )
