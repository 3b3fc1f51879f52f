"""Slopes of marginal shooting's log p: in the parameters, in how noise acts, and in the noise."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from pdsim.likelihood.marginal_fields import MarginalFields
from pdsim.likelihood.motion import Motion, particles_first, residuals, window_coordinates
from pdsim.likelihood.noise import Deviations
from pdsim.likelihood.noise_slopes import Adjoint, curvature, slope, slope_of_kicks
from pdsim.likelihood.problem import Position
from pdsim.likelihood.smoother import Filtered, Windows
from pdsim.numerics.small_matrices import diagonal
from pdsim.xla.cores import one_by_one


class Around(NamedTuple):
    """What an evaluation finds at settled states, with (trajectory, particle) behind.

    Attributes:
        value: log p, (particle,).
        weights: ∂ log p / ∂ log p_n, (trajectory, particle).
        noise: deviations.
        starts: of the windows, scaled.
        motion: roll-outs from there.
        windows, filtered, adjoint: their filter, and its adjoint.
    """

    value: jax.Array
    weights: jax.Array
    noise: Deviations
    starts: jax.Array
    motion: Motion
    windows: Windows
    filtered: Filtered
    adjoint: Adjoint

    @property
    def precision(self) -> jax.Array:
        """σ⁻², (channel, particle)."""
        return self.noise.sensor**-2


def in_parameters(problem: MarginalFields, around: Around, position: Position) -> jax.Array:
    """Slope of log p in the simulator's parameters, (particle, M).

    It is −Σ (r + R δ̂)ᵀ ∂r/∂θ − Σ λ⁻ᵀ ∂e/∂θ: along the parameters' tangents, where there are
    any, or else pulled back through the roll-outs.
    """
    rows, size = around.motion.rows, len(problem.state_scale)
    moved = jnp.swapaxes(around.adjoint.state, 0, 1)[:, None, None]
    pull = rows[0] + (rows[-size:] * moved).sum(axis=0)
    later = jnp.swapaxes(around.adjoint.mean[:, :size], 0, 1)
    later = jnp.concatenate([later[:, 1:], jnp.zeros_like(later[:, :1])], axis=1)
    pull = around.weights * around.precision[:, None, None, None] * pull
    later = around.weights * later
    if len(rows) > 1 + size:
        ends = jnp.swapaxes(around.motion.ends, 1, 2)[:, :-size]
        along = (rows[1:-size] * pull).sum(axis=(1, 2, 3, 4))
        return -(along + (ends * jnp.swapaxes(later, 0, 1)[:-1, None]).sum(axis=(0, 2, 3))).T
    starts = particles_first(around.starts)
    _, pull_back = jax.vjp(
        lambda x: residuals(problem, x, starts, problem.system),
        window_coordinates(problem, position, starts),
    )
    return -pull_back((pull, later))[0].sum(axis=(1, 2))


def in_kicks(problem: MarginalFields, around: Around, position: Position) -> jax.Array | float:
    """What the parameters change in log p by the way that process noise acts, (particle, M)."""
    if not problem.noise.of_momenta:
        return 0.0
    own = position.parameters[:, : problem.simulator.space.dimension]
    pull = slope_of_kicks(around.windows, around.filtered, around.adjoint, around.noise.correlation)
    return -jax.vjp(problem.kicks, own)[1](around.weights * pull)[0]


def in_noise(
    problem: MarginalFields, around: Around, position: Position
) -> tuple[jax.Array, jax.Array]:
    """Slope of log p in the noise's coordinates, (particle, K), and −∂² (particle, K, K)."""
    inferred, noise = problem.noise.inferred, around.noise
    given = (
        around.motion.channels,
        around.windows,
        around.filtered,
        around.adjoint,
        jnp.broadcast_to(noise.process[:, None] ** 2, around.filtered.after.mean.shape[1:]),
        noise.correlation,
        inferred,
    )

    def variances(own):
        sensor, process, varying, correlation = problem.scaled_noise(own)
        entries = sensor**-2, process**2, varying**2, correlation[None]
        return jnp.concatenate([x[:count] for x, count in zip(entries, inferred, strict=True)])

    # Each coordinate makes one of them.
    own = position.parameters[:, problem.simulator.space.dimension :]
    each = jnp.ones_like(own)
    rate, bend = jax.jvp(lambda x: jax.jvp(variances, (x,), (each,))[1], (own,), (each,))
    # The normalisation of n observations is −½ n log τ.
    precision = around.precision[: inferred[0]]
    share = 0.5 * (problem.counts.T @ around.weights)[: inferred[0]] / precision
    rise = (around.weights * slope(*given)).sum(axis=1)
    rise = rise.at[: inferred[0]].add(-share)
    bent = (around.weights * curvature(*given)).sum(axis=2)
    bent = rate[:, None] * bent * rate
    own_bend = rise * bend
    own_bend = own_bend.at[: inferred[0]].add(share / precision * rate[: inferred[0]] ** 2)
    return -(rise * rate).T, jnp.moveaxis(bent + diagonal(own_bend), -1, 0)


def positive(bent: jax.Array) -> jax.Array:
    """Symmetric matrices (particle, K, K) with the sizes of their eigenvalues.

    Where log p bends upwards, the size of the curvature is what a step should trust.
    """
    values, vectors = one_by_one(jnp.linalg.eigh)((bent + jnp.swapaxes(bent, 1, 2)) / 2)
    return jnp.einsum("pik,pk,pjk->pij", vectors, jnp.abs(values), vectors)
