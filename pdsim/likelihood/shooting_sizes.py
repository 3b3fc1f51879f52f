"""How much of a shooting problem is computed at a time, so that a cache holds it.

Sizes are measured on the double pendulum (``benchmarks/README.md``), and no result depends on them.
"""

import math
from typing import NamedTuple

import jax

# Numbers that a gradient keeps, as ``_each`` counts them, so that a cache holds them: of 128
# particles of 400 steps of semi-implicit Euler, of 48 of RK4. Of a sixth more each takes a sixth to
# a quarter longer.
_KEPT = 840_000
# Particles of which a gradient is taken at a time. Where fewer than the least would be all that a
# cache holds, it is of the most, and motions between some of the states are simulated twice.
_LEAST, _MOST = 48, 128
# Particles that are evaluated at a time: of a thousand each takes a twentieth to a fifth longer.
_EVALUATED = 256
# Evaluations of the motion in a frame, of all particles of a window, from which on windows are
# simulated one after another: below the loop's own time counts more, or vectors are half empty.
_IN_TURN, _FEWEST = 56, 24
# State variables of all frames where there is no such cache, or steps keep nothing else: beyond it
# memory takes longer than simulating again.
_CACHED = 3_000_000
# Frames of all particles that are linearised at a time, of a vector of particles at most on a CPU,
# where of twice as many each takes up to a third longer.
_FRAMES, _LINEARISED = 8_000, 8
# Where a step makes many numbers, windows of all particles: a cache holds 20 to 50, and 500 take
# twice as long.
_TOGETHER = 50


class Shape(NamedTuple):
    """How large a shooting problem is.

    Attributes:
        frames: of a window.
        windows: of all recordings.
        states: state variables.
        residuals: of a frame.
        evaluations: of the motion, from one frame to the next.
        large_steps: whether a step makes many numbers.
    """

    frames: int
    windows: int
    states: int
    residuals: int
    evaluations: int
    large_steps: bool


def linearised(shape: Shape) -> int:
    """Particles to linearise at a time."""
    if shape.large_steps:
        return max(_TOGETHER // shape.windows, 1)
    particles = max(_FRAMES // (shape.frames * shape.windows), 1)
    return particles if jax.default_backend() == "gpu" else min(particles, _LINEARISED)


def evaluated(shape: Shape) -> int | None:
    """Particles to evaluate at a time; None: all."""
    return None if shape.large_steps else _EVALUATED


def gradient_block(shape: Shape) -> int | None:
    """Particles to take slopes of at a time; None: all."""
    if shape.large_steps:
        return None
    fitting = _KEPT // (shape.frames * shape.windows * _each(shape))
    return min(fitting, _MOST) if fitting >= _LEAST else _MOST


def in_turn(shape: Shape, particles: int) -> bool:
    """Whether windows are simulated one after another, and not side by side."""
    if shape.large_steps or jax.default_backend() == "gpu":
        return False
    return particles >= max(_IN_TURN // shape.evaluations, _FEWEST)


def segment(shape: Shape, particles: int) -> int | None:
    """Frames between the states that a gradient keeps; None where it keeps all it needs.

    √frames keeps the fewest numbers, if memory is all that counts.
    """
    block = gradient_block(shape)
    frames, windows = shape.frames, shape.windows
    if block is None or jax.default_backend() == "gpu" or particles < _FEWEST:
        states = shape.states
        cached = particles * frames * windows * states <= _CACHED
        return None if cached else math.isqrt(frames)
    if particles > block:  # an evaluation
        return None
    beside = 1 if in_turn(shape, particles) else windows
    return _part(frames * windows // beside, _KEPT // (particles * beside * _each(shape)))


def _part(frames: int, most: int) -> int | None:
    """As many frames of a loop as there may be at most, if possible in parts of one length."""
    if most >= frames:
        return None
    most = max(most, math.isqrt(frames))
    return next((part for part in range(most, most // 2, -1) if frames % part == 0), most)


def _each(shape: Shape) -> int:
    """Numbers that a gradient keeps of a frame of one particle.

    Two for each state variable of an evaluation of the motion and two for each residual, of which
    it keeps one: so counted the limits of both integrators agree.
    """
    return 2 * shape.states * shape.evaluations + 2 * shape.residuals
