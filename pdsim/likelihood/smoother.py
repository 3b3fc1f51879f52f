"""The states of shooting windows as a linear state-space model: filter, smoother, likelihood.

Window w starts at x_w. Around a guess x̄_w, with δ_w = x_w − x̄_w, its residuals (roll-out minus
recording, over the noise) are r_w + R_w δ_w, and it ends at e_w + E_w δ_w, so that

    δ_0 ~ N(m_0, P_0)    δ_{w+1} = −g_w + E_w δ_w + K_w β_w      g_w = x̄_{w+1} − e_w
    β_0 ~ N(0, Q)        β_{w+1} = ρ β_w + √(1 − ρ²) N(0, Q)

K_w is 1 unless ``Windows`` has ``kicks``. What the observations of a window say of its start is
A_w = R_wᵀR_w and b_w = R_wᵀr_w alone. With P, X and B the covariances of δ, of δ and β, and of β,
the observations change

    C = (1 + P⁻A)⁻¹    P = C P⁻    X = C X⁻    B = B⁻ − X⁻ᵀA X    d = b + A m⁻
    m = m⁻ − P d       n = n⁻ − Xᵀd                              (the means of δ and of β)

and the step to the next window

    m⁻ ← −g + E m + K n    P⁻ ← E P Eᵀ + E X Kᵀ + K Xᵀ Eᵀ + K B Kᵀ
    n⁻ ← ρ n               X⁻ ← ρ (E X + K B)          B⁻ ← ρ² B + (1 − ρ²) Q

−log p gains ½ log |1 + P⁻A| + ½ (r + R m⁻)ᵀ(1 − R P Rᵀ)(r + R m⁻) from each window (Särkkä,
Bayesian Filtering and Smoothing, 2013, ch. 4 and 8, in the form that takes a window's observations
at once). The filter carries covariances, not precisions, so that Q = 0 (the constrained problem of
Eq. 8) and P_0 = 0 (a start that is known, Sec. III) are nothing special. P and B are kept
symmetric: what rounding makes of them otherwise grows from window to window where pushes are large
beside the sensors' noise.

Many recordings and particles are filtered at once: behind the shapes below come the batch's axes,
the same everywhere (``pdsim.numerics.small_matrices``).
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from pdsim.numerics.small_matrices import (
    applied,
    diagonal,
    inverse_and_log_determinant,
    product,
    transposed,
)

# Units of the last digit to which a sum of squares is known, and how far below 0 rounding may put
# the logarithm of a determinant that is no less than 1.
_ROUNDING, _DETERMINANT = 100.0, 1e-3


class Windows(NamedTuple):
    """Windows of a recording to first order around their guessed starts.

    Attributes:
        squares: r_wᵀr_w, (window,).
        slopes: b, (window, S).
        information: A, (window, S, S).
        gaps: g, (window − 1, S).
        transitions: E, (window − 1, S, S).
        kicks: K, (window − 1, S, S); None: they are 1.
    """

    squares: jax.Array
    slopes: jax.Array
    information: jax.Array
    gaps: jax.Array
    transitions: jax.Array
    kicks: jax.Array | None = None

    def closed(self) -> "Windows":
        """With a gap and a transition behind the last window too, whose end is nobody's start."""
        nothing = jnp.zeros_like(self.information[:1])
        return self._replace(
            gaps=jnp.concatenate([self.gaps, jnp.zeros_like(self.slopes[:1])]),
            transitions=jnp.concatenate([self.transitions, nothing]),
            kicks=None if self.kicks is None else jnp.concatenate([self.kicks, nothing]),
        )

    def arrivals(self) -> tuple[jax.Array, jax.Array | None]:
        """Transitions to windows and their kicks, (window, S, S): to the first there is none."""
        nothing = jnp.zeros_like(self.information[:1])
        kicks = None if self.kicks is None else jnp.concatenate([nothing, self.kicks])
        return jnp.concatenate([nothing, self.transitions]), kicks


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
        gain: C, (window, S, S).
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
    """Filter the windows of recordings in order.

    Args:
        mean, covariance: m_0 (S,) and P_0 (S, S) of the first start.
        q: Q, (S, S).
        rho: ρ, a scalar.
    """
    one = diagonal(jnp.ones_like(mean))
    first = Moments(mean, jnp.zeros_like(mean), covariance, jnp.zeros_like(covariance), q)

    def window(before, row):
        squares, slope, information, gap, transition, kick = row
        pulled = slope + applied(information, before.mean)
        gain, log_determinant = inverse_and_log_determinant(
            one + product(before.covariance, information)
        )
        updated = _symmetric(product(gain, before.covariance))
        crossed = product(gain, before.crossed)
        after = Moments(
            before.mean - applied(updated, pulled),
            before.push - applied(transposed(crossed), pulled),
            updated,
            crossed,
            _symmetric(
                before.pushed - product(transposed(before.crossed), product(information, crossed))
            ),
        )
        found = squares + (before.mean * (slope + pulled)).sum(axis=0)
        misfit = found - (pulled * applied(updated, pulled)).sum(axis=0)
        # What was lost to rounding may be more than what is left: then nothing is known. Neither is
        # it where a covariance has become none, with which both terms may be far below 0.
        lost = _ROUNDING * jnp.finfo(found.dtype).eps * found
        least = jnp.where(lost < 1, -lost, lost)
        known = (misfit >= least) & (log_determinant > -_DETERMINANT)
        misfit = jnp.where(known, misfit, jnp.nan)
        moved = product(transition, crossed)
        mean, push, across, covariance = after.push, after.pushed, moved, after.pushed
        if kick is not None:
            mean, push = applied(kick, mean), product(kick, push)
            across, covariance = product(moved, transposed(kick)), product(push, transposed(kick))
        following = Moments(
            applied(transition, after.mean) + mean - gap,
            rho * after.push,
            product(product(transition, updated), transposed(transition))
            + (across + transposed(across) + covariance),
            rho * (moved + push),
            rho**2 * after.pushed + (1 - rho**2) * q,
        )
        return following, Filtered(before, after, gain, misfit, log_determinant)

    _, filtered = jax.lax.scan(window, first, windows.closed())
    return filtered


def smooth(windows: Windows, filtered: Filtered, rho: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Mean of δ given all observations, (window, S), the step of Gauss and Newton; and its pulls.

    Modified Bryson and Frazier's form, which inverts no covariance. What later windows say is λ of
    δ and μ of β; from the last window back,

        δ̂ = m − P λ − X μ    λ⁻ = Cᵀ(d + λ − A X⁻ μ)    λ ← Eᵀ λ⁻    μ ← Kᵀ λ⁻ + ρ μ

    The pulls are (λ⁻, μ), (window, 2S): the slope of −log p(y, δ̂) in the means before the window,
    and λ⁻ thereby in the end of the one before.
    """

    def window(pull, one):
        (before, after, gain, *_), slope, information, (transition, kick) = one
        later, push = pull
        smoothed = after.mean - applied(after.covariance, later) - applied(after.crossed, push)
        right = slope + later
        right += applied(information, before.mean - applied(before.crossed, push))
        earlier = applied(transposed(gain), right)
        kicked = earlier if kick is None else applied(transposed(kick), earlier)
        following = applied(transposed(transition), earlier), kicked + rho * push
        return following, (smoothed, jnp.concatenate([earlier, push]))

    rows = (filtered, windows.slopes, windows.information, windows.arrivals())
    nothing = jnp.zeros_like(windows.slopes[0])
    _, (smoothed, pulls) = jax.lax.scan(window, (nothing, nothing), rows, reverse=True)
    return smoothed, pulls


def log_likelihood(filtered: Filtered) -> jax.Array:
    """log p of all observations but for the noise's normalisation Σ log(σ√2π)."""
    return -0.5 * (filtered.misfit.sum(axis=0) + filtered.log_determinant.sum(axis=0))


class Sensitivity(NamedTuple):
    """How parameters move residuals and ends of windows; M parameters.

    Attributes:
        mixed: RᵀT with T = ∂r/∂θ, (window, S, M).
        information: TᵀT, (window, M, M).
        ends: ∂e/∂θ, (window − 1, S, M).
    """

    mixed: jax.Array
    information: jax.Array
    ends: jax.Array


def eliminate(
    windows: Windows, filtered: Filtered, sensitivity: Sensitivity, rho: jax.Array
) -> jax.Array:
    """Gauss–Newton second derivative (M, M) of the misfit's half in θ.

    The states are eliminated on the way: with C = RᵀT, the filter's means move with θ by M⁻ and N⁻
    before and by M = M⁻ − P (C + A M⁻), N = N⁻ − Xᵀ(C + A M⁻) after a window.
    """

    def window(carry, one):
        after, information, transition, kick, own = one
        moved, pushed, total = carry
        felt = product(information, moved)
        crossed = own.mixed + felt
        kept = product(after.covariance, crossed)
        both = product(transposed(own.mixed), moved)
        curvature = own.information + both + transposed(both) + product(transposed(moved), felt)
        total += curvature - product(transposed(crossed), kept)
        pushed = pushed - product(transposed(after.crossed), crossed)
        kicked = pushed if kick is None else product(kick, pushed)
        moved = product(transition, moved - kept) + kicked + own.ends
        return (moved, rho * pushed, total), None

    closed = windows.closed()
    nothing = jnp.zeros_like(sensitivity.mixed[0])
    rows = (
        filtered.after,
        windows.information,
        closed.transitions,
        closed.kicks,
        sensitivity._replace(ends=jnp.concatenate([sensitivity.ends, nothing[None]])),
    )
    start = (nothing, nothing, jnp.zeros_like(sensitivity.information[0]))
    (_, _, total), _ = jax.lax.scan(window, start, rows)
    return total


def _symmetric(matrix: jax.Array) -> jax.Array:
    """(A + Aᵀ) / 2."""
    return (matrix + transposed(matrix)) / 2
