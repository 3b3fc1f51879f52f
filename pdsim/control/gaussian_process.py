"""A belief about what the nominal model lacks, as a function: a Gaussian process on its residual.

GP-MPPI knows no parameters. It adds to the nominal model f an acceleration that it learns,

    x_{t+1} = f(x_t, u_t) + (Δt²/2 a, Δt a),        a_o = s_o g_o(z),   z = z(x_t, u_t)

one function g_o for each velocity o, over inputs z that the task names, scaled to [−1, 1]. Each
has the prior of a squared exponential kernel, k(z, z') = Π_d exp(−(z_d − z'_d)²/2ℓ²), and s_o is
the root mean square of the residuals that the prior over the parameters gives.

Roll-outs call such a function 300 000 times for each control step, so the process is written as a
linear model g(z) = wᵀφ(z), w ~ N(0, I), whose kernel φ(z)ᵀφ(z') is that of Nyström with a grid of
q points along each of n inputs (subset of regressors; Rasmussen and Williams 2006, ch. 8.1, 8.3.1).
A product kernel on a grid needs n q exponentials where as many scattered points need qⁿ:

    φ(z) = φ_1(z_1) ⊗ … ⊗ φ_n(z_n),   φ_d(z_d) = Λ^(−1/2) Uᵀ k(grid, z_d),   U Λ Uᵀ = k(grid, grid)

It learns from every transition, and what it keeps of them does not grow: the triangular root R of
the precision of w and z̄ = R E[w], turned by one QR for each observed residual r = φᵀw + e of
variance σ² (the square-root information filter; Bierman 1977, ch. V), good in single precision:

    Q [R  z̄; φᵀ/σ  r/σ] = [R'  z̄'; 0  ·]

ℓ is the one of a few with the largest marginal likelihood of all residuals so far,
log p(r_1 … r_t) = Σ log N(r_t; φᵀE[w], φᵀ(RᵀR)⁻¹φ + σ²), a sum of what each was predicted with.

A draw of the belief is a whole function, as one of another belief is a set of parameters, so the
score (8) is that of functions. σ is the deviation of (6) for a velocity, over Δt s_o.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import solve_triangular
from scipy.stats import qmc

from pdsim.control.belief import Transition
from pdsim.control.tasks.task import Task

# Eigenvalues of k(grid, grid) are not let below this share of their mean: what is beneath is
# rounding in single precision.
_FLOOR = 1e-6
# Draws of the prior over the parameters, and of the inputs, that s_o is taken from.
_PRIOR_DRAWS, _INPUT_DRAWS = 256, 256


class Regression(NamedTuple):
    """What is known of the weights w of each function, for each of G candidates of ℓ.

    Attributes:
        root: R, (G, O, D, D), upper triangular up to signs; RᵀR is the precision.
        target: z̄ = R E[w], (G, O, D).
        evidence: log marginal likelihood of the residuals so far, (G, O).
    """

    root: jax.Array
    target: jax.Array
    evidence: jax.Array


class Function(NamedTuple):
    """Draws of functions.

    Attributes:
        weights: w, (..., O, D).
        candidate: which ℓ they belong to, (...).
    """

    weights: jax.Array
    candidate: jax.Array


class Prepared(NamedTuple):
    """A function ready to be called in a roll-out.

    Attributes:
        body: of the nominal system.
        weights: w, one (q, …, q) array for each velocity.
        turn: Λ^(−1/2) Uᵀ, (q, q).
        rate: 1/ℓ.
    """

    body: Any
    weights: tuple[jax.Array, ...]
    turn: jax.Array
    rate: jax.Array


@lru_cache
def basis(points: int, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """The grid along one input, (q,), and Λ^(−1/2) Uᵀ of its kernel, (q, q).

    Args:
        points: q.
        scale: ℓ, in half widths of the input.
    """
    grid = np.linspace(-1.0, 1.0, points)
    kernel = np.exp(-0.5 * ((grid[:, None] - grid) / scale) ** 2)
    values, vectors = np.linalg.eigh(kernel)
    return grid, vectors.T / np.sqrt(np.maximum(values, _FLOOR))[:, None]


def features_along(place, grid: np.ndarray, turn, rate) -> jax.Array:
    """φ_d of one input, (q,).

    Args:
        place: z_d.
        grid: (q,).
        turn: Λ^(−1/2) Uᵀ, (q, q).
        rate: 1/ℓ.
    """
    apart = (place - jnp.asarray(grid, turn.dtype)) * rate
    return turn @ jnp.exp(-0.5 * apart * apart)


def _outer(vectors) -> jax.Array:
    """φ_1 ⊗ … ⊗ φ_n, flat."""
    whole = vectors[0]
    for one in vectors[1:]:
        whole = (whole[:, None] * one).ravel()
    return whole


@lru_cache
def amplitudes(task: Task) -> tuple[float, ...]:
    """s_o of each velocity: root mean square over parameters of the prior and over inputs z.

    In the unit of the acceleration (m/s² or rad/s²).
    """
    lower, upper = task.bounds
    shares = qmc.Sobol(len(lower), scramble=True, rng=0).random(_PRIOR_DRAWS)
    logarithms = np.log((lower + shares * (upper - lower)) / task.nominal)
    inputs = qmc.Sobol(len(_limits(task)[0]), scramble=True, rng=1).random(_INPUT_DRAWS) * 2 - 1
    with jax.ensure_compile_time_eval():

        def lacking(y, z):
            state, input = _unscaled(task, z)
            after = task.system.pack(_nominal_step(task, state, input, y))
            return _acceleration(task, state, input, after)

        each = jax.vmap(jax.vmap(lacking, in_axes=(None, 0)), in_axes=(0, None))
        found = each(jnp.asarray(logarithms), jnp.asarray(inputs))
        return tuple(float(x) for x in np.sqrt((np.asarray(found) ** 2).mean(axis=(0, 1))))


def _limits(task: Task) -> tuple[np.ndarray, np.ndarray]:
    """Middle (n,) and half width (n,) of z: state variables, then the system's inputs."""
    ranges = [*task.residual_inputs.values()]
    ranges += zip(task.lowest_input, task.highest_input, strict=True)
    low, high = np.array(ranges).T
    return (low + high) / 2, (high - low) / 2


def _scaled(task: Task, state, input) -> tuple[jax.Array, ...]:
    """z of a state and an input: what the task names, in [−1, 1]; what is beyond, at the edge."""
    chosen = [*(state[i] for i in task.residual_inputs), *input]
    middle, half = _limits(task)
    return tuple(
        jnp.clip((value - float(m)) / float(h), -1.0, 1.0)
        for value, m, h in zip(chosen, middle, half, strict=True)
    )


def _unscaled(task: Task, z: jax.Array):
    """A state and an input with these z (n,); what z does not name is that of the start."""
    middle, half = _limits(task)
    values = jnp.asarray(middle, z.dtype) + z * jnp.asarray(half, z.dtype)
    state = list(task.system.unpack(task.start(jax.random.key(0)).astype(z.dtype)))
    for number, i in enumerate(task.residual_inputs):
        state[i] = values[number]
    return tuple(state), tuple(values[len(task.residual_inputs) :])


def _nominal_step(task: Task, state, input, y):
    return task.system.step(state, input, 0.0, task.prepare(y), task.control_time)


def _acceleration(task: Task, state, input, after: jax.Array) -> jax.Array:
    """What the nominal model lacks on the way to a state after it (S,), as accelerations (O,)."""
    nominal = jnp.zeros(len(task.names), after.dtype)
    expected = task.system.pack(_nominal_step(task, state, input, nominal))
    velocities = len(after) // 2
    return (after - expected)[velocities:] / task.control_time


@dataclass(frozen=True)
class Corrected:
    """The nominal model with a function of the residual: what a planner rolls out.

    Attributes:
        points: q.
        scales: candidates of ℓ, in half widths of the inputs.
    """

    task: Task
    points: int
    scales: tuple[float, ...]

    def prepare(self, draw: Function) -> Prepared:
        """Make one draw ready, its weights (O, D)."""
        dtype = draw.weights.dtype
        turns = np.stack([basis(self.points, scale)[1] for scale in self.scales])
        cube = (self.points,) * len(_limits(self.task)[0])
        sizes = jnp.asarray(amplitudes(self.task), dtype)
        return Prepared(
            body=self.task.prepare(jnp.zeros(len(self.task.names), dtype)),
            weights=tuple((sizes[:, None] * draw.weights).reshape(-1, *cube)),
            turn=jnp.asarray(turns, dtype)[draw.candidate],
            rate=(1 / jnp.asarray(self.scales, dtype))[draw.candidate],
        )

    def body(self, prepared: Prepared):
        """The prepared nominal system."""
        return prepared.body

    def residual(self, state, input, prepared: Prepared) -> tuple[jax.Array, ...]:
        """a_o of each velocity [m/s² or rad/s²]."""
        grid, _ = basis(self.points, self.scales[0])
        along = [
            features_along(place, grid, prepared.turn, prepared.rate)
            for place in _scaled(self.task, state, input)
        ]
        found = []
        for values in prepared.weights:
            for one in reversed(along):
                values = values @ one
            found.append(values)
        return tuple(found)

    def step(self, state, input, prepared: Prepared):
        """The state a control step later, a tuple."""
        task, dt = self.task, self.task.control_time
        lacking = self.residual(state, input, prepared)
        after = task.system.step(state, input, 0.0, prepared.body, dt)
        half = len(after) // 2
        places = (p + 0.5 * dt * dt * a for p, a in zip(after[:half], lacking, strict=True))
        speeds = (v + dt * a for v, a in zip(after[half:], lacking, strict=True))
        return (*places, *speeds)


@dataclass(frozen=True)
class GaussianProcess:
    """See the head of this file.

    Attributes:
        points: q, of the grid along each input.
        scales: candidates of ℓ, in half widths of the inputs.
    """

    task: Task
    points: int = 4
    scales: tuple[float, ...] = (1.0, 2.0, 4.0)

    @property
    def model(self) -> Corrected:
        """What its draws are drawn for."""
        return Corrected(self.task, self.points, self.scales)

    @property
    def _size(self) -> int:
        """D."""
        return int(self.points ** len(_limits(self.task)[0]))

    def init(self, truth, key) -> Regression:
        """The prior, w ~ N(0, I)."""
        del key
        shape = (len(self.scales), len(self.task.system.state) // 2, self._size)
        root = jnp.broadcast_to(jnp.eye(self._size, dtype=truth.dtype), (*shape, self._size))
        return Regression(root, jnp.zeros(shape, truth.dtype), jnp.zeros(shape[:2], truth.dtype))

    def learn(self, state: Regression, transition: Transition) -> Regression:
        """The regression after the residual of one transition."""
        task, dtype = self.task, state.root.dtype
        before, input = task.system.unpack(transition.before), tuple(transition.input)
        sizes = np.array(amplitudes(task))
        velocities = np.array(task.deviations)[len(task.deviations) // 2 :]
        noise = jnp.asarray(velocities / task.control_time / sizes, dtype)
        lacking = _acceleration(task, before, input, transition.after)
        residual = lacking / jnp.asarray(sizes, dtype)
        places = _scaled(task, before, input)

        def known(scale):
            grid, turn = basis(self.points, scale)
            along = [features_along(z, grid, jnp.asarray(turn, dtype), 1 / scale) for z in places]
            return _outer(along)

        features = jnp.stack([known(scale) for scale in self.scales])
        of_outputs = jax.vmap(regress, in_axes=(0, None, 0, 0))
        return jax.vmap(of_outputs, in_axes=(0, 0, None, None))(state, features, residual, noise)

    def draw(self, state: Regression, key: jax.Array, count: int) -> Function:
        """w ~ N(E[w], (RᵀR)⁻¹) = R⁻¹(z̄ + ε), with the most likely ℓ; ``count`` of them."""
        best = jnp.argmax(state.evidence.sum(axis=1))
        root, target = state.root[best], state.target[best]
        normal = jax.random.normal(key, (count, *target.shape), target.dtype)
        right = jnp.moveaxis(target + normal, 0, -1)
        weights = jax.vmap(lambda a, b: solve_triangular(a, b))(root, right)
        return Function(jnp.moveaxis(weights, -1, 0), jnp.broadcast_to(best, (count,)))

    def particles(self, state):
        """The nominal parameters: what is learnt is no parameter."""
        return jnp.zeros((1, len(self.task.names)), state.root.dtype)


def regress(state: Regression, features: jax.Array, residual, noise) -> Regression:
    """One observation r = φᵀw + e of one function.

    Args:
        state: R (D, D), z̄ (D,) and the evidence (), of one function and one ℓ.
        features: φ, (D,).
        residual: r.
        noise: σ.
    """
    across = solve_triangular(state.root, features, trans="T")
    variance = across @ across + noise * noise
    gap = residual - across @ state.target
    told = -0.5 * (gap * gap / variance + jnp.log(2 * np.pi * variance))
    upper = jnp.concatenate([state.root, state.target[:, None]], axis=1)
    row = jnp.append(features, residual) / noise
    turned = jnp.linalg.qr(jnp.concatenate([upper, row[None]]), mode="r")
    size = len(features)
    return Regression(turned[:size, :size], turned[:size, size], state.evidence + told)
