"""What an entry of a metric says, and what a metric may look at."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import xarray as xr

from pdsim.likelihood.noise import channel_spread
from pdsim.metrics.distance import squared_distances
from pdsim.metrics.score import Score, finite_rows, undefined
from pdsim.parameters.space import ParameterSpace
from pdsim.recordings.trajectories import is_position, is_test, known_truth

# Pooled sets hold this many roll-outs at most; distances between all pairs are taken.
POOLED = 1000


def pool(simulated: np.ndarray) -> np.ndarray:
    """One set of roll-outs (n, time · channel) from every start and every draw (Sec. III).

    Where they are too many, each draw keeps some of its starts, in rotation: every draw and every
    start are met equally often.

    Args:
        simulated: (start, draw, time, channel).
    """
    starts, draws = simulated.shape[:2]
    turns = min(starts, max(POOLED // draws, 1))
    draw = np.arange(draws)
    chosen = [
        simulated[(draw + round(turn * starts / turns)) % starts, draw] for turn in range(turns)
    ]
    return np.concatenate(chosen).reshape(turns * draws, -1)


class Population(NamedTuple):
    """A Gaussian that true parameters were drawn from.

    Attributes:
        mean: (M,), physical units.
        covariance: (M, M).
    """

    mean: np.ndarray
    covariance: np.ndarray


@dataclass(frozen=True)
class Evidence:
    """A posterior, its roll-outs, and the recordings they are compared with.

    Attributes:
        data: trajectories file.
        space: of the estimated parameters.
        draws: (draw, M) physical values.
        simulated: (trajectory, draw, time, channel), from matched start states.
        noise: (channel,) standard deviations of the observations.
        fitted: (trajectory, time, channel) roll-outs from fitted start states; None in a
            learning curve.
        reference: (draw, M) physical values of the reference posterior; None if there is none.
        stats, history, convergence: groups of the posterior file; None in a learning curve.
        prediction: prediction file; None where nothing is predicted from a prefix.
    """

    data: xr.Dataset
    space: ParameterSpace
    draws: np.ndarray
    simulated: np.ndarray
    noise: np.ndarray
    fitted: np.ndarray | None = None
    reference: np.ndarray | None = None
    stats: xr.Dataset | None = None
    history: xr.Dataset | None = None
    convergence: xr.Dataset | None = None
    prediction: xr.Dataset | None = None

    def __post_init__(self):
        # Whatever becomes of a roll-out beyond the end of its recording counts for nothing.
        frames = 1 + np.arange(self.simulated.shape[2])
        beyond = frames >= self.data["length"].values[:, None]
        if beyond.any():
            kept = np.where(beyond[:, None, :, None], 0.0, self.simulated)
            object.__setattr__(self, "simulated", kept)
            if self.fitted is not None:
                kept = np.where(beyond[..., None], 0.0, self.fitted)
                object.__setattr__(self, "fitted", kept)

    @cached_property
    def observed(self) -> np.ndarray:
        """(trajectory, time, channel), without the start."""
        return self.data["observed"].values[:, 1:]

    @cached_property
    def test(self) -> np.ndarray:
        """(trajectory,), those held out."""
        return is_test(self.data)

    @cached_property
    def position(self) -> np.ndarray:
        """(channel,), those that are angles or positions."""
        return is_position(self.data)

    @cached_property
    def spread(self) -> np.ndarray:
        """(channel,), in units of which channels of different units are compared."""
        return channel_spread(self.data)

    @cached_property
    def error_scale(self) -> np.ndarray:
        """(position channel,) 1 if all have one unit, else their spread."""
        units = set(self.data["channel_unit"].values[self.position])
        spread = self.spread[self.position]
        return np.ones_like(spread) if len(units) == 1 else spread

    @cached_property
    def compared(self) -> tuple[int, np.ndarray]:
        """Frames that every held-out recording has, and channels of which they saw any."""
        frames = int(self.data["length"].values[self.test].min()) - 1
        return frames, np.isfinite(self.observed[self.test]).any(axis=(0, 1))

    @cached_property
    def recorded(self) -> np.ndarray:
        """Held-out recordings as vectors, (recording, frame · channel); not finite with gaps."""
        frames, seen = self.compared
        real = self.observed[self.test, :frames][..., seen] / self.spread[seen]
        return real.reshape(len(real), -1)

    @cached_property
    def sets(self) -> tuple[np.ndarray, np.ndarray]:
        """Held-out recordings and all roll-outs from their starts as sets of finite vectors."""
        frames, seen = self.compared
        simulated = self.simulated[self.test, :, :frames][..., seen] / self.spread[seen]
        return finite_rows(self.recorded), finite_rows(pool(simulated))

    @cached_property
    def squared_distances(self) -> np.ndarray:
        """Of all vectors of both sets, recordings first."""
        vectors = np.concatenate(self.sets)
        return squared_distances(vectors, vectors)

    @cached_property
    def truth(self) -> np.ndarray | None:
        """True parameters (M,), where all are known and common to the training recordings."""
        return known_truth(self.data, self.space)

    @cached_property
    def population(self) -> Population | None:
        """The distribution the true parameters were drawn from, where there is one."""
        if "population_mean" not in self.data:
            return None
        return Population(
            self.data["population_mean"].values, self.data["population_covariance"].values
        )


@dataclass(frozen=True)
class Metric:
    """An entry.

    Attributes:
        key: in metrics files.
        heading: in tables; {unit} is that of position errors.
        compute: returns None where the metric does not apply.
        best: "low", "high", or "" if neither is better; tables then mark none.
        held_out: whether it needs a test set.
    """

    key: str
    heading: str
    compute: Callable[[Evidence], Score | None]
    best: str = ""
    held_out: bool = False

    def __call__(self, evidence: Evidence) -> Score | None:
        if self.held_out and not evidence.test.any():
            return undefined("no recording is held out")
        return self.compute(evidence)
