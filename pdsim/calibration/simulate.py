"""Data sets from the model that a likelihood stands for: parameters from the prior, then noise.

With marginal shooting the model is the one at the head of ``pdsim.likelihood.marginal``: a first
state about the start, process noise q between windows of h frames, white noise σ on the measured
channels. With single shooting start and noise are known (Sec. III): q = 0, Σ = 0, and σ of each
channel as ``likelihood.noise`` says.

A template, the training trajectories of an experiment, supplies what no prior has: lengths, inputs,
what was observed, starts and their covariances, and the scales of the noise's limits. First guesses
of the windows' states are smoothed from each data set, as those of a recording are.
"""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from pdsim.likelihood.config import LikelihoodConfig
from pdsim.likelihood.marginal import MarginalProblem
from pdsim.likelihood.marginal_data import marginal_problem
from pdsim.likelihood.momenta import kick
from pdsim.likelihood.noise import NoiseModel, channel_noise, noise_model
from pdsim.likelihood.shooting import ShootingProblem, shooting_problem
from pdsim.parameters.space import ParameterSpace
from pdsim.recordings.cut import filled_gaps, position_columns
from pdsim.recordings.smoothing import Smoothing, smoothed_state
from pdsim.recordings.trajectories import inputs_of, window_length, windows
from pdsim.runtime.errors import PdsimError
from pdsim.systems.rollout import rollout
from pdsim.systems.simulator import Simulator
from pdsim.systems.system import System


@dataclass(frozen=True)
class Generator:
    """Draws data sets, and builds the problem of each.

    The problems of all data sets have the same shapes and the same static parts, so one compiled
    program serves them all.

    Attributes:
        simulator: the system and its parameters.
        template: training trajectories alone.
        likelihood: of the experiment.
        shooting: "single" or "marginal".
        smoothing: filter that guesses states; None if they are the channels of their names.
        precision: "float64" or "float32".

    Raises:
        PdsimError: the likelihood is a mixture over several recordings.
    """

    simulator: Simulator
    template: xr.Dataset
    likelihood: LikelihoodConfig
    shooting: str
    smoothing: Smoothing | None
    precision: str

    def __post_init__(self):
        if self.likelihood.combination == "sum" and self.template.sizes["trajectory"] > 1:
            raise PdsimError(
                "calibration: the sum over recordings (likelihood.combination) is no density that "
                "data could be drawn from; choose product, or train on one window"
            )

    @cached_property
    def noise(self) -> NoiseModel:
        """Deviations of sensors and process; those of single shooting are all known."""
        if self.shooting == "marginal":
            return noise_model(self.likelihood.marginal, self.simulator, self.template)
        seen = np.isfinite(self.template["observed"].values[:, 1:]).any(axis=(0, 1))
        columns = np.flatnonzero(seen)
        known = channel_noise(self.likelihood, self.template)[columns]
        process = (0.0,) * len(self.simulator.system.state)
        return NoiseModel(tuple(columns.tolist()), tuple(known.tolist()), process)

    @cached_property
    def space(self) -> ParameterSpace:
        """Everything that is drawn and estimated."""
        return self.noise.extend(self.simulator.space)

    @property
    def _window_count(self) -> int:
        return self.likelihood.window_count if self.shooting == "marginal" else 1

    @cached_property
    def _start_root(self) -> np.ndarray:
        """Square roots R of the start's covariances, R Rᵀ, (trajectory, S, S)."""
        deviation = self.likelihood.marginal.start if self.shooting == "marginal" else 0.0
        values, axes = np.linalg.eigh(self.template["start_covariance"].values)
        return deviation * axes * np.sqrt(np.maximum(values, 0.0))[:, None]

    def truths(self, count: int, seed: int) -> np.ndarray:
        """Draw parameters from the prior within its limits, unit coordinates (count, M)."""
        return self.space.sample_prior(count, seed)

    def data_set(
        self, coordinates: np.ndarray, random: np.random.Generator, *, spread: float = 0.0
    ) -> xr.Dataset:
        """Simulate a data set in the template's layout.

        Args:
            coordinates: (M,) unit coordinates of ``space``.
            spread: deviation of log q between trajectories, of each state variable, as of
                ``pdsim.likelihood.prediction``.

        Raises:
            PdsimError: the motion is not finite.
        """
        own = self.simulator.space.dimension
        deviations = self.noise.deviations(jnp.asarray(coordinates[own:]))
        sigma, q, tau, rho = map(np.asarray, deviations)
        start = self.template["start"].values
        start = start + np.einsum("nij,nj->ni", self._start_root, random.normal(size=start.shape))
        count, shape = self._window_count, self.template["observed"].shape
        pushes = q * random.normal(size=(count, *start.shape))
        if spread:
            pushes *= np.exp(spread * random.normal(size=start.shape))
        for number in range(1, count):
            pushes[number] = rho * pushes[number - 1] + np.sqrt(1 - rho**2) * pushes[number]
        noise = random.normal(size=(*shape[:1], shape[1] - 1, len(sigma)))
        # The last to be drawn: nothing where no parameter varies, and all else stays as it was.
        varied = jnp.asarray(tau * random.normal(size=(len(start), len(tau))))
        shared = jnp.broadcast_to(jnp.asarray(coordinates[:own]), (len(start), own))
        each = self.noise.shifted(self.simulator.space, shared, varied)
        motion = self._motion(each, start, pushes)[:, : shape[1] - 1]
        observed = np.full(shape, np.nan)
        columns = list(self.noise.channels)
        observed[:, 1:, columns] = motion[..., columns] + sigma * noise
        seen = np.isfinite(self.template["observed"].values)
        if not np.isfinite(observed[:, 1:, columns][seen[:, 1:, columns]]).all():
            raise PdsimError("the simulated motion is not finite")
        observed[~seen] = np.nan
        dims = self.template["observed"].dims, self.template["states"].dims
        states = self._guessed(observed)
        return self.template.assign(observed=(dims[0], observed), states=(dims[1], states))

    def problem(self, data: xr.Dataset) -> MarginalProblem | ShootingProblem:
        """Build the problem of a data set."""
        options: dict[str, Any] = {
            "window_count": self._window_count,
            "combination": self.likelihood.combination,
            "dtype": np.dtype(self.precision),
        }
        if self.shooting == "marginal":
            config = self.likelihood.marginal
            return marginal_problem(
                self.simulator,
                data,
                self.noise,
                start_deviation=config.start,
                iterations=config.iterations,
                **options,
            )
        sigma = np.ones(data.sizes["channel"])
        sigma[list(self.noise.channels)] = self.noise.deviations(jnp.zeros(0))[0]
        return shooting_problem(self.simulator, data, sigma, **options)

    @cached_property
    def _drive(self) -> tuple:
        """Inputs, frames within, and time of each window, as ``_simulate`` has them."""
        template, count = self.template, self._window_count
        frames = template.sizes["time"]
        length = window_length(frames, count)
        within = np.arange(1, frames) < template["length"].values[:, None]
        inputs = np.moveaxis(windows(inputs_of(template), length, count, 0.0), 2, 0)
        time = float(template.attrs["frame_time"]) * length * np.arange(count)
        return (
            tuple(inputs[..., i].astype(self.precision) for i in range(inputs.shape[-1])),
            np.moveaxis(windows(within, length, count, False), 2, 0).astype(bool),
            time.astype(self.precision),
        )

    def _motion(self, coordinates, start, pushes) -> np.ndarray:
        """Channels without noise of frames 1, 2, …, (trajectory, frame, channel)."""
        arrays = (np.asarray(x, self.precision) for x in (coordinates, start, pushes))
        frame_time = float(self.template.attrs["frame_time"])
        kinds = {"frame_time": frame_time, "of_momenta": self.noise.of_momenta}
        shown = _simulate(self.simulator, *arrays, *self._drive, **kinds)
        shown = np.moveaxis(np.asarray(shown, float), 0, 1)
        return shown.reshape(len(start), -1, shown.shape[-1])

    def _guessed(self, observed: np.ndarray) -> np.ndarray:
        """States as a recording's are estimated; frame 0, which is not observed, has the start."""
        states = np.full(self.template["states"].shape, np.nan)
        states[:, 0] = self.template["start"].values
        columns = _state_columns(self.simulator.system, measured=self.smoothing is None)
        for row, seen, last in zip(states, observed, self.template["length"].values, strict=True):
            filled = filled_gaps(seen[1:last, columns])
            if self.smoothing is not None:
                filled = smoothed_state(filled, float(self.template.attrs["frame_time"]),
                                        self.smoothing)  # fmt: skip
            row[1:last] = filled
        return states


def _state_columns(system: System, *, measured: bool) -> list[int]:
    """Columns of the channels that states are taken from: those of their names, or positions."""
    if not measured:
        return [column for column, _ in position_columns(system)]
    names = [channel.name for channel in system.channels]
    return [names.index(quantity.name) for quantity in system.state]


@partial(jax.jit, static_argnames=("simulator", "frame_time", "of_momenta"))
def _simulate(
    simulator: Simulator,
    coordinates,
    start,
    pushes,
    inputs,
    active,
    first_time,
    *,
    frame_time: float,
    of_momenta: bool,
) -> jax.Array:
    """Roll out window after window, and push the state at each end.

    Args:
        coordinates: (trajectory, M).
        start: (trajectory, S).
        pushes: process noise behind each window, (window, trajectory, S).
        inputs: of each input (window, h, trajectory).
        active: whether a frame is within its recording, (window, h, trajectory).
        first_time: (window,) [s].
        of_momenta: whether pushes are of momenta where the state has rates.

    Returns:
        Channels, (window, trajectory, h, channel).
    """
    system, space, substeps = simulator

    def window(start, drive):
        inputs, active, first_time, push = drive

        def one(coordinates, start, inputs, active, push):
            prepared = system.prepare(space.system_parameters(coordinates))
            channels, end = rollout(
                system,
                prepared,
                system.unpack(start),
                inputs,
                frames=active.shape[0],
                frame_time=frame_time,
                substeps=substeps,
                first_time=first_time,
                active=active,
            )
            end = system.pack(end)
            moved = kick(system, end, prepared) @ push if of_momenta else push
            return end + moved, jnp.stack(channels, axis=-1)

        return jax.vmap(one, in_axes=(0, 0, 1, 1, 0))(coordinates, start, inputs, active, push)

    return jax.lax.scan(window, start, (inputs, active, first_time, pushes))[1]
