"""Shooting variables eliminated: what is left of the Lagrangian for the parameters alone.

The Lagrangian of one particle (Eq. 8, with the constraint g = d/σ and damping c = 1) is

    L(θ, s) = −log p(recordings | θ, s) + ½ ‖d(θ, s)/σ + λ‖²

With residuals and defects linear around the particle (Gauss and Newton) it is a quadratic form;
minimised over s it leaves one in θ, by the Schur complement. As σ → 0 that is the likelihood of the
whole roll-out from the known start state, without its rough landscape on the way there.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from pdsim.likelihood.problem import Linearisation
from pdsim.xla.cores import one_by_one


class Profile(NamedTuple):
    """The quadratic form in the parameters, and how the shooting variables follow them.

    Attributes:
        lagrangian: L, (particle,).
        slope: ∂/∂θ min_s L, (particle, M).
        information: Gauss–Newton second derivative of the same, (particle, M, M).
        features: residuals and d/σ, (particle, F).
        feature_slopes: their derivatives when s follows θ, (particle, F, M).
        shift: step of s to its minimum at fixed θ, (particle, trajectory, (window − 1) · S).
        response: ds/dθ, (particle, trajectory, (window − 1) · S, M).
        gain: what L loses by the shift, (particle,).
    """

    lagrangian: jax.Array
    slope: jax.Array
    information: jax.Array
    features: jax.Array
    feature_slopes: jax.Array
    shift: jax.Array
    response: jax.Array
    gain: jax.Array


def lagrangian(log_likelihood: jax.Array, defects: jax.Array, force: jax.Array, sigma):
    """L, (particle,); ``force`` is λ/σ, shaped as the defects."""
    constraint = (defects / sigma + sigma * force) ** 2
    return -log_likelihood + 0.5 * constraint.sum(axis=(1, 2, 3))


def profile(linear: Linearisation, force: jax.Array, sigma, damping: jax.Array) -> Profile:
    """Eliminate the shooting variables.

    Args:
        linear: around the particles; one that is not finite spoils no other.
        force: λ/σ, shaped as the defects.
        sigma: σ, scaled state units.
        damping: Levenberg and Marquardt's, relative to the diagonal, (particle,).
    """
    particles, trajectories, gaps, states = linear.defects.shape
    size, m = gaps * states, linear.residual_parameters.shape[-1]
    weight = linear.weights
    r, r_theta, r_start = linear.residuals, linear.residual_parameters, linear.residual_start
    value = lagrangian(linear.log_likelihood, linear.defects, force, sigma)
    # Products of residuals and defects over windows: p particle, n trajectory, w window,
    # k observation, a and b states, i and j parameters. Weights are for the products, which are
    # small, not for the slopes.
    information = jnp.einsum("pnwki,pnwkj->pnij", r_theta, r_theta)
    information = jnp.einsum("pn,pnij->pij", weight, information)
    slope = jnp.einsum("pn,pni->pi", weight, jnp.einsum("pnwki,pnwk->pni", r_theta, r))
    scaled = (linear.defects / sigma).reshape(particles, trajectories, size)
    features = r.reshape(particles, -1)
    if gaps == 0:
        nothing = jnp.zeros((particles, trajectories, 0), r.dtype)
        return Profile(
            value,
            slope,
            information,
            features,
            r_theta.reshape(particles, -1, m),
            nothing,
            jnp.zeros((*nothing.shape, m), r.dtype),
            jnp.zeros(particles, r.dtype),
        )

    # Defect w is s_w − e_w(θ, s_{w−1}), all over σ; window 0 starts from no variable.
    follows = jnp.eye(gaps, k=-1, dtype=r.dtype)[1:]
    d_start = jnp.eye(size, dtype=r.dtype).reshape(gaps, states, gaps, states)
    d_start = jnp.broadcast_to(d_start, (particles, trajectories, *d_start.shape))
    d_start = d_start.at[:, :, 1:].add(-jnp.einsum("pnwab,wv->pnwavb", linear.end_start, follows))
    d_start = d_start.reshape(particles, trajectories, size, size) / sigma
    d_theta = -linear.end_parameters.reshape(particles, trajectories, size, m) / sigma
    constraint = scaled + sigma * force.reshape(scaled.shape)

    weighed = weight[:, :, None, None, None]
    blocks = weighed * jnp.einsum("pnwka,pnwkb->pnwab", r_start, r_start)
    starts = jnp.einsum("pnwab,wv->pnwavb", blocks, jnp.eye(gaps, dtype=r.dtype))
    starts = starts.reshape(particles, trajectories, size, size)
    starts = starts + jnp.einsum("pnca,pncb->pnab", d_start, d_start)
    mixed = weighed * jnp.einsum("pnwka,pnwki->pnwai", r_start, r_theta[:, :, 1:])
    mixed = mixed.reshape(particles, trajectories, size, m)
    mixed = mixed + jnp.einsum("pnca,pnci->pnai", d_start, d_theta)
    start_slope = weighed[..., 0] * jnp.einsum("pnwka,pnwk->pnwa", r_start, r[:, :, 1:])
    start_slope = start_slope.reshape(particles, trajectories, size)
    start_slope = start_slope + jnp.einsum("pnca,pnc->pna", d_start, constraint)
    information = information + jnp.einsum("pnci,pncj->pij", d_theta, d_theta)
    slope = slope + jnp.einsum("pnci,pnc->pi", d_theta, constraint)

    diagonal = jnp.diagonal(starts, axis1=2, axis2=3) * damping[:, None, None]
    starts = starts + diagonal[..., None] * jnp.eye(size, dtype=r.dtype)
    right = jnp.concatenate([mixed, start_slope[..., None]], axis=-1)
    solved = one_by_one(jnp.linalg.solve)(starts, right)
    response, shift = -solved[..., :m], -solved[..., m]
    information = information + jnp.einsum("pnai,pnaj->pij", mixed, response)
    slope = slope + jnp.einsum("pnai,pna->pi", mixed, shift)

    by_window = response.reshape(particles, trajectories, gaps, states, m)
    along = jnp.einsum("pnwka,pnwai->pnwki", r_start, by_window)
    r_theta = jnp.concatenate([r_theta[:, :, :1], r_theta[:, :, 1:] + along], axis=2)
    d_theta = d_theta + jnp.einsum("pnca,pnai->pnci", d_start, response)
    features = jnp.concatenate([features, scaled.reshape(particles, -1)], axis=1)
    slopes = jnp.concatenate(
        [r_theta.reshape(particles, -1, m), d_theta.reshape(particles, -1, m)], axis=1
    )
    gain = -0.5 * (start_slope * shift).sum(axis=(1, 2))
    return Profile(value, slope, information, features, slopes, shift, response, gain)
