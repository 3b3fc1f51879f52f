"""Combinations that the draws determine, found from the spectrum of their covariance.

Of a few parameters at a time, with coordinates z, posterior covariance C and prior covariance P,
the weights w of

    C w = λ P w,    smallest λ

make the combination wᵀz whose spread shrank most: its deviation over the prior's is √λ. With
z = log x it is a product of powers, with z = x of one unit a weighted sum; nothing else has a
unit. Two or three parameters make one, and weights are rounded to small whole numbers where the
draws allow it, so that a person can say it.

A combination is stated only if one of its members at least is not determined alone, and if fewer of
them say much less. Of 4 to 25 parameters that have
nothing to do with each other, some combination is narrower than its parts by chance: with 20 draws
of posterior and prior down to 0.56 of them, with 50 to 0.72, with 100 to 0.8. And the weights that
are right are wider than those that fit the draws best: with 20 draws by less than 0.1 in five of
six cases, with 50 in 99 of 100. ``tests/report/test_spectrum.py`` holds both.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from pdsim.parameters.space import ParameterSpace
from pdsim.tables.verdicts import DETERMINED

# A combination is narrower than the best of fewer of its members by this factor, or not stated.
_GAIN = 0.5
# Rounding widens it by this share at most.
_WIDER = 0.1
# Parameters in one, and combinations that are told.
_TERMS, _MOST = 3, 3
# Whole numbers up to this one are tried as weights, and then, in a sum, so many digits.
_WHOLE, _DIGITS = 4, 2
# Of a combination, the share that those told before make up, above which it is no other one.
_SAME = 0.9
# Different draws below which a covariance of three parameters is noise.
_LEAST_DRAWS = 20
# Of the prior's correlations, an eigenvalue below which a direction has no width.
_ROOM = 1e-6
# Triples of more parameters are too many.
_MOST_PARAMETERS = 40


class Found(NamedTuple):
    """A combination.

    Attributes:
        text: as the experiment's section `combinations` takes it.
        spread: its deviation over the prior's.
        alone: the same of its best known member.
    """

    text: str
    spread: float
    alone: float


class _Candidate(NamedTuple):
    """Weights (M,) of the coordinates of all parameters, 0 of most, and how it is written."""

    weights: np.ndarray
    found: Found


def identified(space: ParameterSpace, draws: np.ndarray, prior: np.ndarray | None) -> list[Found]:
    """Find the combinations that are known best, the best first; none that others make up.

    Args:
        draws: of a posterior, (draw, M) physical values.
        prior: draws of the prior, or None.
    """
    if prior is None or min(len(np.unique(x, axis=0)) for x in (draws, prior)) < _LEAST_DRAWS:
        return []
    candidates: list[_Candidate] = []
    for logarithms, columns in _families(space):
        change = np.log if logarithms else np.asarray
        own, before = (np.cov(change(x[:, columns]).T) for x in (draws, prior))
        for weights, spread, alone in _narrow(own, before, 0 if logarithms else _DIGITS):
            whole = np.zeros((2, space.dimension))
            whole[int(logarithms), columns] = weights * np.sqrt(np.diagonal(before))
            names = [space.names[i] for i in columns]
            text = _product(names, weights) if logarithms else _sum(names, weights)
            candidates.append(_Candidate(whole.sum(axis=0), Found(text, spread, alone)))
    candidates.sort(key=lambda one: one.found.spread)
    return _different(candidates)


def _families(space: ParameterSpace) -> Iterator[tuple[bool, list[int]]]:
    """Parameters that can be combined: all positive ones by products, those of a unit by sums."""
    every = range(min(space.dimension, _MOST_PARAMETERS))
    positive = [i for i in every if space.parameters[i].lower > 0]
    if len(positive) > 1:
        yield True, positive
    for unit in dict.fromkeys(p.unit for p in space.parameters):
        alike = [i for i in every if space.parameters[i].unit == unit]
        if len(alike) > 1:
            yield False, alike


def _narrow(
    own: np.ndarray, before: np.ndarray, digits: int
) -> Iterator[tuple[np.ndarray, float, float]]:
    """Rounded weights (M,), spread, and that of the best member, of what is worth stating.

    Args:
        own, before: covariances of posterior and prior, (M, M).
        digits: that weights may have, beyond small whole numbers.
    """
    count = len(own)
    if not (
        np.isfinite(own).all() and np.isfinite(before).all() and (np.diagonal(before) > 0).all()
    ):
        return
    best: dict[tuple[int, ...], float] = {
        (i,): float(np.sqrt(own[i, i] / before[i, i])) for i in range(count)
    }
    for size in range(2, min(_TERMS, count) + 1):
        for members in combinations(range(count), size):
            part = np.ix_(members, members)
            spread, weights = _smallest(own[part], before[part])
            best[members] = spread
            fewer = min(best[less] for less in combinations(members, size - 1))
            alone = [best[(i,)] for i in members]
            if not spread < min(_GAIN * fewer, DETERMINED) or max(alone) < DETERMINED:
                continue
            rounded = _rounded(weights, own[part], before[part], digits)
            if rounded is None:
                continue
            spread = _spread(rounded, own[part], before[part])
            if spread < min(_GAIN * fewer, DETERMINED):
                whole = np.zeros(count)
                whole[list(members)] = rounded
                yield whole, spread, min(alone)


def _smallest(own: np.ndarray, before: np.ndarray) -> tuple[float, np.ndarray]:
    """√λ and weights of the smallest λ; ∞ where the prior itself leaves no room for one."""
    scale = np.sqrt(np.diagonal(before))
    if np.linalg.eigvalsh(before / np.outer(scale, scale))[0] < _ROOM:
        return np.inf, np.zeros(len(own))
    factor = np.linalg.cholesky(before)
    half = np.linalg.solve(factor, own)
    values, axes = np.linalg.eigh(np.linalg.solve(factor, half.T))
    return float(np.sqrt(max(values[0], 0.0))), np.linalg.solve(factor.T, axes[:, 0])


def _spread(weights: np.ndarray, own: np.ndarray, before: np.ndarray) -> float:
    return float(np.sqrt(max(weights @ own @ weights, 0.0) / (weights @ before @ weights)))


def _rounded(
    weights: np.ndarray, own: np.ndarray, before: np.ndarray, digits: int
) -> np.ndarray | None:
    """The simplest weights that widen a combination by no more than is allowed, if any do."""
    weights = weights / weights[np.argmax(np.abs(weights))]
    limit = (1 + _WIDER) * _spread(weights, own, before)
    simple = [np.round(weights * largest) for largest in range(1, _WHOLE + 1)]
    simple += [np.round(weights, places) for places in range(1, digits + 1)]
    for one in simple:
        if one.all() and _spread(one, own, before) <= limit:
            above = np.sign(one).sum()
            return -one if above < 0 or (above == 0 and one[0] < 0) else one
    return None


def _different(candidates: Sequence[_Candidate]) -> list[Found]:
    """The first few, but for those that the ones before make up."""
    told: list[Found] = []
    axes: list[np.ndarray] = []
    for candidate in candidates:
        left = candidate.weights / np.linalg.norm(candidate.weights)
        for axis in axes:
            left = left - (axis @ left) * axis
        size = float(np.linalg.norm(left))
        if 1 - size**2 > _SAME:
            continue
        told.append(candidate.found)
        axes.append(left / size)
        if len(told) == _MOST:
            break
    return told


def _product(names: Sequence[str], powers: np.ndarray) -> str:
    """Powers as arithmetic: ``a**2*b/c``."""
    above = [_power(name, p) for name, p in zip(names, powers, strict=True) if p > 0]
    below = [_power(name, -p) for name, p in zip(names, powers, strict=True) if p < 0]
    return "/".join(["*".join(above) or "1", *below])


def _power(name: str, power: float) -> str:
    return name if power == 1 else f"{name}**{power:g}"


def _sum(names: Sequence[str], weights: np.ndarray) -> str:
    """A weighted sum as arithmetic: ``a - 0.5*b``."""
    terms = [
        (weight, name if abs(weight) == 1 else f"{abs(weight):g}*{name}")
        for name, weight in zip(names, weights, strict=True)
        if weight
    ]
    terms.sort(key=lambda term: term[0] < 0)
    text = terms[0][1] if terms[0][0] > 0 else f"-{terms[0][1]}"
    return text + "".join(f" {'+' if w > 0 else '-'} {term}" for w, term in terms[1:])
