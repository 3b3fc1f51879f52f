"""States from what is seen of them: where a recording shows points of a robot and not its joints.

Of each frame the positions q of the state are those that explain the observations y best, with what
was known of them before:

    min_q Σ_c ((h_c(q) − y_c) / σ_c)² + Σ_i ((q_i − μ_i) / d_i)²

h is what the system shows at its parameters' defaults, σ the white noise found in each channel, μ a
number or an input of that frame (the target of a controller is near the joint), d how near. With
H = ∂h/∂q, R = diag σ² and P = (Hᵀ R⁻¹ H + diag d⁻²)⁻¹, the error of q has two parts: the sensors'
noise, P Hᵀ R⁻¹ H P, which is another one in each frame, and what remains of μ's error,
P diag d⁻² P, which stays. Smoothing over time takes the first down and leaves the second.
"""

from functools import cache
from typing import NamedTuple, Self

import numpy as np
from pydantic import Field, model_validator

from pdsim.runtime.errors import PdsimError
from pdsim.settings.messages import close_name
from pdsim.settings.section import Positive, Section
from pdsim.systems.system import POSITIONS, System

# Gauss–Newton steps, at most; the last must be shorter than this, in units of d.
_STEPS = 30
_SHORT = 1e-3


class Near(Section):
    """What is known of a position before anything is seen."""

    value: float | None = Field(None, description="it is near this [rad or m]")
    input: str | None = Field(None, description="or near this input of the frame: a target")
    deviation: Positive = Field(description="standard deviation of the difference [rad or m]")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.value is None) == (self.input is None):
            raise ValueError("needs either value or input")
        return self


class FittedStates(Section):
    """States fitted to channels that are functions of them; velocities are smoothed differences."""

    near: dict[str, Near] = Field(
        min_length=1, description="of each position of the state: what is known of it before"
    )
    rest: int = Field(
        0,
        ge=0,
        le=10_000_000,
        description="frames at the beginning of a run in which nothing moves: its start state is "
        "fitted to all of them, and its velocities are 0",
    )


class Fit(NamedTuple):
    """Positions of every frame, and the errors of one.

    Attributes:
        position: (frame, position).
        white: (position, position) covariance of the part of the error that is new in each frame.
        lasting: (position, position) covariance of the part that stays.
    """

    position: np.ndarray
    white: np.ndarray
    lasting: np.ndarray


def positions_of(system: System) -> list[str]:
    """Names of the state's positions.

    Raises:
        PdsimError: the state is not positions and then as many velocities.
    """
    half = len(system.state) // 2
    kinds = [quantity.kind in POSITIONS for quantity in system.state]
    if kinds != [True] * half + [False] * half:
        raise PdsimError(
            f"recording.states: the state of {system.name} is not positions and as many "
            "velocities, so it cannot be fitted"
        )
    return [quantity.name for quantity in system.state[:half]]


def check_near(config: FittedStates, system: System) -> None:
    """Refuse names that the system has not, and positions that are left out.

    Raises:
        PdsimError: names the key.
    """
    names, inputs = positions_of(system), [quantity.name for quantity in system.inputs]
    where = "recording.states.near"
    for name, near in config.near.items():
        if name not in names:
            raise PdsimError(
                f"{where}.{name}: {system.name} has no such position{close_name(name, names)}"
            )
        if near.input is not None and near.input not in inputs:
            raise PdsimError(
                f"{where}.{name}.input: {system.name} has no input {near.input!r}"
                f"{close_name(near.input, inputs)}"
            )
    missing = [name for name in names if name not in config.near]
    if missing:
        raise PdsimError(
            f"{where}.{missing[0]}: is missing; say what is known of every position, such as "
            "{value: 0.0, deviation: 1.0}"
        )


def fit_positions(
    observed: np.ndarray,
    acting: np.ndarray,
    noise: np.ndarray,
    system: System,
    config: FittedStates,
    source: str,
) -> Fit:
    """Fit the positions of every frame by Gauss–Newton.

    Args:
        observed: (frame, channel), NaN where nothing was observed.
        acting: (frame, input).
        noise: (channel,) σ.
        source: what messages call the recording.

    Raises:
        PdsimError: a fit has not converged.
    """
    names = positions_of(system)
    inputs = [quantity.name for quantity in system.inputs]
    near = [config.near[name] for name in names]
    prior = np.stack(
        [
            np.full(len(observed), n.value) if n.input is None else acting[:, inputs.index(n.input)]
            for n in near
        ],
        axis=1,
    )
    deviation = np.array([n.deviation for n in near])
    # A channel without noise, of a simulator, has that of its digits.
    inverse = np.isfinite(observed) / np.maximum(noise, 1e-9)
    seen = np.nan_to_num(observed)

    once = _stepper(system)
    position = prior
    for _ in range(_STEPS):
        before = position
        position, information, precision = map(
            np.asarray, once(before, prior, seen, inverse, deviation)
        )
        moved = np.abs((position - before) / deviation).max(axis=1)
        if not moved.max() > _SHORT:
            break
    if not moved.max() <= _SHORT:
        frame = int(np.argmax(np.where(np.isfinite(moved), moved, np.inf)))
        raise PdsimError(
            f"{source}: no state explains frame {frame} of the window: the fit still moves by "
            f"{moved[frame]:.2g} deviations; mend recording.states.near"
        )
    covariance = np.linalg.inv(precision[0])
    white = covariance @ information[0] @ covariance
    lasting = covariance @ np.diag(deviation**-2) @ covariance
    return Fit(position, white, lasting)


@cache
def _stepper(system: System):
    """One Gauss–Newton step of every frame: positions, Hᵀ R⁻¹ H and P⁻¹."""
    # Imported here: configs are checked with every source's section, and JAX takes long to load.
    import jax
    import jax.numpy as jnp

    prepared = system.prepare({k: parameter.default for k, parameter in system.parameters.items()})
    still = jnp.zeros(len(system.state) // 2)

    def shown(position):
        return jnp.stack(system.observe(system.unpack(jnp.append(position, still)), prepared))

    def step(position, prior, seen, inverse, deviation):
        slopes = inverse[:, None] * jax.jacfwd(shown)(position)
        residual = inverse * (shown(position) - seen)
        information = slopes.T @ slopes
        precision = information + jnp.diag(deviation**-2)
        slope = slopes.T @ residual + (position - prior) / deviation**2
        return position - jnp.linalg.solve(precision, slope), information, precision

    return jax.jit(jax.vmap(step, in_axes=(0, 0, 0, 0, None)))
