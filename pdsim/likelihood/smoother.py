"""The states of shooting windows as a linear state-space model: filter, smoother, likelihood.

Window w starts at x_w. Around a guess x̄_w, with δ_w = x_w − x̄_w, its residuals (roll-out minus
recording, over the noise) are r_w + R_w δ_w, and it ends at e_w + E_w δ_w, so that

    δ_0 ~ N(m_0, P_0)    δ_{w+1} = −g_w + E_w δ_w + β_w          g_w = x̄_{w+1} − e_w
    β_0 ~ N(0, Q)        β_{w+1} = ρ β_w + √(1 − ρ²) N(0, Q)

What the observations of a window say of its start is A_w = R_wᵀR_w and b_w = R_wᵀr_w alone. With
P, X and B the covariances of δ, of δ and β, and of β, the observations change

    K = (1 + P⁻A)⁻¹    P = K P⁻    X = K X⁻    B = B⁻ − X⁻ᵀA X    d = b + A m⁻
    m = m⁻ − P d       n = n⁻ − Xᵀd                              (the means of δ and of β)

and the step to the next window

    m⁻ ← −g + E m + n    P⁻ ← E P Eᵀ + E X + Xᵀ Eᵀ + B
    n⁻ ← ρ n             X⁻ ← ρ (E X + B)              B⁻ ← ρ² B + (1 − ρ²) Q

−log p gains ½ log |1 + P⁻A| + ½ (r + R m⁻)ᵀ(1 − R P Rᵀ)(r + R m⁻) from each window (Särkkä,
Bayesian Filtering and Smoothing, 2013, ch. 4 and 8, in the form that takes a window's observations
at once). The filter carries covariances, not precisions, so that Q = 0 (the constrained problem of
Eq. 8) and P_0 = 0 (a start that is known, Sec. III) are nothing special.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from pdsim.numerics.small_matrices import inverse_and_log_determinant

# Units of the last digit to which a sum of squares is known.
_ROUNDING = 100.0


class Windows(NamedTuple):
    """Windows of one recording to first order around their guessed starts.

    Attributes:
        squares: r_wᵀr_w, (window,).
        slopes: b, (window, S).
        information: A, (window, S, S).
        gaps: g, (window − 1, S).
        transitions: E, (window − 1, S, S).
    """

    squares: jax.Array
    slopes: jax.Array
    information: jax.Array
    gaps: jax.Array
    transitions: jax.Array


class Moments(NamedTuple):
    """Of δ and β, of one window or with windows in front.

    Attributes:
        mean, push: m and n, (S,).
        covariance, crossed, pushed: P, X and B, (S, S).
    """

    mean: jax.Array
    push: jax.Array
    covariance: jax.Array
    crossed: jax.Array
    pushed: jax.Array


class Filtered(NamedTuple):
    """What the filter leaves, per window.

    Attributes:
        before, after: moments given the earlier observations, and given the window's own too.
        gain: K, (window, S, S).
        misfit: share of −2 log p that the residuals make, (window,).
        log_determinant: log |1 + P⁻A|, (window,).
    """

    before: Moments
    after: Moments
    gain: jax.Array
    misfit: jax.Array
    log_determinant: jax.Array


def run_filter(
    windows: Windows, mean: jax.Array, covariance: jax.Array, q: jax.Array, rho: jax.Array
) -> Filtered:
    """Filter the windows of one recording in order.

    Args:
        mean, covariance: m_0 (S,) and P_0 (S, S) of the first start.
        q: Q, (S, S).
        rho: ρ, a scalar.
    """
    identity = jnp.eye(len(mean), dtype=mean.dtype)
    first = Moments(mean, jnp.zeros_like(mean), covariance, jnp.zeros_like(covariance), q)

    def window(before, one):
        squares, slope, information, gap, transition = one
        pulled = slope + information @ before.mean
        gain, log_determinant = inverse_and_log_determinant(
            identity + before.covariance @ information
        )
        updated = gain @ before.covariance
        updated = (updated + updated.T) / 2
        crossed = gain @ before.crossed
        after = Moments(
            before.mean - updated @ pulled,
            before.push - pulled @ crossed,
            updated,
            crossed,
            before.pushed - before.crossed.T @ information @ crossed,
        )
        found = squares + slope @ before.mean + before.mean @ pulled
        misfit = found - pulled @ updated @ pulled
        # What was lost to rounding may be more than what is left: then nothing is known.
        lost = _ROUNDING * jnp.finfo(found.dtype).eps * found
        misfit = jnp.where((lost < 1) | (misfit > lost), misfit, jnp.nan)
        moved = transition @ crossed
        following = Moments(
            transition @ after.mean + after.push - gap,
            rho * after.push,
            transition @ updated @ transition.T + moved + moved.T + after.pushed,
            rho * (moved + after.pushed),
            rho**2 * after.pushed + (1 - rho**2) * q,
        )
        return following, Filtered(before, after, gain, misfit, log_determinant)

    # The last window's end is nobody's start.
    none = jnp.zeros_like(mean)[None], jnp.zeros_like(covariance)[None]
    gaps = jnp.concatenate([windows.gaps, none[0]])
    transitions = jnp.concatenate([windows.transitions, none[1]])
    rows = (windows.squares, windows.slopes, windows.information, gaps, transitions)
    _, filtered = jax.lax.scan(window, first, rows)
    return filtered


def smooth(windows: Windows, filtered: Filtered, rho: jax.Array) -> jax.Array:
    """Mean of δ given all observations, (window, S): the step of Gauss and Newton.

    Modified Bryson and Frazier's form, which inverts no covariance. What later windows say is λ of
    δ and μ of β; from the last window back,

        δ̂ = m − P λ − X μ    λ⁻ = Kᵀ(d + λ − A X⁻ μ)    λ ← Eᵀ λ⁻    μ ← λ⁻ + ρ μ
    """

    def window(pull, one):
        (before, after, gain, *_), slope, information, transition = one
        later, push = pull
        smoothed = after.mean - after.covariance @ later - after.crossed @ push
        right = slope + later + information @ (before.mean - before.crossed @ push)
        earlier = right @ gain
        return (earlier @ transition, earlier + rho * push), smoothed

    # From one window's pull on its start to that of the one before on its end.
    none = jnp.zeros_like(windows.information[:1])
    transitions = jnp.concatenate([none, windows.transitions])
    rows = (filtered, windows.slopes, windows.information, transitions)
    nothing = jnp.zeros_like(windows.slopes[0])
    _, smoothed = jax.lax.scan(window, (nothing, nothing), rows, reverse=True)
    return smoothed


def log_likelihood(filtered: Filtered) -> jax.Array:
    """log p of all observations but for the noise's normalisation Σ log(σ√2π)."""
    return -0.5 * (filtered.misfit.sum() + filtered.log_determinant.sum())


class Sensitivity(NamedTuple):
    """How parameters move residuals and ends of windows.

    Attributes:
        slopes: Tᵀr with T = ∂r/∂θ, (window, M).
        mixed: RᵀT, (window, S, M).
        information: TᵀT, (window, M, M).
        ends: ∂e/∂θ, (window − 1, S, M).
    """

    slopes: jax.Array
    mixed: jax.Array
    information: jax.Array
    ends: jax.Array


def eliminate(
    windows: Windows, filtered: Filtered, sensitivity: Sensitivity, rho: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Slope (M,) and Gauss–Newton second derivative (M, M) of the misfit's half in θ.

    The states are eliminated on the way: with C = RᵀT, the filter's means move with θ by M⁻ and N⁻
    before and by M = M⁻ − P (C + A M⁻), N = N⁻ − Xᵀ(C + A M⁻) after a window.
    """

    def window(carry, one):
        (before, after, *_), slope, information, transition, own = one
        moved, pushed = carry
        pulled = slope + information @ before.mean
        crossed = own.mixed + information @ moved
        kept = after.covariance @ crossed
        gradient = own.slopes + before.mean @ own.mixed + pulled @ (moved - kept)
        both = own.mixed.T @ moved
        curvature = own.information + both + both.T + moved.T @ information @ moved
        curvature = curvature - crossed.T @ kept
        pushed = pushed - after.crossed.T @ crossed
        moved = transition @ (moved - kept) + pushed + own.ends
        return (moved, rho * pushed), (gradient, curvature)

    none = jnp.zeros_like(windows.information[:1])
    nothing = jnp.zeros_like(sensitivity.mixed[0])
    rows = (
        filtered,
        windows.slopes,
        windows.information,
        jnp.concatenate([windows.transitions, none]),
        sensitivity._replace(ends=jnp.concatenate([sensitivity.ends, nothing[None]])),
    )
    _, (gradient, curvature) = jax.lax.scan(window, (nothing, nothing), rows)
    return gradient.sum(axis=0), curvature.sum(axis=0)
