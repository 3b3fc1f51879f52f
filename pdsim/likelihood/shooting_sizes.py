"""How much of a shooting problem is computed at a time, so that a cache holds it.

Sizes are measured on the double pendulum (``benchmarks/README.md``), and no result depends on them.
"""

import math
from typing import TYPE_CHECKING

import jax

if TYPE_CHECKING:
    from pdsim.likelihood.shooting import ShootingProblem

# Numbers that a gradient keeps so that a cache holds them: of 128 particles of 400 steps of
# semi-implicit Euler, of 48 of RK4. Of a sixth more each takes a sixth longer.
_KEPT = 840_000
# Particles of which a gradient is taken at a time. Where fewer than the least would be all that a
# cache holds, it is of the most, and motions between some of the states are simulated twice.
_LEAST, _MOST = 48, 128
# Evaluations of the motion in a frame, of all particles of a window, from which on windows are
# simulated one after another where slopes may be taken: elsewhere the loop's own time counts more.
# Of fewer particles than the fewest vectors of the processor's are half empty.
_IN_TURN, _FEWEST = 56, 24
# State variables of all frames where there is no such cache, or steps keep nothing else: beyond it
# memory takes longer than simulating again.
_CACHED = 3_000_000
# Windows of all particles that are evaluated at a time: of ten thousand each takes a twentieth to a
# quarter longer.
_BESIDE = 2_500
# Windows that are linearised at a time where a step makes many numbers: with 20 to 50 a cache holds
# them, and 500 take twice as long. Elsewhere frames of all particles: five times as many take a
# sixth to a third longer, each.
_TOGETHER, _FRAMES = 50, 8_000


def linearised(problem: "ShootingProblem") -> int:
    """Particles to linearise at a time."""
    if not problem.system.large_steps:
        return max(_FRAMES // problem.targets[0].size, 1)
    return max(_TOGETHER // _windows(problem), 1)


def evaluated(problem: "ShootingProblem") -> int | None:
    """Particles to evaluate at a time, as many at least as slopes are taken of; None: all."""
    slopes = gradient_block(problem)
    return slopes and max(_BESIDE // _windows(problem), slopes)


def gradient_block(problem: "ShootingProblem") -> int | None:
    """Particles to take slopes of at a time; None: all."""
    if problem.system.large_steps:
        return None
    fitting = _KEPT // (problem.targets[0].size * _each(problem))
    return min(fitting, _MOST) if fitting >= _LEAST else _MOST


def in_turn(problem: "ShootingProblem", particles: int) -> bool:
    """Whether windows are simulated one after another, and not side by side."""
    fewest = max(_IN_TURN // _evaluations(problem), _FEWEST)
    return _slopes_may_be_taken(problem, particles) and particles >= fewest


def segment(problem: "ShootingProblem", particles: int) -> int | None:
    """Frames between the states that a gradient keeps; None where it keeps all it needs.

    √frames keeps the fewest numbers, if memory is all that counts.
    """
    frames, windows = problem.targets[0].shape[0], _windows(problem)
    if _slopes_may_be_taken(problem, particles) and particles >= _FEWEST:
        beside = 1 if in_turn(problem, particles) else windows
        fitting = _KEPT // (particles * beside * _each(problem))
        return _part(frames * windows // beside, fitting)
    states = problem.first_start.shape[-1]
    return None if particles * frames * windows * states <= _CACHED else math.isqrt(frames)


def _part(frames: int, most: int) -> int | None:
    """As many frames of a loop as there may be at most, if possible in parts of one length."""
    if most >= frames:
        return None
    most = max(most, math.isqrt(frames))
    return next((part for part in range(most, most // 2, -1) if frames % part == 0), most)


def _slopes_may_be_taken(problem: "ShootingProblem", particles: int) -> bool:
    """And of so many at a time: of more it is an evaluation, which keeps nothing."""
    block = gradient_block(problem)
    return block is not None and jax.default_backend() != "gpu" and particles <= block


def _each(problem: "ShootingProblem") -> int:
    """Numbers that a gradient keeps of a frame of one particle.

    Two for each state variable of an evaluation of the motion and two for each residual.
    """
    return 2 * problem.first_start.shape[-1] * _evaluations(problem) + 2 * len(problem.targets)


def _evaluations(problem: "ShootingProblem") -> int:
    """Of the motion, from one frame to the next."""
    return problem.simulator.substeps * problem.system.evaluations


def _windows(problem: "ShootingProblem") -> int:
    """Of all recordings."""
    return math.prod(problem.targets[0].shape[1:])
