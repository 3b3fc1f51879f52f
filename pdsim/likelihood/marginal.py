"""Marginal shooting: the window states integrated out, the noise inferred.

A recording is a state-space model. Window w of h frames starts at x_w,

    x_0 ~ N(start, Σ)      x_{w+1} = Φ_h(x_w; θ) + β_w      y = observe(x) + N(0, diag σ²)
    β_0 ~ N(0, diag q²)    β_{w+1} = ρ β_w + √(1 − ρ²) N(0, diag q²)

with σ of each measured channel, q of each state variable, the process noise of a window, and its
correlation ρ among the parameters. What a model leaves out, friction of another kind or a frame
that leans, pushes the same way for a while: noise that forgets its sign at every window would make
parameters too sure and predictions too narrow. And a parameter may have another value in each
recording (``varying``), θ + υ with υ ~ N(0, τ²): such υ stand behind the state, stay what they are
from window to window, and τ is a parameter too. Noise of momenta acts through the mass matrix
(``process_of``, ``pdsim.likelihood.momenta``): x_{w+1} = Φ_h(x_w; θ) + K(x_{w+1}; θ) β_w.

Multiple shooting with the Gaussian term of Eq. 5 is this model with q = σ_def and ρ = 0; q → 0 is
the constrained problem of Eq. 8, Σ → 0 the known start of Sec. III. Channels that were derived from
others by finite differences are no data of their own and are left out.

At given (θ, σ, q) Gauss–Newton steps find the most likely states of all windows side by side; then

    log p(y | θ, σ, q) ≈ log p(y, x̂ | θ, σ, q) − ½ log |H| + (dimension / 2) log 2π

with H the Gauss–Newton second derivative at x̂ (Laplace). On linear dynamics this is exact: the
Kalman filter's likelihood. The recursion is in ``pdsim.likelihood.smoother``.
"""

import math
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp

from pdsim.likelihood.marginal_fields import MarginalFields
from pdsim.likelihood.marginal_slopes import (
    Around,
    in_kicks,
    in_noise,
    in_parameters,
    positive,
)
from pdsim.likelihood.motion import particles_first, rolled_out
from pdsim.likelihood.noise import Deviations
from pdsim.likelihood.noise_slopes import adjoint
from pdsim.likelihood.problem import (
    Linearisation,
    Position,
    combine_trajectories,
    trajectory_weights,
)
from pdsim.likelihood.smoother import (
    Filtered,
    Windows,
    eliminate,
    log_likelihood,
    run_filter,
    smooth,
)
from pdsim.numerics.small_matrices import diagonal
from pdsim.xla.blocks import in_blocks
from pdsim.xla.cores import one_by_one, over_cores

# What is added to an information, of its largest entry and at all: it needs a Cholesky factor.
_FLOOR, _LEAST = 1e-12, 1e-12
_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
# Frames of all particles that are evaluated, and expanded, at a time. Five times as many as of the
# former take a twentieth to a half longer each.
_EVALUATED, _EXPANDED = 8_000, 24_000


def _evaluated(problem: "MarginalProblem") -> int:
    """Particles to evaluate at a time, with their slopes or without."""
    return max(_EVALUATED // problem.targets[0].size, 1)


def _expanded(problem: "MarginalProblem") -> int:
    """Particles to expand at a time."""
    return max(_EXPANDED // problem.targets[0].size, 1)


@partial(
    jax.tree_util.register_dataclass,
    data_fields=[
        "targets", "seen", "counts", "inputs", "first_time", "start", "start_covariance",
        "guesses", "active", "state_scale", "noise_scale",
    ],
    meta_fields=["simulator", "noise", "combination", "frame_time", "iterations"],
)  # fmt: skip
@dataclass(frozen=True)
class MarginalProblem(MarginalFields):
    """Likelihood of recordings as a function of parameters and noise alone."""

    @property
    def rollout_count(self) -> int:
        """Roll-outs and tangents of one evaluation: in each step one, and one for each state."""
        states = self.start.shape[1]
        return self.start.shape[0] * (self.iterations + 1) * (1 + states)

    @property
    def tangent_count(self) -> int:
        """The parameters' tangents in evaluations, each of which holds those of the states."""
        evaluation = self.rollout_count // self.start.shape[0]
        return -(-self.simulator.space.dimension // evaluation)

    @property
    def gradient_block(self) -> None:
        """Slopes are written out, and taken where a block is evaluated."""
        return None

    def start_shooting(self) -> jax.Array:
        """There are no shooting variables: (trajectory, 0, state)."""
        shape = (self.start.shape[0], 0, len(self.system.state))
        return jnp.zeros(shape, self.start.dtype)

    @over_cores
    def evaluate(self, position: Position) -> tuple[jax.Array, jax.Array]:
        """Return log p(recordings | parameters, noise) (particle,) and no defects.

        Slopes are those of ``expand``.
        """
        return _log_likelihood(self, position), position.shooting

    @over_cores
    def linearise(self, position: Position) -> Linearisation:
        """Return log p, and one residual for each parameter that carries its slope and curvature.

        With g = ∂ log p and F the information, F = LLᵀ, residuals are r = −L⁻¹g with ∂r = Lᵀ: rᵀ∂r
        is −g and ∂rᵀ∂r is F, as for any least-squares problem.
        """
        value, gradient, information = self.expand(position)
        diagonal = jnp.diagonal(information, axis1=1, axis2=2)
        floor = _FLOOR * diagonal.max(axis=1, keepdims=True) + _LEAST
        information = information + jax.vmap(jnp.diag)(jnp.broadcast_to(floor, diagonal.shape))
        root = one_by_one(jnp.linalg.cholesky)(information)
        residual = -one_by_one(_solve_lower)(root, gradient[..., None])
        (count, m), size = gradient.shape, len(self.system.state)
        return Linearisation(
            log_likelihood=value,
            weights=jnp.ones((count, 1), gradient.dtype),
            residuals=residual[:, None, None, :, 0],
            residual_parameters=jnp.swapaxes(root, 1, 2)[:, None, None],
            residual_start=jnp.zeros((count, 1, 0, m, size), gradient.dtype),
            defects=position.shooting[:, :1],
            end_parameters=jnp.zeros((count, 1, 0, size, m), gradient.dtype),
            end_start=jnp.zeros((count, 1, 0, size, size), gradient.dtype),
        )

    @in_blocks(_expanded)
    def expand(self, position: Position) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Return log p (particle,), its slope (particle, M) and its information (particle, M, M).

        The slope is that of ``value_and_slope``. The information is Gauss and Newton's of the
        parameters, the curvature of log p in the noise, made positive, and nothing between the
        two, as in Fisher's.
        """
        around = self._around(position, with_parameters=True)
        sensitivity = around.motion.sensitivity(around.precision)
        own = eliminate(around.windows, around.filtered, sensitivity, around.noise.correlation)
        information = jnp.einsum("np,ijnp->pij", around.weights, own)
        slope = in_parameters(self, around, position) + in_kicks(self, around, position)
        if sum(self.noise.inferred) > 0:
            own_slope, bent = in_noise(self, around, position)
            slope = jnp.concatenate([slope, own_slope], axis=1)
            information = jax.vmap(jax.scipy.linalg.block_diag)(information, positive(bent))
        return around.value, slope, information

    @in_blocks(_evaluated, on_gpu=False)
    def value_and_slope(self, position: Position) -> tuple[jax.Array, jax.Array]:
        """Return log p (particle,) and its slope (particle, M).

        Slopes of the parameters are those of log p(y, x̂), which is stationary in x̂; what they
        change in log |H| by second derivatives of the motion is left out. Those of the noise are
        exact, and so is what parameters change in how it acts. Where states have not settled after
        ``iterations`` steps, all slopes are approximate.
        """
        around = self._around(position)
        slope = in_parameters(self, around, position) + in_kicks(self, around, position)
        if sum(self.noise.inferred) > 0:
            slope = jnp.concatenate([slope, in_noise(self, around, position)[0]], axis=1)
        return around.value, slope

    def smoothed(self, position: Position) -> tuple[jax.Array, Filtered]:
        """Most likely window starts (particle, trajectory, window, S), scaled, and the filter's.

        The filter's state is a difference to these starts, and its axes are in the same order.
        """
        starts = self._settle(position)
        noise = self._deviations(position)
        windows = self._windows(position, starts, noise)
        filtered = self._filtered(noise, starts, windows)
        return jax.tree.map(particles_first, (starts, filtered))

    @in_blocks(_evaluated, on_gpu=False)
    def marginal(self, position: Position) -> jax.Array:
        """Return log p of each recording, (particle, trajectory)."""
        noise = self._deviations(position)
        starts = self._guessed(position)

        def step(_, carry):
            starts, _ = carry
            windows = self._windows(position, starts, noise)
            filtered = self._filtered(noise, starts, windows)
            moved = starts + smooth(windows, filtered, noise.correlation)[0]
            return moved, self._log_likelihood(noise, filtered)

        # What the last step leads to is not needed, but so the loop holds all there is to compile.
        nothing = jnp.zeros(starts.shape[2:], starts.dtype)
        return jax.lax.fori_loop(0, self.iterations + 1, step, (starts, nothing))[1].T

    def _guessed(self, position: Position) -> jax.Array:
        guesses = jnp.moveaxis(self.guesses / self.state_scale, 0, -1)[..., None]
        return jnp.broadcast_to(guesses, (*guesses.shape[:-1], len(position.parameters)))

    def _settle(self, position: Position) -> jax.Array:
        """Gauss–Newton steps over all window states, scaled units."""
        noise = self._deviations(position)

        def step(_, starts):
            windows = self._windows(position, starts, noise)
            filtered = self._filtered(noise, starts, windows)
            return starts + smooth(windows, filtered, noise.correlation)[0]

        return jax.lax.fori_loop(0, self.iterations, step, self._guessed(position))

    def _around(self, position: Position, with_parameters: bool = False) -> Around:
        """Settle, and filter and smooth once more from there."""
        starts = self._settle(position)
        noise = self._deviations(position)
        motion = rolled_out(self, position, starts, with_parameters)
        windows = motion.windows(noise.sensor**-2, self.kicks(position.parameters))
        filtered = self._filtered(noise, starts, windows)
        smoothed = smooth(windows, filtered, noise.correlation)
        per_trajectory = self._log_likelihood(noise, filtered).T
        return Around(
            value=combine_trajectories(per_trajectory, self.combination),
            weights=trajectory_weights(per_trajectory, self.combination).T,
            noise=noise,
            starts=starts,
            motion=motion,
            windows=windows,
            filtered=filtered,
            adjoint=adjoint(windows, filtered, *smoothed, noise.correlation),
        )

    def _windows(self, position: Position, starts: jax.Array, noise: Deviations) -> Windows:
        """Windows around their starts, with slopes of the states alone."""
        kicks = self.kicks(position.parameters)
        return rolled_out(self, position, starts).windows(noise.sensor**-2, kicks)

    def _log_likelihood(self, noise: Deviations, filtered: Filtered) -> jax.Array:
        """Log p of each recording, (trajectory, particle)."""
        return log_likelihood(filtered) - self.counts @ (jnp.log(noise.sensor) + _HALF_LOG_2PI)

    def _filtered(self, noise: Deviations, starts: jax.Array, windows: Windows) -> Filtered:
        """Filter every recording."""
        scale = self.state_scale
        mean = (self.start / scale).T[..., None] - starts[0]
        first = jnp.moveaxis(self.start_covariance / jnp.outer(scale, scale), 0, -1)[..., None]
        known = jnp.zeros((len(scale) - len(noise.varying), noise.varying.shape[-1]), scale.dtype)
        first = first + diagonal(jnp.concatenate([known, noise.varying**2])[:, None])
        q = diagonal(noise.process[:, None] ** 2)
        batch = (len(scale), *mean.shape)
        return run_filter(
            windows,
            mean,
            jnp.broadcast_to(first, batch),
            jnp.broadcast_to(q, batch),
            noise.correlation,
        )

    def _deviations(self, position: Position) -> Deviations:
        return self.scaled_noise(position.parameters[:, self.simulator.space.dimension :])


def _solve_lower(root: jax.Array, right: jax.Array) -> jax.Array:
    return jax.scipy.linalg.solve_triangular(root, right, lower=True)


@jax.custom_vjp
def _log_likelihood(problem: MarginalProblem, position: Position) -> jax.Array:
    return combine_trajectories(problem.marginal(position), problem.combination)


def _with_slope(problem: MarginalProblem, position: Position):
    value, slope = problem.value_and_slope(position)
    return value, (slope, position.shooting)


def _pulled_back(kept, cotangent: jax.Array):
    slope, shooting = kept
    return None, Position(cotangent[:, None] * slope, jnp.zeros_like(shooting))


_log_likelihood.defvjp(_with_slope, _pulled_back)
