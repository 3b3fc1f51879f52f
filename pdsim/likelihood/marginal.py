"""Marginal shooting: the window states integrated out, the noise inferred.

A recording is a state-space model. Window w of h frames starts at x_w,

    x_0 ~ N(start, Σ)      x_{w+1} = Φ_h(x_w; θ) + β_w      y = observe(x) + N(0, diag σ²)
    β_0 ~ N(0, diag q²)    β_{w+1} = ρ β_w + √(1 − ρ²) N(0, diag q²)

with σ of each measured channel, q of each state variable, the process noise of a window, and its
correlation ρ among the parameters. What a model leaves out, friction of another kind or a frame
that leans, pushes the same way for a while: noise that forgets its sign at every window would make
parameters too sure and predictions too narrow.

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

from pdsim.likelihood.motion import Motion
from pdsim.likelihood.noise import Deviations, NoiseModel
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
from pdsim.parameters import ParameterSpace
from pdsim.runtime.cores import over_cores
from pdsim.systems.rollout import over_windows, rollout, tangents
from pdsim.systems.simulator import Simulator
from pdsim.systems.system import System

# What is added to an information, of its largest entry and at all: it needs a Cholesky factor.
_FLOOR, _LEAST = 1e-12, 1e-12
_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


@partial(
    jax.tree_util.register_dataclass,
    data_fields=[
        "targets", "seen", "counts", "inputs", "first_time", "start", "start_covariance",
        "guesses", "active", "state_scale",
    ],
    meta_fields=["simulator", "noise", "combination", "frame_time", "iterations"],
)  # fmt: skip
@dataclass(frozen=True)
class MarginalProblem:
    """Likelihood of recordings as a function of parameters and noise alone.

    Attributes:
        targets: observations of the measured channels, one (h, trajectory, window) array each.
        seen: 1 where something was observed, 0 elsewhere; shaped as the targets.
        counts: (trajectory, measured channel) number of observations.
        inputs: one (h, trajectory, window) array per input.
        first_time: (window,) time at which each window starts [s].
        start, start_covariance: prior of the first state, (trajectory, S) and (…, S, S).
        guesses: (trajectory, window, S) states from which Gauss–Newton steps begin.
        active: (h, trajectory, window) whether a frame is within its recording; None if all are.
        state_scale: (S,) physical size of one scaled unit of state.
        simulator: the system and its own parameters.
        noise: which parameters beyond those of the simulator are deviations of noise.
        iterations: Gauss–Newton steps of an evaluation.
    """

    targets: tuple[jax.Array, ...]
    seen: tuple[jax.Array, ...]
    counts: jax.Array
    inputs: tuple[jax.Array, ...]
    first_time: jax.Array
    start: jax.Array
    start_covariance: jax.Array
    guesses: jax.Array
    active: jax.Array | None
    state_scale: jax.Array
    simulator: Simulator
    noise: NoiseModel
    combination: str
    frame_time: float
    iterations: int

    @property
    def space(self) -> ParameterSpace:
        """The simulator's parameters, and behind them those of the noise."""
        return self.noise.extend(self.simulator.space)

    @property
    def system(self) -> System:
        """The system simulated."""
        return self.simulator.system

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

    def start_shooting(self) -> jax.Array:
        """There are no shooting variables: (trajectory, 0, state)."""
        return jnp.zeros((self.start.shape[0], 0, self.start.shape[1]), self.start.dtype)

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
        root = jnp.linalg.cholesky(information)
        residual = -jax.scipy.linalg.solve_triangular(root, gradient[..., None], lower=True)
        (count, m), size = gradient.shape, self.start.shape[1]
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

    def expand(self, position: Position) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Return log p (particle,), its slope (particle, M) and its information (particle, M, M).

        Slopes of the parameters are those of log p(y, x̂), which is stationary in x̂; what they
        change in log |H| takes second derivatives of the motion and is left out. That of the noise
        is exact. The information is Gauss and Newton's of the parameters, the curvature of log p
        in the noise, made positive, and nothing between the two, as in Fisher's.
        """
        starts = self._settle(position)
        count, m = self.simulator.space.dimension, position.parameters.shape[1]
        motion = self._simulate(position, starts, with_parameters=True)
        own = position.parameters[:, count:]
        noise = self._noise(own)
        windows = motion.windows(noise)
        filtered = self._filtered(noise, starts, windows)
        per_trajectory = self._log_likelihood(noise, filtered)
        weights = trajectory_weights(per_trajectory, self.combination)
        gradient, information = _each(eliminate)(
            windows, filtered, motion.sensitivity(noise), noise.correlation
        )
        gradient = -jnp.einsum("pn,pni->pi", weights, gradient)
        information = jnp.einsum("pn,pnij->pij", weights, information)
        if m > count:

            def at_other_noise(own):
                noise = self._noise(own)
                filtered = self._filtered(noise, starts, motion.windows(noise))
                return (weights * self._log_likelihood(noise, filtered)).sum(axis=1)

            slope, curvature = _slope_and_curvature(at_other_noise, own)
            gradient = jnp.concatenate([gradient, slope], axis=1)
            block = jnp.zeros((len(own), m, m), gradient.dtype)
            block = block.at[:, :count, :count].set(information)
            information = block.at[:, count:, count:].set(curvature)
        return combine_trajectories(per_trajectory, self.combination), gradient, information

    def smoothed(self, position: Position) -> tuple[jax.Array, Filtered]:
        """Most likely window starts (particle, trajectory, window, S), scaled, and the filter's.

        The filter's state is a difference to these starts.
        """
        starts = self._settle(position)
        noise = self._deviations(position)
        windows = self._simulate(position, starts).windows(noise)
        return starts, self._filtered(noise, starts, windows)

    def marginal(self, position: Position) -> jax.Array:
        """Return log p of each recording, (particle, trajectory)."""
        noise = self._deviations(position)
        starts = self._guessed(position)

        def step(_, carry):
            starts, _ = carry
            windows = self._simulate(position, starts).windows(noise)
            filtered = self._filtered(noise, starts, windows)
            moved = self._moved(noise, starts, windows, filtered)
            return moved, self._log_likelihood(noise, filtered)

        # What the last step leads to is not needed, but so the loop holds all there is to compile.
        nothing = jnp.zeros(starts.shape[:2], starts.dtype)
        return jax.lax.fori_loop(0, self.iterations + 1, step, (starts, nothing))[1]

    def _guessed(self, position: Position) -> jax.Array:
        guesses = self.guesses / self.state_scale
        return jnp.broadcast_to(guesses, (position.parameters.shape[0], *guesses.shape))

    def _settle(self, position: Position) -> jax.Array:
        """Gauss–Newton steps over all window states, scaled units."""
        noise = self._deviations(position)

        def step(_, starts):
            windows = self._simulate(position, starts).windows(noise)
            return self._moved(noise, starts, windows, self._filtered(noise, starts, windows))

        return jax.lax.fori_loop(0, self.iterations, step, self._guessed(position))

    def _moved(
        self, noise: Deviations, starts: jax.Array, windows: Windows, filtered: Filtered
    ) -> jax.Array:
        return starts + _each(smooth)(windows, filtered, noise.correlation)

    def _log_likelihood(self, noise: Deviations, filtered: Filtered) -> jax.Array:
        each = self.counts * (jnp.log(noise.sensor)[:, None] + _HALF_LOG_2PI)
        normalisation = each.sum(axis=-1)
        return jax.vmap(jax.vmap(log_likelihood))(filtered) - normalisation

    def _filtered(self, noise: Deviations, starts: jax.Array, windows: Windows) -> Filtered:
        """Filter every recording."""
        mean = self.start / self.state_scale - starts[:, :, 0]
        first = self.start_covariance / jnp.outer(self.state_scale, self.state_scale)
        recordings = jax.vmap(run_filter, in_axes=(0, 0, 0, None, None))
        particles = jax.vmap(recordings, in_axes=(0, 0, None, 0, 0))
        q = jax.vmap(jnp.diag)(noise.process**2)
        return particles(windows, mean, first, q, noise.correlation)

    def _deviations(self, position: Position) -> Deviations:
        return self._noise(position.parameters[:, self.simulator.space.dimension :])

    def _noise(self, coordinates: jax.Array) -> Deviations:
        """Noise of each particle, that of the process in scaled units."""
        noise = self.noise.deviations(coordinates)
        return noise._replace(process=noise.process / self.state_scale)

    def residuals(self, coordinates: jax.Array, starts: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Roll-outs minus recordings, and where windows end.

        Args:
            coordinates: of the simulator's parameters, (particle, trajectory, window, M).
            starts: of all windows, (particle, trajectory, window, S), scaled.

        Returns:
            (channel, h, particle, trajectory, window), 0 where nothing was observed, and (S,
            particle, trajectory, window), scaled.
        """
        system, space = self.system.forward_mode(), self.simulator.space

        def window(coordinates, start, inputs, active, first_time):
            channels, end = rollout(
                system,
                system.prepare(space.system_parameters(coordinates)),
                system.unpack(start * self.state_scale),
                inputs,
                frames=self.targets[0].shape[0],
                frame_time=self.frame_time,
                substeps=self.simulator.substeps,
                first_time=first_time,
                active=active,
            )
            measured = tuple(channels[i] for i in self.noise.channels)
            return measured, system.pack(end) / self.state_scale

        channels, end = over_windows(window)(
            coordinates, starts, self.inputs, self.active, self.first_time
        )
        observed = jnp.stack([jnp.moveaxis(x, -1, 0) for x in channels])
        target, seen = (jnp.stack(x)[:, :, None] for x in (self.targets, self.seen))
        return seen * (observed - target), jnp.moveaxis(end, -1, 0)

    def _simulate(
        self, position: Position, starts: jax.Array, with_parameters: bool = False
    ) -> Motion:
        """Roll out all windows with a tangent for each state and, if asked, each parameter."""
        dimension = self.simulator.space.dimension
        coordinates = position.parameters[:, None, None, :dimension]
        coordinates = jnp.broadcast_to(coordinates, (*starts.shape[:3], dimension))
        (residuals, end), (slopes, end_slopes) = tangents(
            self.residuals, coordinates, starts, with_start=True, with_parameters=with_parameters
        )
        rows = jnp.concatenate([residuals[None], slopes])
        end, end_slopes = jnp.moveaxis(end, 0, -1), jnp.moveaxis(end_slopes, (0, 1), (-1, -2))
        return Motion(
            products=jnp.einsum("icfpnw,jcfpnw->pnwcij", rows, rows),
            gaps=starts[:, :, 1:] - end[:, :, :-1],
            ends=end_slopes[:, :, :-1],
        )


@jax.custom_vjp
def _log_likelihood(problem: MarginalProblem, position: Position) -> jax.Array:
    return combine_trajectories(problem.marginal(position), problem.combination)


def _expanded(problem: MarginalProblem, position: Position):
    value, gradient, _ = problem.expand(position)
    return value, (gradient, position.shooting)


def _pulled_back(kept, cotangent: jax.Array):
    gradient, shooting = kept
    return None, Position(cotangent[:, None] * gradient, jnp.zeros_like(shooting))


_log_likelihood.defvjp(_expanded, _pulled_back)


def _each(function):
    """Batch over particles and trajectories; the last argument, ρ, has the first alone."""

    def particle(*arguments):
        *own, rho = arguments
        return jax.vmap(lambda *x: function(*x, rho))(*own)

    return jax.vmap(particle)


def _slope_and_curvature(function, x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Slope (particle, K) of a function of each particle alone, and −∂² made positive.

    Where log p bends upwards, the size of the curvature is what a step should trust.
    """

    def slope(x):
        return jax.grad(lambda x: function(x).sum())(x)

    def along(direction):
        return jax.jvp(slope, (x,), (jnp.broadcast_to(direction, x.shape),))

    value, columns = jax.vmap(along, out_axes=(None, 0))(jnp.eye(x.shape[1], dtype=x.dtype))
    bent = jnp.moveaxis(columns, 0, -1)
    values, vectors = jnp.linalg.eigh(-(bent + jnp.swapaxes(bent, 1, 2)) / 2)
    return value, jnp.einsum("pik,pk,pjk->pij", vectors, jnp.abs(values), vectors)
