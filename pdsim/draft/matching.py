"""Gradient matching: parameters under which a model has the accelerations that a motion has.

A local polynomial through the positions gives rates and accelerations; the parameters that the
model's accelerations agree with best are a first guess that needs no roll-out (J. M. Varah, A
spline least squares method for numerical parameter estimation in differential equations, 1982).
Noise of the accelerations biases it, so it is good for limits, not for answers.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pdsim.parameters.space import ParameterSpace
from pdsim.recordings.recording import Recording
from pdsim.systems.system import ContinuousSystem, System

_ORDER = 4
# The polynomial spans this share of the slowest joint's period, and so many frames at least.
_SPAN, _LEAST = 0.15, 11
# Frames that are matched, at most.
_FRAMES = 600
# What stands for an acceleration that a model has not: many times that of the motion.
_NONE = 1e3


class Motion(NamedTuple):
    """What a recorded motion is at some frames.

    Attributes:
        states: positions and then their rates, (frame, S).
        accelerations: (frame, S/2).
        inputs: (frame, I), passed through the same polynomial.
        span: that each of these rests on, in rows.
    """

    states: np.ndarray
    accelerations: np.ndarray
    inputs: np.ndarray
    span: float

    @property
    def pace(self) -> float:
        """Rate of the motion, root mean square of accelerations over that of rates [1/s]."""
        rates = self.states[:, self.states.shape[1] // 2 :]
        return float(np.sqrt((self.accelerations**2).mean() / (rates**2).mean()))


class Match(NamedTuple):
    """The best match.

    Attributes:
        coordinates: of the parameters, unit box, (M,).
        missed: share of the accelerations' root mean square that the model misses.
        slopes: of the residuals over the size of what is missed, per coordinate, thinned so that
            rows are independent, (row, M).
    """

    coordinates: np.ndarray
    missed: float
    slopes: np.ndarray


def motion_of(
    recordings: Sequence[Recording], positions: Sequence[np.ndarray], period: float
) -> Motion:
    """Fit local polynomials to stretches of recordings.

    Args:
        recordings: for inputs and frame time.
        positions: of each, (frame, S/2).
        period: of the slowest joint [s].
    """
    from scipy.signal import savgol_filter

    frame_time = recordings[0].frame_time
    shortest = min(map(len, positions))
    span = int(np.clip(_SPAN * period / frame_time, _LEAST, shortest // 3)) // 2 * 2 + 1

    def fitted(values: np.ndarray, derivative: int = 0) -> np.ndarray:
        inner = slice(span // 2, len(values) - span // 2)
        return savgol_filter(values, span, _ORDER, deriv=derivative, delta=frame_time, axis=0)[
            inner
        ]

    stride = max(1, -(-sum(map(len, positions)) // _FRAMES))

    def stacked(arrays, derivative: int = 0) -> np.ndarray:
        return np.concatenate([fitted(values, derivative)[::stride] for values in arrays])

    inputs = [np.nan_to_num(recording.input) for recording in recordings]
    return Motion(
        np.concatenate([stacked(positions), stacked(positions, 1)], axis=1),
        stacked(positions, 2),
        stacked(inputs) if inputs[0].shape[1] else np.zeros((len(stacked(positions)), 0)),
        span / stride,
    )


def match(system: System, space: ParameterSpace, motion: Motion, *, starts: int = 16) -> Match:
    """Fit accelerations by least squares from several starts within the box.

    Args:
        system: of second order: its state is positions and then their rates.
        starts: Sobol points.
    """
    return matcher(system, space)(motion, starts)


def matcher(system: System, space: ParameterSpace) -> Callable[[Motion, int], Match]:
    """``match`` of one system and box, compiled once for motions of one length."""
    from scipy.optimize import least_squares

    form = system.forward_mode()
    assert isinstance(form, ContinuousSystem)

    @jax.jit
    def residuals(coordinates, states, inputs, accelerations, scale):
        prepared = form.prepare(space.system_parameters(coordinates))

        def one(state, drive):
            rates = form.derivative(form.unpack(state), tuple(drive), jnp.zeros(()), prepared)
            return form.pack(rates)[accelerations.shape[1] :]

        return ((jax.vmap(one)(states, inputs) - accelerations) / scale).reshape(-1)

    slopes = jax.jit(jax.jacfwd(residuals))

    def best_of(motion: Motion, starts: int) -> Match:
        scale = np.sqrt((motion.accelerations**2).mean(axis=0))
        scale = np.where(scale > 0, scale, 1.0)
        data = [jnp.asarray(x) for x in (motion.states, motion.inputs, motion.accelerations, scale)]

        def values(x):
            found = np.asarray(residuals(x, *data))
            return np.nan_to_num(found, nan=_NONE, posinf=_NONE, neginf=-_NONE)

        def jacobian(x):
            return np.nan_to_num(np.asarray(slopes(x, *data)), posinf=0.0, neginf=0.0)

        fits = [
            least_squares(values, np.clip(x, 0.01, 0.99), jacobian, bounds=(0.0, 1.0), max_nfev=60)
            for x in space.sobol(starts)
        ]
        best = min(fits, key=lambda fit: fit.cost)
        missed = float(np.sqrt((best.fun**2).mean()))
        # Residuals hang together over the span of a polynomial.
        thinned = jacobian(best.x) / max(missed, 1e-6) / np.sqrt(max(motion.span, 1.0))
        return Match(np.asarray(best.x), missed, thinned)

    return best_of
