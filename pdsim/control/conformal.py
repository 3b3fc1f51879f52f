"""How safe a sequence of inputs is under a belief: the conformal score (8).

The non-conformity of a roll-out is ρ = −min_k h(x_k). Of P roll-outs with parameters drawn from the
belief, the one of rank r = ⌈(P + 1)(1 − δ)⌉ bounds that of a further draw with probability 1 − δ
at least, whatever the distribution, if the sequence was chosen without looking at the draws:

    R = −ρ^(r),        safe where R > 0

The document's P = ⌈(1 − δ)/δ⌉, and its tables' P = 1/δ, both give r = P: the worst of all draws. A
larger P at the same δ gives a quantile.
"""

from fractions import Fraction
from math import ceil

import jax
import jax.numpy as jnp

# Beyond this many, no risk is meant.
_LARGEST_DENOMINATOR = 10**6


def _rational(risk: float) -> Fraction:
    """The fraction that is meant: 1 − 0.9 is 1/10, and not 0.09999999999999998."""
    return Fraction(risk).limit_denominator(_LARGEST_DENOMINATOR)


def sample_count(risk: float) -> int:
    """The smallest number of draws P whose worst one is a bound at risk δ: ⌈(1 − δ)/δ⌉."""
    share = _rational(risk)
    return max(ceil((1 - share) / share), 1)


def rank(count: int, risk: float) -> int | None:
    """The rank r = ⌈(P + 1)(1 − δ)⌉, from 1; None where P draws are too few for any bound.

    Args:
        count: P.
        risk: δ, in (0, 1).
    """
    r = ceil((count + 1) * (1 - _rational(risk)))
    return r if r <= count else None


def score(clearance: jax.Array, risk: float) -> jax.Array:
    """R = −ρ^(r) over the last axis.

    Args:
        clearance: (..., P) the smallest h of each roll-out, −ρ.
        risk: δ.

    Returns:
        (...): −∞ where P is too small for δ.
    """
    count = clearance.shape[-1]
    r = rank(count, risk)
    if r is None:
        return jnp.full(clearance.shape[:-1], -jnp.inf, clearance.dtype)
    if r == count:
        return clearance.min(axis=-1)
    return jnp.sort(clearance, axis=-1)[..., count - r]
