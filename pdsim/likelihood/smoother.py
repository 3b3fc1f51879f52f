"""The states of shooting windows as a linear state-space model: filter, smoother, likelihood.

Window w starts at x_w. Around a guess x̄_w, with δ_w = x_w − x̄_w, its residuals (roll-out minus
recording, over the noise) are r_w + R_w δ_w, and it ends at e_w + E_w δ_w, so that

    δ_0 ~ N(m_0, P_0)        δ_{w+1} = −g_w + E_w δ_w + N(0, Q)        g_w = x̄_{w+1} − e_w

What the observations of a window say of its start is A_w = R_wᵀR_w and b_w = R_wᵀr_w alone. The
filter carries covariances, not precisions, so that Q = 0 (the constrained problem of Eq. 8) and
P_0 = 0 (a start that is known, Sec. III) are nothing special:

    G = 1 + P⁻A      P = G⁻¹P⁻      m = m⁻ − P (b + A m⁻)
    m⁻ ← −g + E m    P⁻ ← E P Eᵀ + Q

and −log p gains ½ log |G| + ½ (r + R m⁻)ᵀ(1 − R P Rᵀ)(r + R m⁻) from each window (Särkkä, Bayesian
Filtering and Smoothing, 2013, ch. 4 and 8, in the form that takes a window's observations at once).
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp


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


class Filtered(NamedTuple):
    """What the filter leaves, per window.

    Attributes:
        mean, covariance: of δ_w given its and all earlier observations, (window, S) and
            (window, S, S).
        predicted_mean, predicted_covariance: given the earlier ones alone.
        misfit: share of −2 log p that the residuals make, (window,).
        log_determinant: log |G|, (window,).
    """

    mean: jax.Array
    covariance: jax.Array
    predicted_mean: jax.Array
    predicted_covariance: jax.Array
    misfit: jax.Array
    log_determinant: jax.Array


def run_filter(windows: Windows, mean: jax.Array, covariance: jax.Array, q: jax.Array) -> Filtered:
    """Filter the windows of one recording in order.

    Args:
        mean, covariance: m_0 (S,) and P_0 (S, S) of the first start.
        q: Q, (S, S).
    """
    identity = jnp.eye(len(mean), dtype=mean.dtype)

    def window(carry, one):
        m, p = carry
        squares, slope, information, gap, transition = one
        pulled = slope + information @ m
        g = identity + p @ information
        solved = jnp.linalg.solve(g, jnp.concatenate([p, (p @ pulled)[:, None]], axis=1))
        updated, step = solved[:, :-1], solved[:, -1]
        updated = (updated + updated.T) / 2
        misfit = squares + slope @ m + m @ pulled - pulled @ step
        after = m - step
        following = (transition @ after - gap, transition @ updated @ transition.T + q)
        _, log_determinant = jnp.linalg.slogdet(g)
        return following, Filtered(after, updated, m, p, misfit, log_determinant)

    # The last window's end is nobody's start.
    none = jnp.zeros_like(mean)[None], jnp.zeros_like(covariance)[None]
    gaps = jnp.concatenate([windows.gaps, none[0]])
    transitions = jnp.concatenate([windows.transitions, none[1]])
    rows = (windows.squares, windows.slopes, windows.information, gaps, transitions)
    _, filtered = jax.lax.scan(window, (mean, covariance), rows)
    return filtered


def smooth(windows: Windows, filtered: Filtered) -> jax.Array:
    """Mean of δ given all observations, (window, S): the step of Gauss and Newton.

    Modified Bryson and Frazier's form, which inverts no covariance: from the last window back,

        δ̂ = m − P λ⁺    λ⁻ = (1 + A P⁻)⁻¹ (b + A m⁻ + λ⁺)    λ⁺ ← Eᵀ λ⁻
    """
    identity = jnp.eye(filtered.mean.shape[-1], dtype=filtered.mean.dtype)

    def window(pull, one):
        mean, covariance, predicted_mean, predicted, slope, information, transition = one
        pull = transition.T @ pull
        smoothed = mean - covariance @ pull
        right = slope + information @ predicted_mean + pull
        return jnp.linalg.solve(identity + information @ predicted, right), smoothed

    none = jnp.zeros_like(windows.information[:1])
    rows = (
        filtered.mean,
        filtered.covariance,
        filtered.predicted_mean,
        filtered.predicted_covariance,
        windows.slopes,
        windows.information,
        jnp.concatenate([windows.transitions, none]),
    )
    _, smoothed = jax.lax.scan(window, jnp.zeros_like(filtered.mean[0]), rows, reverse=True)
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
    windows: Windows, filtered: Filtered, sensitivity: Sensitivity
) -> tuple[jax.Array, jax.Array]:
    """Slope (M,) and Gauss–Newton second derivative (M, M) of the misfit's half in θ.

    The states are eliminated on the way: the filter's mean moves with θ by M⁻ before and by
    M = M⁻ − P (C + A M⁻) after a window, C = RᵀT.
    """

    def window(moved, one):
        predicted, covariance, slope, information, transition, *own = one
        own_slope, mixed, own_information, end = own
        pulled = slope + information @ predicted
        crossed = mixed + information @ moved
        kept = covariance @ crossed
        gradient = own_slope + mixed.T @ predicted + moved.T @ pulled - kept.T @ pulled
        both = mixed.T @ moved
        curvature = own_information + both + both.T + moved.T @ information @ moved
        curvature = curvature - crossed.T @ kept
        return transition @ (moved - kept) + end, (gradient, curvature)

    none = jnp.zeros_like(windows.information[:1])
    rows = (
        filtered.predicted_mean,
        filtered.covariance,
        windows.slopes,
        windows.information,
        jnp.concatenate([windows.transitions, none]),
        sensitivity.slopes,
        sensitivity.mixed,
        sensitivity.information,
        jnp.concatenate([sensitivity.ends, jnp.zeros_like(sensitivity.mixed[:1])]),
    )
    _, (gradient, curvature) = jax.lax.scan(window, jnp.zeros_like(sensitivity.mixed[0]), rows)
    return gradient.sum(axis=0), curvature.sum(axis=0)
