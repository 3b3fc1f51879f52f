"""What a problem of marginal shooting holds, and how its noise acts (``likelihood.marginal``)."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp

from pdsim.likelihood.momenta import kicks as kicks_of
from pdsim.likelihood.noise import Deviations, NoiseModel
from pdsim.parameters.space import ParameterSpace
from pdsim.systems.simulator import Simulator
from pdsim.systems.system import System


@dataclass(frozen=True)
class MarginalFields:
    """Recordings in windows, the system that moves, and the noise: what slopes are taken of.

    Attributes:
        targets: observations of the measured channels, one (h, trajectory, window) array each.
        seen: 1 where something was observed, 0 elsewhere; shaped as the targets.
        counts: (trajectory, measured channel) number of observations.
        inputs: one (h, trajectory, window) array per input.
        first_time: (window,) time at which each window starts [s].
        start, start_covariance: prior of the first state, (trajectory, S) and (…, S, S). What
            parameters of a recording deviate by stands behind its state, 0 ± τ, and S counts it.
        guesses: (trajectory, window, S) states from which Gauss–Newton steps begin.
        active: (h, trajectory, window) whether a frame is within its recording; None if all are.
        state_scale: (S,) physical size of one scaled unit of state.
        noise_scale: (S,) that of process noise; another one for momenta.
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
    noise_scale: jax.Array
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

    def kicks(self, coordinates: jax.Array) -> jax.Array | None:
        """How process noise moves the states it acts on, as they are guessed; scaled.

        Taken where the states are guessed and not where they are found, it changes with the
        parameters alone.
        """
        if not self.noise.of_momenta:
            return None
        own, count = coordinates[:, : self.simulator.space.dimension], len(self.system.state)
        scale = self.noise_scale / self.state_scale[:, None]
        found = kicks_of(self.simulator, own, self.guesses[:, 1:, :count])
        behind = len(self.state_scale) - count
        wide = [(0, 0), (0, behind), (0, behind), (0, 0), (0, 0)]
        return scale[..., None, None] * jnp.pad(found, wide)

    def scaled_noise(self, coordinates: jax.Array) -> Deviations:
        """Noise of each particle, (…, particle), that of the process in scaled units."""
        noise = self.noise.deviations(coordinates)
        count = len(self.system.state)
        still = jnp.zeros_like(noise.varying)
        noise = noise._replace(
            process=jnp.concatenate([noise.process, still], axis=-1) / self.noise_scale,
            varying=noise.varying / self.state_scale[count:],
        )
        return jax.tree.map(jnp.transpose, noise)
