"""The standard deviations of observations (Eq. 2), and of the process between windows."""

import warnings
from dataclasses import dataclass, replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from pdsim.likelihood.config import LikelihoodConfig, MarginalConfig
from pdsim.likelihood.momenta import check_momenta, quantities, sizes
from pdsim.likelihood.noise_slopes import Inferred
from pdsim.parameters.space import Parameter, ParameterSpace
from pdsim.recordings.smoothing import white_noise
from pdsim.recordings.trajectories import select
from pdsim.runtime.errors import PdsimError
from pdsim.systems.simulator import Simulator

# Least noise of a channel, over its spread.
_DIGITS = 1e-6
# Process noise of a state whose start is known exactly, over its spread: the start's error says
# nothing of what the model may miss later.
_KNOWN = 1e-3


def channel_spread(trajectories: xr.Dataset) -> np.ndarray:
    """Standard deviation of each channel over time, averaged over the training set, (channel,).

    1 for a channel that was never observed: nothing is compared with it.
    """
    observed = select(trajectories, "train")["observed"].values
    with warnings.catch_warnings():
        # A channel that was not observed has no spread, which is what is asked for below.
        warnings.simplefilter("ignore", RuntimeWarning)
        spread = np.nanmean(np.nanstd(observed, axis=1), axis=0)
    return np.where(np.isfinite(spread), spread, 1.0)


def channel_noise(likelihood: LikelihoodConfig, trajectories: xr.Dataset) -> np.ndarray:
    """Standard deviation of each channel's observations (channel,), in the channel's unit.

    Either stated by channel, or a fraction of the channel's spread in the training set: the
    noise then stands for model and start-state error as well, which grow with the motion.
    """
    if likelihood.noise is not None:
        # Only channels that are not observed have no entry.
        names = trajectories["channel"].values
        return np.array([likelihood.noise.get(str(name), 1.0) for name in names])
    spread = channel_spread(trajectories)
    if (spread == 0).any():
        name = trajectories["channel"].values[spread == 0][0]
        raise PdsimError(
            f"likelihood.noise_relative: channel {name} does not move in the training recordings, "
            "so it has no spread to take a share of; give likelihood.noise by channel"
        )
    return likelihood.share * spread


# Limits of a deviation between recordings, over its median.
_BETWEEN = (0.01, 100.0)


class Deviations(NamedTuple):
    """Noise at some coordinates.

    Attributes:
        sensor: σ, (..., channel), physical units.
        process: q, (..., S), physical units.
        varying: τ, (..., V), of parameters between recordings.
        correlation: ρ, (...).
    """

    sensor: jax.Array
    process: jax.Array
    varying: jax.Array
    correlation: jax.Array


@dataclass(frozen=True)
class NoiseModel:
    """Deviations of sensors and of the process: inferred ones are parameters, others numbers.

    Of each kind all are inferred or none are.

    Attributes:
        channels: columns of the measured channels among the system's.
        sensor: σ of each of these.
        process: q of each state variable, per window.
        correlation: ρ of the process noise of one window and the next.
        of_momenta: whether q is of momenta where the state has rates.
        varying: τ of each parameter that has a value of its own in every recording.
        varied: these parameters.
    """

    channels: tuple[int, ...]
    sensor: tuple[Parameter | float, ...]
    process: tuple[Parameter | float, ...]
    correlation: Parameter | float = 0.0
    of_momenta: bool = False
    varying: tuple[Parameter, ...] = ()
    varied: tuple[Parameter, ...] = ()

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Those inferred."""
        return tuple(x for x in self._entries if isinstance(x, Parameter))

    @property
    def inferred(self) -> Inferred:
        """How many are inferred of the sensors', the process', between recordings, correlations."""
        kinds = (self.sensor, self.process, self.varying, (self.correlation,))
        return Inferred(*(sum(isinstance(x, Parameter) for x in entries) for entries in kinds))

    @property
    def _entries(self) -> tuple[Parameter | float, ...]:
        return (*self.sensor, *self.process, *self.varying, self.correlation)

    def shifted(self, space: ParameterSpace, coordinates: jax.Array, own: jax.Array) -> jax.Array:
        """Coordinates (..., M) of a recording whose varying parameters deviate by (..., V)."""
        for i, parameter in enumerate(self.varied):
            column = space.names.index(parameter.name)
            coordinates = coordinates.at[..., column].add(own[..., i] / parameter.span)
        return coordinates

    def extend(self, space: ParameterSpace) -> ParameterSpace:
        """The space with the noise's parameters behind its own."""
        return replace(space, parameters=(*space.parameters, *self.parameters))

    def deviations(self, coordinates: jax.Array) -> Deviations:
        """Values of all entries of unit coordinates (..., noise)."""
        columns, used = [], 0
        for entry in self._entries:
            if isinstance(entry, Parameter):
                columns.append(entry.to_physical(coordinates[..., used]))
                used += 1
            else:
                columns.append(jnp.full(coordinates.shape[:-1], entry, coordinates.dtype))
        behind = len(self.sensor) + len(self.process)
        varying = jnp.stack(columns[behind:], axis=-1)[..., :-1]
        return Deviations(
            jnp.stack(columns[: len(self.sensor)], axis=-1),
            jnp.stack(columns[len(self.sensor) : behind], axis=-1),
            varying,
            columns[-1],
        )


def noise_model(config: MarginalConfig, simulator: Simulator, train: xr.Dataset) -> NoiseModel:
    """The noise of the measured channels and of the process, with limits taken from recordings.

    Args:
        train: training trajectories.

    Raises:
        PdsimError: nothing was measured, or the system has no momenta.
    """
    system = simulator.system
    of_momenta = config.process is not None and config.process_of == "momenta"
    if of_momenta:
        check_momenta(system)
    observed = train["observed"].values
    measured = np.isfinite(observed).any(axis=(0, 1)) & ~train["channel_derived"].values
    if not measured.any():
        raise PdsimError("marginal shooting: no channel of the training recordings was measured")
    channels = np.flatnonzero(measured)
    spread = np.nanstd(observed[..., channels], axis=(0, 1))
    found = white_noise(observed[..., channels])
    # Recordings without any noise, of a simulator, have that of their digits.
    found = np.maximum(found, _DIGITS * np.where(spread > 0, spread, 1.0))

    variances = np.diagonal(train["start_covariance"].values, axis1=1, axis2=2).mean(axis=0)
    least = np.where(variances > 0, _DIGITS, _KNOWN) * state_scale(train)
    start = np.maximum(np.sqrt(variances), least)
    if of_momenta:
        start = start * sizes(simulator, train["start"].values)

    def entries(kind, quantities, scales, limits, prior):
        if limits is None:
            return tuple(float(scale) * (kind == "sensor") for scale in scales)
        return tuple(
            Parameter(
                name=f"{kind}_{quantity.name}",
                lower=float(limits[0] * scale),
                upper=float(limits[1] * scale),
                unit=quantity.unit,
                scale="log",
                prior=prior,
                median=float(scale),
                label=f"{kind} noise of {quantity.name}",
            )
            for quantity, scale in zip(quantities, scales, strict=True)
        )

    varied = tuple(p for p in simulator.space.parameters if p.name in config.varying)
    varying = tuple(
        Parameter(
            name=f"varying_{own.name}",
            lower=_BETWEEN[0] * config.varying[own.name],
            upper=_BETWEEN[1] * config.varying[own.name],
            unit="-" if own.scale == "log" else own.unit,
            scale="log",
            prior="half_cauchy",
            median=config.varying[own.name],
            label=f"deviation of {own.name} between recordings",
        )
        for own in varied
    )
    shown = [system.channels[i] for i in channels]
    pushed = quantities(system) if of_momenta else system.state
    correlation: Parameter | float = 0.0
    if config.process is not None and config.correlation is not None:
        lower, upper = config.correlation
        correlation = Parameter(
            "process_correlation", lower, upper, "-", label="correlation of process noise"
        )
    return NoiseModel(
        channels=tuple(int(i) for i in channels),
        sensor=entries("sensor", shown, found, config.sensor, "log_uniform"),
        process=entries("process", pushed, start, config.process, config.process_prior),
        correlation=correlation,
        of_momenta=of_momenta,
        varying=varying,
        varied=varied,
    )


def state_scale(trajectories: xr.Dataset) -> np.ndarray:
    """Spread of each state variable over all frames, (state,); 1 for one that does not move."""
    states = trajectories["states"].values
    spread = np.nanstd(states, axis=(0, 1)) if np.isnan(states).any() else states.std(axis=(0, 1))
    return np.where(spread > 0, spread, 1.0)
