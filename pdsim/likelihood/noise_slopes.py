"""Slope and curvature of the filter's log p in the variances of the noise, written out.

The filter of ``pdsim.likelihood.smoother`` takes z = (δ, β), of mean z⁻ and covariance Π⁻, through
the windows. With Y = Π[:, δ] after a window, and what its observations say of the filtered mean,
v = b + A m,

    z = z⁻ − Y (b + A m⁻)      Π = G Π⁻      G = [C 0; −XᵀA 1]      F = [E K; 0 ρ]
    z⁻ ← F z − (g, 0)          Π⁻ ← F Π Fᵀ + (1 − ρ²) [0 0; 0 Q]

Let ℓ = −log p. Its slope in z is ζ = (λ, μ), which the smoother knows, and in Π it is ½ Σ with
Σ = Λ − ζζᵀ. From the last window back, with W = A C,

    Λ⁻ = [W 0; 0 0] + Gᵀ Λ G           Λ ← Fᵀ Λ⁻ F

and the smoothed covariance is P̂ = P − Yᵀ Λ Y (Bryson and Frazier). Sensors enter as τ_c = 1/σ_c²,
A = Σ τ_c A_c; the process as Q = diag Q_s. With Σ' and ζ' before the window that follows,

    ∂ℓ/∂τ_c = ½ Σ_w s_c + 2 b_c·δ̂ + tr A_c (P̂ + δ̂δ̂ᵀ)
    ∂ℓ/∂Q_s = ½ Σ⁻_ββ,ss of the first window + (1 − ρ²) ½ Σ_w Σ'_ββ,ss
    ∂ℓ/∂P_s = ½ Σ⁻_δδ,ss of the first window, of a variance of the start
    ∂ℓ/∂ρ   = Σ_w μ'·n + tr (Σ' F Π)_ββ − ρ tr Σ'_ββ Q

The second derivative takes one sweep forward: tangents of z⁻ and Π⁻ in every direction i, and from
each window what is of second order in them, weighed by ζ and Σ. With dA and db of a direction,

    a = db + dA m    e = dm⁻ − dP⁻ v    U = G dΠ⁻[:, δ]    dv = Cᵀ a + W e    dm = C e − P a
    dz = G dz⁻ − U v − Y a              dΠ = G dΠ⁻ Gᵀ − Y dA Yᵀ

    ℓ_ij = e_i·dv_j + a_i·dm_j − ½ tr W dP⁻_i W dP⁻_j − tr Σ U_i W U_jᵀ
         − ½ tr dA_i P dA_j (P − 2 YᵀΣY) − [ζᵀU_i dv_j + ζᵀY dA_i dm_j + (i ↔ j)]
         + [tr dA_i (½ U_j[δ] − YᵀΣ U_j) Cᵀ + (i ↔ j)]

and where ρ is i, from the step to the next window, + [μ'·dn_j + tr (Σ' F dΠ_j)_ββ − ρ tr Σ'_ββ dQ_j
+ (i ↔ j)], and tr Σ'_ββ (B − Q) once. Nothing is left out: it is the Hessian.

As there, the batch's axes are behind.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from pdsim.likelihood.smoother import Filtered, Moments, Windows
from pdsim.numerics.small_matrices import applied, diagonal, product, transposed


class Inferred(NamedTuple):
    """How many deviations of each kind are parameters: all of a kind or none."""

    sensor: int
    process: int
    varying: int
    correlation: int


class Channels(NamedTuple):
    """Windows by channel, residuals in the channels' units.

    Attributes:
        squares: s_c, (window, channel).
        slopes: b_c, (window, channel, S).
        information: A_c, (window, channel, S, S).
    """

    squares: jax.Array
    slopes: jax.Array
    information: jax.Array


class Adjoint(NamedTuple):
    """What all observations say of each window's start, and ℓ's slopes in the moments before it.

    Attributes:
        state, known: δ̂ and P̂, (window, S) and (window, S, S).
        mean: ζ⁻, (window, 2S).
        covariance: Σ⁻, (window, 2S, 2S).
    """

    state: jax.Array
    known: jax.Array
    mean: jax.Array
    covariance: jax.Array


def adjoint(
    windows: Windows, filtered: Filtered, smoothed: jax.Array, pulls: jax.Array, rho: jax.Array
) -> Adjoint:
    """Sweep from the last window to the first.

    Args:
        smoothed, pulls: what ``smooth`` returned.
    """

    def window(later, one):
        (_, after, gain, *_), information, (arrival, kick) = one
        closed, weight = _closed(after, gain, information)
        known = after.covariance - _within(_of_state(after), later)
        before = _within(closed, later)
        before = before.at[: len(weight), : len(weight)].add(weight)
        return _within(_transition(arrival, kick, rho), before), (known, before)

    rows = (filtered, windows.information, windows.arrivals())
    nothing = jnp.zeros_like(filtered.gain[0])
    start = _blocks(nothing, nothing, nothing, nothing)
    _, (known, before) = jax.lax.scan(window, start, rows, reverse=True)
    return Adjoint(smoothed, known, pulls, before - pulls[:, :, None] * pulls[:, None])


def slope(
    channels: Channels,
    windows: Windows,
    filtered: Filtered,
    found: Adjoint,
    q: jax.Array,
    rho: jax.Array,
    inferred: Inferred,
) -> jax.Array:
    """∂ℓ in those of (τ, Q, P, ρ) that are inferred, (K,), but for the noise's normalisation.

    Args:
        found: what ``adjoint`` returned.
        q: Q, its diagonal (S,).
        rho: ρ, a scalar.
        inferred: how many of each kind are; of the start's variances the last ones.
    """
    state = found.state
    second = found.known + state[:, :, None] * state[:, None]
    per_channel = 0.5 * channels.squares + (channels.slopes * state[:, None]).sum(axis=2)
    per_channel += 0.5 * (channels.information * second[:, None]).sum(axis=(2, 3))
    size = state.shape[1]
    starts = 0.5 * _diagonal(found.covariance[:1, :size, :size])[0, size - inferred.varying :]
    pushes = _diagonal(found.covariance[:, size:, size:])
    later = 0.5 * pushes[1:].sum(axis=0)
    after = jax.tree.map(lambda x: x[:-1], filtered.after)
    arrived = _arrived(after, windows, rho)
    shared = (arrived * jnp.swapaxes(found.covariance[1:, :, size:], 1, 2)).sum(axis=(0, 1, 2))
    shared += (found.mean[1:, size:] * after.push).sum(axis=(0, 1))
    shared -= rho * (pushes[1:] * q).sum(axis=(0, 1))
    own = per_channel.sum(axis=0), 0.5 * pushes[0] + (1 - rho**2) * later, starts, shared[None]
    return jnp.concatenate([x[:count] for x, count in zip(own, inferred, strict=True)])


def slope_of_kicks(
    windows: Windows, filtered: Filtered, found: Adjoint, rho: jax.Array
) -> jax.Array:
    """∂ℓ/∂K = λ' nᵀ + (Σ' F Π)[δ, β], (window − 1, S, S).

    Args:
        found: what ``adjoint`` returned.
    """
    size = found.state.shape[1]
    after = jax.tree.map(lambda x: x[:-1], filtered.after)
    arrived = _arrived(after, windows, rho)
    by_mean = found.mean[1:, :size, None] * after.push[:, None]
    covariance = found.covariance[1:, :size]
    return by_mean + (covariance[:, :, None] * arrived[:, None]).sum(axis=3)


def curvature(
    channels: Channels,
    windows: Windows,
    filtered: Filtered,
    found: Adjoint,
    q: jax.Array,
    rho: jax.Array,
    inferred: Inferred,
) -> jax.Array:
    """∂²ℓ in those of (τ, Q, P, ρ) that are inferred, (K, K), but for the noise's normalisation.

    Arguments as of ``slope``.
    """
    size, batch = len(q), filtered.misfit.shape[1:]
    count, dtype = sum(inferred), filtered.misfit.dtype
    sensors, processes, varying, correlations = inferred

    def ones(first, places):
        """Directions from number ``first`` on, each of one entry of the diagonal."""
        found = jnp.zeros((count, 2 * size, 2 * size), dtype)
        for i, place in enumerate(places):
            found = found.at[first + i, place, place].set(1)
        wide = found.reshape(*found.shape, *[1] * len(batch))
        return jnp.broadcast_to(wide, (*found.shape, *batch))

    fresh = ones(sensors, range(size, size + processes))
    at_start = fresh + ones(sensors + processes, range(size - varying, size))

    def padded(x):
        """Of the sensors' directions, and of the others nothing."""
        return jnp.concatenate([x, jnp.zeros((count - sensors, *x.shape[1:]), dtype)])

    def window(carry, one):
        mean, covariance, total = carry
        (_, after, gain, *_), own, information, (transition, kick), channel, later = one
        _, slopes, changes = channel
        slopes, changes = slopes[:sensors], changes[:sensors]
        closed, weight = _closed(after, gain, information)
        forward, first = _transition(transition, kick, rho), _of_state(after)
        zeta = applied(transposed(forward), later[0])
        sigma = _within(forward, later[1])
        residual = own + applied(information, after.mean)

        half = covariance[:, :, :size]
        moved = _left(closed, half)
        felt = padded(slopes + _applied(changes, after.mean))
        off = mean[:, :size] - _applied(half[:, :size], residual)
        d_residual = _applied_to(transposed(gain), felt) + _applied_to(weight, off)
        d_mean = _applied_to(gain, off) - _applied_to(after.covariance, felt)

        # Half of what is symmetric, and one of each pair: the transpose is added in the end.
        weighed = _right(moved, weight)
        cross = -0.5 * _pairs(_left(sigma, weighed), moved, 2)
        cross -= 0.25 * _pairs(_left(information, weighed[:, :size]), half[:, :size], 2)
        pulled = (moved * zeta[:, None]).sum(axis=1)
        cross += _pairs(0.5 * off - pulled, d_residual, 1)
        pulled = padded(_applied(changes, applied(transposed(first), zeta)))
        cross += _pairs(0.5 * felt - pulled, d_mean, 1)
        within = _within(first, sigma)
        turned = _right(moved, transposed(gain))
        turned = 0.5 * turned[:, :size] - _left(product(transposed(first), sigma), turned)
        twice = _right(_left(after.covariance, changes), after.covariance - 2 * within)
        cross += padded(_pairs(changes, turned - 0.25 * padded(twice), 2))

        # On to the next window.
        mean = _applied_to(closed, mean) - _applied(moved, residual) - _applied_to(first, felt)
        if correlations > 0:
            by_push = product(transposed(forward), later[1]).at[:, :size].set(0)
            by_push = (by_push + transposed(by_push)) / 2
            push = later[1][size:, size:]
            row = (mean[:, size:] * later[0][size:]).sum(axis=1)
            row += (covariance * _within(closed, by_push)).sum(axis=(1, 2))
            row -= padded((changes * _within(first, by_push)).sum(axis=(1, 2)))
            row -= rho * (fresh[:, size:, size:] * push).sum(axis=(1, 2))
            row = row.at[-1].add(0.5 * (push * (after.pushed - diagonal(q))).sum(axis=(0, 1)))
            cross = cross.at[-1].add(row)
        reach, through = product(forward, first), product(forward, closed)
        mean = _applied_to(forward, mean)
        covariance = _right(_left(through, covariance), transposed(through))
        covariance -= padded(_right(_left(reach, changes), transposed(reach)))
        covariance += (1 - rho**2) * fresh
        if correlations > 0:
            arrived = _push_after(after, transition, kick, rho)
            arrived = jnp.concatenate([jnp.zeros_like(arrived), arrived])
            mean = mean.at[-1, size:].add(after.push)
            covariance = covariance.at[-1].add(arrived + transposed(arrived))
            covariance = covariance.at[-1, size:, size:].add(-2 * rho * diagonal(q))
        return (mean, covariance, total + cross), None

    later = [jnp.concatenate([x[1:], jnp.zeros_like(x[:1])]) for x in found[2:]]
    closed = windows.closed()
    onward = closed.transitions, closed.kicks
    rows = (filtered, windows.slopes, windows.information, onward, channels, later)
    start = (
        jnp.zeros((count, 2 * size, *batch), dtype),
        at_start,
        jnp.zeros((count, count, *batch), dtype),
    )
    (_, _, total), _ = jax.lax.scan(window, start, rows)
    return total + transposed(total)


def _blocks(a: jax.Array, b: jax.Array, c: jax.Array, d: jax.Array) -> jax.Array:
    """[a b; c d]."""
    return jnp.concatenate([jnp.concatenate([a, b], axis=1), jnp.concatenate([c, d], axis=1)])


def _closed(after: Moments, gain: jax.Array, information: jax.Array) -> tuple[jax.Array, jax.Array]:
    """G and W of a window."""
    one = diagonal(jnp.ones_like(after.mean))
    pull = -product(transposed(after.crossed), information)
    return _blocks(gain, jnp.zeros_like(gain), pull, one), product(information, gain)


def _transition(transition: jax.Array, kick: jax.Array | None, rho: jax.Array) -> jax.Array:
    """F of a window."""
    one = diagonal(jnp.ones_like(transition[0]))
    kick = one if kick is None else kick
    return _blocks(transition, kick, jnp.zeros_like(one), rho * one)


def _of_state(after: Moments) -> jax.Array:
    """Y of a window."""
    return jnp.concatenate([after.covariance, transposed(after.crossed)])


def _push_after(
    after: Moments, transition: jax.Array, kick: jax.Array | None, rho: jax.Array
) -> jax.Array:
    """Covariance of β with what the next window starts from, (Π Fᵀ)[β], (S, 2S)."""
    kicked = after.pushed if kick is None else product(after.pushed, transposed(kick))
    crossed = product(transposed(after.crossed), transposed(transition)) + kicked
    return jnp.concatenate([crossed, rho * after.pushed], axis=1)


def _arrived(after: Moments, windows: Windows, rho: jax.Array) -> jax.Array:
    """``_push_after`` of all windows but the last, whose moments are ``after``."""
    batched = jax.vmap(_push_after, in_axes=(0, 0, 0, None))
    return batched(after, windows.transitions, windows.kicks, rho)


def _within(a: jax.Array, x: jax.Array) -> jax.Array:
    """Aᵀ X A."""
    return product(transposed(a), product(x, a))


def _diagonal(x: jax.Array) -> jax.Array:
    """Diagonals of (window, n, n)."""
    return jnp.stack([x[:, i, i] for i in range(x.shape[1])], axis=1)


def _pairs(a: jax.Array, b: jax.Array, rank: int) -> jax.Array:
    """Inner products of all a_i with all b_j, (i, j): of vectors, rank 1, or of matrices."""
    return (a[:, None] * b[None]).sum(axis=tuple(range(2, 2 + rank)))


# With directions in front of one factor, or of both.
_left = jax.vmap(product, in_axes=(None, 0))
_right = jax.vmap(product, in_axes=(0, None))
_applied = jax.vmap(applied, in_axes=(0, None))
_applied_to = jax.vmap(applied, in_axes=(None, 0))
