"""Process noise of momenta: forces that the model gets wrong push a mechanism through its masses.

A wrong torque in one joint of an arm moves all its joints. A push π of positions and momenta moves
a state by K π with

    K = [1 0; 0 M(q; θ)⁻¹]

so that independent π are those of independent forces, and their rates are not independent.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from pdsim.numerics.small_matrices import inverse_of_positive
from pdsim.runtime.errors import PdsimError
from pdsim.systems.simulator import Simulator
from pdsim.systems.system import Quantity, System

_UNITS = {"rad/s": "N m s", "m/s": "N s"}


def kick(system: System, vector: jax.Array, prepared: Any) -> jax.Array:
    """K (S, S) at a state vector (S,)."""
    inverse = inverse_of_positive(system.mass_matrix(vector, prepared))
    return jax.scipy.linalg.block_diag(jnp.eye(len(vector) - len(inverse)), inverse)


def kicks(simulator: Simulator, coordinates: jax.Array, states: jax.Array) -> jax.Array:
    """K of particles at the same states, (window, S, S, trajectory, particle).

    Args:
        coordinates: of the simulator's parameters, (particle, M).
        states: (trajectory, window, S).
    """
    system, space = simulator.system, simulator.space

    def particle(coordinates):
        prepared = system.prepare(space.system_parameters(coordinates))
        return jax.vmap(jax.vmap(lambda vector: kick(system, vector, prepared)))(states)

    return jnp.moveaxis(jax.vmap(particle)(coordinates), (0, 1), (-1, -2))


def quantities(system: System) -> tuple[Quantity, ...]:
    """State variables with momenta in place of rates, called ``p_`` and the rate's name."""
    return tuple(
        Quantity(f"p_{x.name}", _UNITS[x.unit], "momentum") if x.kind == "velocity" else x
        for x in system.state
    )


def sizes(simulator: Simulator, states: np.ndarray) -> np.ndarray:
    """Diagonal of K⁻¹, its mean over states, at the prior's centre, (S,).

    Args:
        states: (state, S).

    Raises:
        PdsimError: no system can be at the prior's centre.
    """
    system, space = simulator.system, simulator.space
    prepared = system.prepare(space.system_parameters(jnp.full(space.dimension, 0.5)))
    masses = jax.vmap(lambda vector: system.mass_matrix(vector, prepared))(jnp.asarray(states))
    found = np.diagonal(masses, axis1=1, axis2=2).mean(axis=0)
    if not (found > 0).all():
        raise PdsimError(
            "likelihood.marginal.process_of: momenta: in the middle of the limits "
            f"(simulator.parameters) no {system.name} has these masses; move the limits"
        )
    return np.concatenate([np.ones(states.shape[1] - len(found)), found])


def check_momenta(system: System) -> None:
    """Raise PdsimError if the system has no mass matrix."""
    if type(system).mass_matrix is System.mass_matrix:
        raise PdsimError(
            f"likelihood.marginal.process_of: momenta: {system.name} has no mass matrix; "
            "choose states"
        )
