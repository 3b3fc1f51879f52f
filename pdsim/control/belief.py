"""Beliefs over the learnt parameters: what a controller draws from, and how it learns.

All are in y = log(θ/θ_nominal): positive without clipping, of unit scale. A belief is a frozen
dataclass with

    init(truth, key) -> state             a pytree
    draw(state, key, count) -> y          (count, d)
    learn(state, transition) -> state     from one observed transition
    particles(state) -> y                 (N, d), to look at; their moments are the belief's

The particle belief follows the document's SVGD filter: a one-step likelihood (6), as prior a kernel
density of the particles (7), and some iterations of Eq. 1 at each control step. Three densities can
be had, since the printed one does not hold: Silverman's bandwidth makes every update multiply the
variance by 1 + h² (1.25 for 64 particles and two parameters) in a direction that the data say
nothing about, fifty times a second; kernels shrunk to the particles' own variance (Liu and West,
2001) turn this into a slow collapse, because SVGD with few particles falls short of its target's
spread. ``null_drift`` takes off, in every iteration, the direction that the particles would have
had without data, so that an observation which says nothing moves nothing.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from scipy.stats import qmc

from pdsim.control.tasks.task import Task
from pdsim.inference.stein import kernel

Density = Literal["silverman", "liu_west", "null_drift"]


class Transition(NamedTuple):
    """One observed step of the plant: states (S,) before and after, and the input (nu,)."""

    before: jax.Array
    input: jax.Array
    after: jax.Array


def predict(task: Task, y: jax.Array, transition: Transition) -> jax.Array:
    """The model's f(x_t, u_t, θ) over the deviations of (6), (S,)."""
    state = task.system.unpack(transition.before)
    end = task.system.step(state, tuple(transition.input), 0.0, task.prepare(y), task.control_time)
    return task.system.pack(end) / jnp.asarray(task.deviations, y.dtype)


def residual(task: Task, y: jax.Array, transition: Transition) -> jax.Array:
    """x_{t+1} − f(x_t, u_t, θ) over the deviations of (6), (S,)."""
    seen = transition.after / jnp.asarray(task.deviations, y.dtype)
    return seen - predict(task, y, transition)


def log_likelihood(task: Task, y: jax.Array, transition: Transition) -> jax.Array:
    """log N(x_{t+1}; f(x_t, u_t, θ), Σ_ξ) without its constant (6)."""
    return -0.5 * jnp.sum(residual(task, y, transition) ** 2)


def within(task: Task, y: jax.Array) -> jax.Array:
    """Reflect y (…, d) at the limits of what is possible.

    Particles that were put on a limit would lose their spread there, and learn no more.
    """
    low, high = (jnp.asarray(limit, y.dtype) for limit in task.possible)
    y = jnp.where(y > high, 2 * high - y, y)
    y = jnp.where(y < low, 2 * low - y, y)
    return jnp.clip(y, low, high)


def silverman(count: int, dimension: int) -> float:
    """Silverman's bandwidth over the deviation: (4/((d + 2) N))^(1/(d + 4))."""
    return float((4 / ((dimension + 2) * count)) ** (1 / (dimension + 4)))


def kernel_score(points: jax.Array, centres: jax.Array, bandwidth: jax.Array | float) -> jax.Array:
    """∇ log of a Gaussian kernel density (7).

    Args:
        points: (n, d) where.
        centres: (N, d).
        bandwidth: (d,) or scalar.
    """
    apart = (centres[None] - points[:, None]) / bandwidth
    share = jax.nn.softmax(-0.5 * jnp.sum(apart * apart, axis=-1), axis=1)
    return jnp.einsum("ij,ijd->id", share, apart) / bandwidth


def direction(points: jax.Array, score: jax.Array, h: jax.Array) -> jax.Array:
    """φ of Eq. 1 with a given bandwidth.

    As ``pdsim.inference.stein.stein_direction``, whose median of all distances would take most of
    the time of an update.

    Args:
        points: (N, d).
        score: (N, d).
        h: of the kernel exp(−‖x − y‖²/h).
    """
    squares = jnp.sum(points * points, axis=1)
    distance = squares[:, None] + squares[None, :] - 2 * points @ points.T
    k = jnp.exp(-jnp.maximum(distance, 0.0) / h)
    repulsion = (2 / h) * (points * k.sum(axis=1, keepdims=True) - k @ points)
    return (k @ score + repulsion) / len(points)


def _deviation(particles: jax.Array) -> jax.Array:
    """Sample deviation (d,); positive."""
    return jnp.maximum(particles.std(axis=0, ddof=1), 1e-6)


@dataclass(frozen=True)
class Particles:
    """The document's belief.

    Attributes:
        count: N.
        iterations: of SVGD at each control step.
        step: ε.
        density: of the particles, as the prior of the next step.
        first: y of the particles at the start, N of d each; None: spread over the prior box.
    """

    task: Task
    count: int = 64
    iterations: int = 20
    step: float = 1.0
    density: Density = "null_drift"
    first: tuple[tuple[float, ...], ...] | None = None

    def init(self, truth, key) -> jax.Array:
        """``first``, or Sobol points over the prior box, (N, d)."""
        del truth, key
        if self.first is not None:
            return jnp.asarray(self.first)
        lower, upper = self.task.bounds
        exponent = int(np.ceil(np.log2(self.count)))
        # The plain sequence begins in a corner of the box; scrambled it does not.
        points = qmc.Sobol(len(lower), scramble=True, rng=0).random_base2(exponent)[: self.count]
        return jnp.log(jnp.asarray((lower + points * (upper - lower)) / self.task.nominal))

    def _shrinkage(self, dimension: int) -> tuple[float, float]:
        """Silverman's h, and a = √(1 − h²) of Liu and West."""
        h = silverman(self.count, dimension)
        return h, float(np.sqrt(1 - min(h * h, 1.0)))

    def learn(self, state: jax.Array, transition: Transition) -> jax.Array:
        """Update the particles with one transition.

        In coordinates Y whitened by the particles' mean and deviation, preconditioned by the mean
        diagonal Fisher information F of the one-step likelihood,

            Y ← Y + ε/(1 + F) · (φ(Y; ∇ log lik + ∇ log KDE) − φ_0)

        where φ_0 = φ(Y at the start; ∇ log KDE) with ``null_drift``, and 0 otherwise. The median
        of the kernel's bandwidth is taken once, and follows the particles' variance from there.
        """
        mean, scale = state.mean(axis=0), _deviation(state)
        start = (state - mean) / scale
        h, shrink = self._shrinkage(state.shape[1])
        shrunk = self.density != "silverman"
        centres = shrink * start if shrunk else start
        _, width = kernel(start, jnp.ones(len(state), bool))
        total = start.var(axis=0).sum()

        def whitened_prediction(point):
            return predict(self.task, mean + scale * point, transition)

        seen = transition.after / jnp.asarray(self.task.deviations, state.dtype)

        def likelihood(point):
            """Gradient (d,) and Fisher information (d,) of one particle."""
            slope = jax.jacfwd(whitened_prediction)(point)
            return slope.T @ (seen - whitened_prediction(point)), jnp.sum(slope * slope, axis=0)

        _, information = jax.vmap(likelihood)(start)
        rate = self.step / (1 + information.mean(axis=0))
        prior = kernel_score(start, centres, h)
        null = direction(start, prior, width) if self.density == "null_drift" else 0.0

        def iterate(points, _):
            drive, _ = jax.vmap(likelihood)(points)
            pull = drive + kernel_score(points, centres, h)
            narrowed = width * jnp.maximum(points.var(axis=0).sum() / total, 1e-6)
            return points + rate * (direction(points, pull, narrowed) - null), None

        end, _ = jax.lax.scan(iterate, start, length=self.iterations)
        return within(self.task, mean + scale * end)

    def draw(self, state: jax.Array, key: jax.Array, count: int) -> jax.Array:
        """Particles with kernel noise about shrunk centres, so that the variance stays."""
        choice, noise = jax.random.split(key)
        h, shrink = self._shrinkage(state.shape[1])
        chosen = state[jax.random.randint(choice, (count,), 0, len(state))]
        mean = state.mean(axis=0)
        wide = h * _deviation(state) * jax.random.normal(noise, chosen.shape, state.dtype)
        return within(self.task, shrink * chosen + (1 - shrink) * mean + wide)

    def particles(self, state):
        return state


class Gaussian(NamedTuple):
    """Mean (d,) and covariance (d, d) of y."""

    mean: jax.Array
    covariance: jax.Array


@dataclass(frozen=True)
class Unscented:
    """A Gaussian belief, updated by the unscented Kalman filter.

    Attributes:
        drift: variance of the random walk of y at each step.
        spread: κ of the sigma points.
    """

    task: Task
    drift: float = 1e-6
    spread: float = 1.0

    def init(self, truth, key) -> Gaussian:
        """The moments of log U over the prior box."""
        del truth, key
        lower, upper = (bound / self.task.nominal for bound in self.task.bounds)
        width = upper - lower
        mean = (upper * np.log(upper) - lower * np.log(lower)) / width - 1
        square = (
            upper * (np.log(upper) ** 2 - 2 * np.log(upper) + 2)
            - lower * (np.log(lower) ** 2 - 2 * np.log(lower) + 2)
        ) / width
        return Gaussian(jnp.asarray(mean), jnp.diag(jnp.asarray(square - mean * mean)))

    def learn(self, state: Gaussian, transition: Transition) -> Gaussian:
        """Kalman's update with 2d + 1 sigma points; what is measured is x_{t+1} (6)."""
        mean, size = state.mean, len(state.mean)
        covariance = state.covariance + self.drift * jnp.eye(size, dtype=mean.dtype)
        root = jnp.linalg.cholesky((size + self.spread) * covariance)
        points = jnp.concatenate([mean[None], mean + root.T, mean - root.T])
        shares = np.full(2 * size + 1, 0.5 / (size + self.spread))
        shares[0] = self.spread / (size + self.spread)
        weight = jnp.asarray(shares, mean.dtype)
        # Over the deviations, so that the noise is the identity.
        shown = jax.vmap(lambda y: predict(self.task, y, transition))(points)
        seen = transition.after / jnp.asarray(self.task.deviations, mean.dtype)
        expected = weight @ shown
        centred = shown - expected
        innovation = centred.T @ (weight[:, None] * centred) + jnp.eye(len(seen), dtype=mean.dtype)
        cross = (points - mean).T @ (weight[:, None] * centred)
        gain = jnp.linalg.solve(innovation, cross.T).T
        moved = mean + gain @ (seen - expected)
        left = covariance - gain @ innovation @ gain.T
        floor = 1e-10 * jnp.eye(size, dtype=mean.dtype)
        return Gaussian(within(self.task, moved), (left + left.T) / 2 + floor)

    def draw(self, state: Gaussian, key, count):
        root = jnp.linalg.cholesky(state.covariance)
        normal = jax.random.normal(key, (count, len(state.mean)), state.mean.dtype)
        return within(self.task, state.mean + normal @ root.T)

    def particles(self, state):
        """Sigma points, which have the belief's moments."""
        size = len(state.mean)
        root = jnp.linalg.cholesky(size * state.covariance)
        return jnp.concatenate([state.mean + root.T, state.mean - root.T])


@dataclass(frozen=True)
class Fixed:
    """A belief that learns nothing.

    Attributes:
        kind: "truth" (an oracle's), "nominal", or "prior": fresh draws of it at every step.
    """

    task: Task
    kind: Literal["truth", "nominal", "prior"]

    def init(self, truth, key):
        del key
        return truth if self.kind == "truth" else jnp.zeros_like(truth)

    def learn(self, state, transition):
        del transition
        return state

    def draw(self, state, key, count):
        if self.kind == "prior":
            return jax.vmap(self.task.draw_prior)(jax.random.split(key, count)).astype(state.dtype)
        return jnp.broadcast_to(state, (count, *state.shape))

    def particles(self, state):
        return state[None]


Belief = Particles | Unscented | Fixed
